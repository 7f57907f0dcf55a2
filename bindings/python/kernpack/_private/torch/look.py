"""Looks for every hook into torch, without a kernel."""

from __future__ import annotations

import torch

import kernpack
from kernpack._private.torch import lowerings, operators


def look() -> None:
    kernpack.from_dlpack(torch.ones(1))  # the call core looks when it meets its first torch tensor
    library = torch.library.Library("kernpack_look", "FRAGMENT")
    library.define("look(int x) -> int")
    operators.dispatch(torch.ops.kernpack_look.look.default)
    lowerings.is_found()
