"""Functions that register operators and gradients, and that torch exports under private names only. torch's own Python kernels
(torch/_library/autograd.py) use these names too. They aren't tricks for speed: without them there are no gradients, so no switch turns them off,
and a torch that lacks one is refused. Only the two that open and close a level of forward mode may be missing.
"""

from __future__ import annotations

import functools
from typing import Any

import torch
import torch._functorch.utils as _functorch
from torch.autograd import forward_ad


def find(root: Any, path: str) -> Any:
    """Returns the object at a dotted path below a module of torch."""
    found = root
    for name in path.split("."):
        found = getattr(found, name, None)
        if found is None:
            raise ImportError(
                f"kernpack.torch: expected {root.__name__}.{path}, which operators are registered with, but torch {torch.__version__} "
                "has none; install a newer kernpack, or an older torch"
            )
    return found


_in_torch = functools.partial(find, torch)

# Kernels at the Autograd key go on below it: a guard for this thread, and the keys that are left.
BelowAutograd = _in_torch("_C._AutoDispatchBelowAutograd")
after_autograd = _in_torch("_C._after_autograd_keyset")
# The same at the key that counts writes.
BelowCounting = _in_torch("_C._AutoDispatchBelowADInplaceOrView")
after_counting = _in_torch("_C._after_ADInplaceOrView_keyset")
# True if the thread is inside torch.func's transforms.
are_transforms_active = _in_torch("_C._are_functorch_transforms_active")
# Nodes at one level of torch.func's transforms: for kernels, which the dispatcher calls once for each.
single_level = find(_functorch, "enable_single_level_autograd_function")
# The class of these nodes. The `apply` of torch.autograd.Function itself turns to torch.func's transforms, which the dispatcher has done.
_SingleLevel = find(torch.autograd.function, "_SingleLevelFunction")
# Open and close a level of forward mode, in C++. torch has one level, and refuses another: that tells calls whether one is open. None where
# this torch lacks them: then each tensor is asked for a tangent.
open_level: Any = getattr(torch._C, "_enter_dual_level", None)
close_level: Any = getattr(torch._C, "_exit_dual_level", None)
# Forward mode on and off.
set_forward_mode = find(forward_ad, "_set_fwd_grad_enabled")


class Node(_SingleLevel):  # type: ignore[misc, valid-type]
    """A node at one level of torch.func, of which compiled autograd asks what it asks of every torch.autograd.Function."""

    _compiled_autograd_key = staticmethod(find(torch.autograd.Function, "_compiled_autograd_key"))


_is_excluded = _in_torch("_C._dispatch_tls_is_dispatch_key_excluded")
_AUTOGRAD = _in_torch("_C.DispatchKey.AutogradOther")


def is_below_autograd() -> bool:
    """True if this thread works below autograd, where tensors aren't tracked."""
    below: bool = _is_excluded(_AUTOGRAD)
    return below


def has_mode() -> bool:
    """True if a dispatch mode is active in this thread, such as FakeTensorMode. Looked up here: only calls of functions without a signature
    ask, and only without hooks."""
    count: int = _in_torch("_C._len_torch_dispatch_stack")()
    return count > 0


def is_zero(tensor: torch.Tensor) -> bool:
    """True for a tangent or gradient of zeros without memory."""
    zero: bool = tensor._is_zerotensor()
    return zero


def schema(op: Any) -> Any:
    """An operator's schema, as torch parsed it."""
    return op._schema


def is_functional(tensor: torch.Tensor) -> bool:
    """True if the tensor stands for a tensor of a program that is being made functional."""
    return type(tensor).__module__ == "torch._subclasses.functional_tensor"


def base(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor that this one is a view of, or itself."""
    found: torch.Tensor | None = tensor._base
    return tensor if found is None else found


def sharding_strategies() -> dict[Any, Any]:
    """DTensor's rules by operator, with what torch.distributed.tensor.experimental.register_sharding has made."""
    from torch.distributed.tensor import DTensor

    found: dict[Any, Any] = find(DTensor, "_op_dispatcher.sharding_propagator.op_strategy_funcs")
    return found
