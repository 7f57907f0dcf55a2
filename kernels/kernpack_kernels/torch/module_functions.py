"""Functions that layers of Hugging Face's models call by name: rotary embeddings and causal convolutions.

A layer's code gets a copy of its module for globals, in which ours stand under the names of theirs: other models aren't changed."""

from __future__ import annotations

import functools
import inspect
import itertools
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from kernpack_kernels.torch import functional
from kernpack_kernels.torch.rules import DTYPES, fits, runs_on

Function = Callable[..., Any]
Named = tuple[tuple[str, Any], ...]  # names in a module, and what they are to be
_numbers = itertools.count()


def plain(module: torch.nn.Module) -> Any:
    """The function that its forward is, without decorators; None where it isn't one."""
    forward = inspect.unwrap(type(module).forward)
    return forward if isinstance(forward, types.FunctionType) else None


def names(module: torch.nn.Module, wanted: Iterable[str]) -> list[str]:
    """Which of these its forward finds in its module. A name in the code may be an attribute's."""
    forward = plain(module)
    return [] if forward is None else sorted({*wanted} & {*forward.__code__.co_names} & forward.__globals__.keys())


def refuses(module: torch.nn.Module) -> str:
    """ "" where `rebuilt` can be set as its forward."""
    wrapped = "forward" in module.__dict__ or not _is_rebuilt(type(module).forward)
    return "its forward is wrapped by other code" if wrapped else ""


def patch(
    module: torch.nn.Module, set_forward: Callable[..., None], more: Named = ()
) -> Iterator[tuple[str, str, str]]:
    """Rows of the table: what, by which kernel, a note. more: names and what they are to be, beside the functions here."""
    ours = list(more)
    for name in names(module, _KINDS):
        theirs = plain(module).__globals__[name]
        why = refuses(module) or _differs(name, theirs)
        yield f"{name} in {type(module).__name__}", "" if why else _KINDS[name].by, why
        if not why:
            ours.append((name, _ours(name, theirs)))
    if ours:
        set_forward(module, rebuilt(type(module).forward, tuple(ours)), None)


def _is_rebuilt(forward: Any) -> bool:
    """True if _with_ours can make the function anew: its decorators must keep the function that they wrap, as transformers' own do."""
    while isinstance(forward, types.FunctionType):
        inner = getattr(forward, "__wrapped__", None)
        if inner is None:
            return True
        if not any(_holds(cell, inner) for cell in forward.__closure__ or ()):
            return False
        forward = inner
    return False


def _holds(cell: types.CellType, value: object) -> bool:
    try:
        return cell.cell_contents is value
    except ValueError:  # empty so far
        return False


@functools.cache
def rebuilt(forward: types.FunctionType, ours: Named) -> types.FunctionType:
    """The same code and decorators, which find our functions under the names of theirs."""
    inner = getattr(forward, "__wrapped__", None)
    scope, cells = forward.__globals__, forward.__closure__
    if inner is None:
        scope = _module_with_ours(forward.__module__, ours).__dict__
    else:
        new = types.CellType(rebuilt(inner, ours))
        cells = tuple(new if _holds(cell, inner) else cell for cell in cells or ())
    made = types.FunctionType(forward.__code__, scope, forward.__name__, forward.__defaults__, cells)
    made.__kwdefaults__ = forward.__kwdefaults__
    made.__qualname__ = forward.__qualname__
    return made


@functools.cache
def _module_with_ours(name: str, ours: Named) -> types.ModuleType:
    """A copy of the module. torch.compile looks globals up by the module's name."""
    own = f"{__name__}.{name.replace('.', '_')}_{next(_numbers)}"
    module = types.ModuleType(own)
    module.__dict__.update({**sys.modules[name].__dict__, **dict(ours), "__name__": own})
    sys.modules[own] = module
    return module


@functools.cache
def _ours(name: str, theirs: Function) -> Function:
    return _KINDS[name].ours(theirs)


@functools.cache
def _differs(name: str, theirs: Function) -> str:
    """ "" where theirs computes what ours does; else what differs."""
    kind = _KINDS[name]
    try:
        return "" if kind.agrees(theirs, _ours(name, theirs)) else kind.otherwise
    except Exception as error:  # a function of another shape
        return f"can't be tried: {type(error).__name__}: {error}"


# --- rotary embeddings


