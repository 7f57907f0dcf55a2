"""The rare questions that the call core asks of a loaded torch, by its public functions."""

from __future__ import annotations

import sys
from typing import Any


def torch_has_tangent(tensor: Any) -> bool:
    """True if forward-mode AD tracks this tensor. Its level is always 0. Python's own count of levels isn't used, because compiled
    programs enter levels in C++."""
    from kernpack._private.torch.names import is_below_autograd

    torch = sys.modules["torch"]
    if is_below_autograd():
        return False  # nothing follows tensors there, though torch may still tell of their tangents
    if tensor.layout is not torch.strided:
        return False  # torch can't be asked, and no kernel takes it
    unpack = torch.autograd.forward_ad.unpack_dual
    proxies = sys.modules.get("torch.fx.experimental.proxy_tensor")
    if proxies is None or proxies.get_proxy_mode() is None:
        return unpack(tensor, level=0).tangent is not None
    with proxies.disable_proxy_modes_tracing():  # the question isn't part of the program that is recorded
        return unpack(tensor, level=0).tangent is not None


def torch_is_traced() -> bool:
    """True if torch.jit.trace records a program in this thread."""
    traced: bool = sys.modules["torch"].jit.is_tracing()
    return traced


def torch_is_symbol(kind: type) -> bool:
    """True if objects of this class stand for tensors or numbers of a program that torch traces."""
    torch = sys.modules["torch"]
    if issubclass(kind, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return True
    # torch's own protocol, as its operators read it: torch.fx.Proxy has it. What has memory is read as memory.
    takes_over = hasattr(kind, "__torch_function__") and not issubclass(kind, torch.Tensor)
    return takes_over and not hasattr(kind, "__dlpack__")
