"""Copies of modules to try things on: they share the parameters, have buffers of their own, and no hooks."""

from __future__ import annotations

import contextlib
import copy
import random
import sys
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import torch
from torch.nn.modules import module as torch_module

from kernpack_kernels.torch.rules import OWN

_HOOKS = (
    "_forward_hooks",
    "_forward_pre_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks_with_kwargs",
    "_backward_hooks",
    "_backward_pre_hooks",
)


def twin(module: torch.nn.Module) -> Any:
    """A copy whose runs don't affect `module`: no hook of the user runs, and no buffer, mode or config changes."""
    memo: dict[int, Any] = {}
    for each in module.modules():
        memo.update((id(p), p) for p in each._parameters.values() if p is not None)
        memo.update((id(b), b.detach().clone()) for b in each._buffers.values() if b is not None)
        memo.update((id(each.__dict__[name]), OrderedDict()) for name in _HOOKS if name in each.__dict__)
    copied = copy.deepcopy(module, memo)
    for each in copied.modules():
        if "forward" in each.__dict__ and OWN not in each.__dict__:
            del each.__dict__["forward"]  # other code's, which may be bound to the module that was copied
        if torch_module._has_any_global_hook():
            each._compiled_call_impl = each.forward  # what __call__ calls in place of hooks and forward
    return copied


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Without gradients and autocast; random numbers go on afterwards as if nothing had happened."""
    numpy = sys.modules.get("numpy")
    python, array = random.getstate(), numpy.random.get_state() if numpy else None
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng(devices))
        stack.enter_context(torch.no_grad())
        for kind in ("cpu", "cuda"):
            if torch.is_autocast_enabled(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        try:
            yield
        finally:
            random.setstate(python)
            if numpy:
                numpy.random.set_state(array)


def is_hooked(module: Any) -> bool:
    """True if a call could do more than the forward of its class, or than the replacement of that forward."""
    return bool(
        module._forward_hooks
        or module._forward_pre_hooks
        or module._backward_hooks
        or module._backward_pre_hooks
        or torch_module._global_forward_hooks
        or torch_module._global_forward_pre_hooks
        or torch_module._global_backward_hooks
        or torch_module._global_backward_pre_hooks
    )