def _rotation(theirs: Function) -> Function:
    def rotate(q, k, cos, sin, *args, unsqueeze_dim=1, **kwargs):
        takes = (
            not args
            and not kwargs
            and unsqueeze_dim in (1, 2)
            and q.ndim == k.ndim == 4
            and cos.ndim == 3
            and cos.shape[-1] == q.shape[-1] == k.shape[-1]
            and runs_on("rope", q.device)
            and q.dtype in DTYPES
            and q.dtype == k.dtype
            and not (cos.requires_grad or sin.requires_grad)
        )
        if not takes:
            return theirs(q, k, cos, sin, *args, unsqueeze_dim=unsqueeze_dim, **kwargs)
        return functional.rotate(q, k, cos, sin, unsqueeze_dim)

    return rotate


def _same_rotation(theirs: Function, ours: Function) -> bool:
    q = torch.sin(torch.arange(2 * 3 * 8, dtype=torch.float32)).reshape(1, 2, 3, 8)
    angles = torch.arange(3 * 4, dtype=torch.float32).reshape(1, 3, 4) * 0.1
    cos, sin = (torch.cat([table, table], -1) for table in (angles.cos(), angles.sin()))
    return torch.allclose(theirs(q, q, cos, sin)[0], ours(q, q, cos, sin)[0], atol=1e-5)


# --- causal convolutions, of the layers of Mamba and similar models

_ACTIVATIONS = (None, "silu", "swish")


def _convolution(theirs: Function) -> Function:
    def convolve(x, weight, bias=None, activation=None, **kwargs):
        if not _takes(x, weight, bias, activation, kwargs):
            return theirs(x, weight, bias, activation, **kwargs)
        return functional.causal_conv1d(x, weight, bias, activation=activation)

    return convolve


def _step(theirs: Function) -> Function:
    def step(x, state, weight, bias=None, activation=None, **kwargs):
        taps = weight.shape[-1]
        if not _takes(x, weight, bias, activation, kwargs) or state.dtype != x.dtype or state.shape[-1] < taps - 1:
            return theirs(x, state, weight, bias, activation, **kwargs)
        rows = torch.cat([state, x], -1)
        before = rows[..., state.shape[-1] - (taps - 1) : state.shape[-1]]
        out = functional.causal_conv1d(x, weight, bias, before, activation)
        state.copy_(rows[..., -state.shape[-1] :])
        return out

    return step


def _takes(x: torch.Tensor, weight: torch.Tensor, bias: Any, activation: Any, more: dict[str, Any]) -> bool:
    return (
        x.ndim == 3
        and weight.ndim == 2
        and fits("causal_conv1d", x)
        and x.dtype == weight.dtype
        and (bias is None or bias.dtype == x.dtype)
        and activation in _ACTIVATIONS
        and all(value is None for value in more.values())
    )


def _convolved() -> tuple[torch.Tensor, ...]:
    """Rows, filters and a bias to try."""
    x = torch.sin(torch.arange(2 * 3 * 9, dtype=torch.float32)).reshape(2, 3, 9)
    weight = torch.cos(torch.arange(12, dtype=torch.float32)).reshape(3, 4)
    return x, weight, torch.arange(3, dtype=torch.float32)


def _same_convolution(theirs: Function, ours: Function) -> bool:
    tried = [(*_convolved(), activation) for activation in (None, "silu")]
    with torch.no_grad():
        return all(torch.allclose(theirs(*given), ours(*given), atol=1e-5) for given in tried)


def _same_step(theirs: Function, ours: Function) -> bool:
    x, weight, bias = _convolved()
    with torch.no_grad():
        for kept in (3, 4):
            states = [x[..., :kept].clone() for _ in range(2)]
            one, other = (
                f(x[..., 4:5], state, weight, bias, "silu") for f, state in zip((theirs, ours), states, strict=True)
            )
            if not torch.allclose(one, other, atol=1e-5) or not torch.equal(*states):
                return False
    return True


@dataclass(frozen=True)
class _Kind:
    by: str  # the kernel
    ours: Callable[[Function], Function]  # from theirs, which computes what ours doesn't take
    agrees: Callable[[Function, Function], bool]
    otherwise: str  # what is said where they don't agree


_KINDS = {
    "apply_rotary_pos_emb": _Kind("rope", _rotation, _same_rotation, "pairs the elements of a head differently"),
    "causal_conv1d_fn": _Kind("causal_conv1d", _convolution, _same_convolution, "computes something else"),
    "causal_conv1d_update": _Kind("causal_conv1d", _step, _same_step, "computes something else"),
}
