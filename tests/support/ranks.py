"""Code that the processes of a torch.distributed test share."""

from __future__ import annotations

import os
from collections.abc import Callable

import torch.distributed as dist


def run_cases(*cases: Callable[[], None]) -> None:
    """Run each case and print its name, then end the process.

    It ends without Python's finalization. Threads of PyTorch's gloo may still drop their last tensors then, which takes
    the GIL. CPython ends a thread that asks for the GIL during finalization, and C++ turns that into `terminate called
    without an active exception` (https://github.com/pytorch/pytorch/pull/179291). An exception in a case ends the process
    with its traceback, as usual.
    """
    for case in cases:
        case()
        print(case.__name__, flush=True)
    dist.destroy_process_group()
    os._exit(0)
