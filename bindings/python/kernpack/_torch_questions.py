"""The rare questions that the call core asks of a loaded torch, by its public functions."""

from __future__ import annotations

import sys
from typing import Any


def torch_has_tangent(*tensors: Any) -> bool:
    """True if forward-mode AD tracks one of these tensors; None stands for one that isn't given. Its level is always 0. Python's own
    count of levels isn't used, because compiled programs enter levels in C++."""
    from kernpack._private.torch.names import is_below_autograd

    if is_below_autograd():
        return False  # nothing follows tensors there, though torch may still tell of their tangents
    proxies = sys.modules.get("torch.fx.experimental.proxy_tensor")
    if proxies is None or proxies.get_proxy_mode() is None:
        return _any_tangent(tensors)
    with proxies.disable_proxy_modes_tracing():  # the question isn't part of the program that is recorded
        return _any_tangent(tensors)


def _any_tangent(tensors: tuple[Any, ...]) -> bool:
    torch = sys.modules["torch"]
    strided, unpack = torch.strided, torch.autograd.forward_ad.unpack_dual
    for tensor in tensors:
        # Of another layout, torch can't be asked, and no kernel takes it.
        if tensor is None or tensor.layout is not strided or tensor.is_nested:
            continue
        if unpack(tensor, level=0).tangent is not None:
            return True
    return False


def torch_refusal(names: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """The first argument that is a tensor of a kind which no kernel takes, what is wrong with it, and what to pass; None: all are others.

    names: of the function's parameters; none where it has no signature.
    """
    called = [names[i] if i < len(names) else f"argument {i}" for i in range(len(args))]
    for name, value in [*zip(called, args, strict=True), *kwargs.items()]:
        if isinstance(value, (list, tuple)):
            rows = [(f"{name}[{i}]", item) for i, item in enumerate(value)]
        else:
            rows = [(name, value)]
        for place, item in rows:
            if got := _strange_kind(item):
                return f"{place}: expected an ordinary dense tensor, got {got}"
    return None


def _strange_kind(value: Any) -> str:
    torch = sys.modules["torch"]
    if not isinstance(value, torch.Tensor):
        return ""
    if value.is_nested:
        return f"a nested one ({value.layout}): pass torch.nested.to_padded_tensor(x, 0.0)"
    if value.is_quantized:
        return f"a quantized one ({value.dtype}): pass x.dequantize(), or its integers as x.int_repr()"
    if value.layout is not torch.strided:
        kind = "a sparse one" if "sparse" in str(value.layout) else "one of another layout"
        return f"{kind} ({value.layout}): pass x.to_dense()"
    return ""


def torch_is_traced() -> bool:
    """True if torch.jit.trace records a program in this thread."""
    traced: bool = sys.modules["torch"].jit.is_tracing()
    return traced


def torch_has_mode() -> bool:
    """True if a dispatch mode of torch is active in this thread, such as FakeTensorMode: it would not see the call."""
    from kernpack._private.torch.names import has_mode

    return has_mode()


def torch_is_symbol(kind: type) -> bool:
    """True if objects of this class stand for tensors or numbers of a program that torch traces."""
    torch = sys.modules["torch"]
    if issubclass(kind, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return True
    # torch's own protocol, as its operators read it: torch.fx.Proxy has it. What has memory is read as memory.
    takes_over = hasattr(kind, "__torch_function__") and not issubclass(kind, torch.Tensor)
    return takes_over and not hasattr(kind, "__dlpack__")
