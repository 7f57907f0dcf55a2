"""Kernpack functions in PyTorch programs: ``k.rms_norm(x, w)`` on torch tensors, eagerly and under autograd,
``torch.compile``, ``torch.func``, ``torch.export`` and DTensor.

You don't need to import this package: it is imported once both torch and a kernel module are loaded. ``ops(k)`` returns the
registered operators explicitly.
"""

from __future__ import annotations

from typing import Any

import torch
from kernpack import _core

if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 10):
    raise ImportError(f"kernpack.torch: expected torch >= 2.10, got {torch.__version__}; run `pip install -U torch`")

from . import _deferred, _fast_path
from ._registry import Operators, of, operators

__all__ = ["Operators", "ops"]


def ops(module: Any) -> Operators:
    """The functions of a loaded module as torch operators: `ops(k).rms_norm(x, w)` always goes through torch's dispatcher.

    `ops(k).namespace` is the operators' namespace: `torch.ops.<namespace>.rms_norm`, with the overloads `default` and `out`.
    """
    return operators(module)


def _hook(callable_: Any, args: tuple[Any, ...], kwargs: dict[str, Any], why: str) -> Any:
    """The call core calls this function when it meets a tensor that it must not read directly. The next such call of the function goes
    directly to its `call`."""
    del why
    return of(callable_).call(*args, **kwargs)


_core.set_hook("torch", _hook)
_fast_path.look()
_deferred.watch()
