"""Linear layers of a patched model: computed as they are, or for inference with a rounded copy of the weight."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

import torch

from kernpack_kernels.torch import functional
from kernpack_kernels.torch.rules import Replacement, runs_on

GROUP = 32  # columns that share a scale
_DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def rule(module: torch.nn.Module, kind: str) -> Replacement | None:
    """None: it isn't a linear layer."""
    if not isinstance(module, torch.nn.Linear):
        return None
    if type(module) is not torch.nn.Linear:
        return Replacement(None, "", "is a class of its own, derived from torch.nn.Linear")
    weight = module.weight
    if not runs_on("linear", weight.device) or weight.dtype not in _DTYPES:
        return Replacement(
            None, "", f"is on {weight.device}, of {weight.dtype}: linear takes f32, f16 and bf16 on the CPU"
        )
    if module.bias is not None and module.bias.dtype != weight.dtype:
        return Replacement(None, "", f"its bias is of {module.bias.dtype}, its weight of {weight.dtype}")
    if kind == "dense":
        return Replacement(_dense, "linear")
    if module.in_features % GROUP != 0:
        return Replacement(None, "", f"has {module.in_features} columns, which isn't a multiple of {GROUP}")
    if weight.is_inference():
        return Replacement(None, "", "its weight was made in inference mode, where changes of it can't be seen")
    if not weight.isfinite().all():
        return Replacement(None, "", "its weight has elements that aren't finite")
    return Replacement(_rounded, f"packed_linear, {kind}", "in calls without gradients", Copy(kind))


def _takes(self: torch.nn.Linear, x: torch.Tensor) -> bool:
    """True if a kernel gives torch's result. False if torch would cast, if the module was moved since, or in forward mode, which the
    kernels don't have."""
    return (
        type(self.weight) in (torch.nn.Parameter, torch.Tensor)  # not DTensor and its kind
        and x.device.type == self.weight.device.type == "cpu"
        and x.dtype == self.weight.dtype
        and x.dtype in _DTYPES
        and not torch.is_autocast_enabled("cpu")
        and torch.autograd.forward_ad._current_level < 0
    )


def _dense(self, input):
    if not _takes(self, input):
        return type(self).forward(self, input)
    return functional.linear(input, self.weight, self.bias)


def _rounded(self, input):
    given = (input, self.weight, self.bias)
    needs_gradients = torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in given)
    if needs_gradients or not _takes(self, input) or torch.compiler.is_exporting():
        return type(self).forward(self, input)
    copy = self._kernpack_patch
    # The operator costs some microseconds. A weight that functional_call gives may be one of torch.func's, which have no memory.
    if torch.compiler.is_compiling() or type(self.weight) is not torch.nn.Parameter:
        return _op(*given, copy.number)
    return functional.packed_linear(input, copy.of(self.weight), self.bias)


class Copy:
    """A rounded copy of a layer's weight, made when it is first used and again when the weight has changed."""

    _numbers = itertools.count()
    _all: ClassVar[weakref.WeakValueDictionary[int, Copy]] = weakref.WeakValueDictionary()

    def __init__(self, kind: str) -> None:
        self.kind, self.number = kind, next(self._numbers)  # a graph of torch.compile holds the number
        self._made: tuple[torch.Tensor, int, torch.Tensor] | None = None  # of what weight, of which age, the copy
        self._all[self.number] = self

    def __deepcopy__(self, memo: dict[int, Any]) -> Copy:
        return Copy(self.kind)

    @classmethod
    def numbered(cls, number: int) -> Copy:
        return cls._all[number]

    def of(self, weight: torch.Tensor) -> torch.Tensor:
        made = self._made
        # The weight's memory is kept, so that no other weight has its address.
        if made is None or made[0].data_ptr() != weight.data_ptr() or made[1] != weight._version:
            self._made = made = weight.detach(), weight._version, KINDS[self.kind](weight)
        return made[2]


def _groups(weight: torch.Tensor) -> torch.Tensor:
    return weight.detach().float().unflatten(1, (-1, GROUP))


def _int8(weight: torch.Tensor) -> torch.Tensor:
    groups = _groups(weight)
    scales = groups.abs().amax(-1) / 127
    values = (groups / scales.clamp_min(1e-30)[..., None]).round()
    return functional.K.pack_int8(values.to(torch.int8).flatten(1), scales)


def _int4(weight: torch.Tensor) -> torch.Tensor:
    """16 steps from the smallest to the largest of a group, as ggml's Q4_1."""
    groups = _groups(weight)
    low, high = groups.aminmax(dim=-1)
    largest = torch.maximum(-low, high).clamp_min(1e-30)
    step = (high - low) / 15
    scales = torch.where(step > 1e-6 * largest, step, largest)  # of a group whose elements are alike, any would do
    values = ((groups - low[..., None]) / scales[..., None]).round()
    return functional.K.pack_int4(values.to(torch.uint8).flatten(1), scales, -low / scales)


KINDS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {"int8": _int8, "int4": _int4}


# Opaque to torch.compile, so that a compiled program, too, asks whether the weight has changed.
@torch.library.custom_op("kernpack_kernels::rounded_linear", mutates_args=())
def _op(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, copy: int) -> torch.Tensor:
    if weight.is_inference():  # given by functional_call: nothing to know a copy's age by
        return torch.nn.functional.linear(x, weight, bias)
    return functional.packed_linear(x, Copy.numbered(copy).of(weight), bias)


@_op.register_fake
def _(x, weight, bias, copy):
    return x.new_empty(*x.shape[:-1], weight.shape[0])


@_op.register_vmap
def _(info, dims, x, weight, bias, copy):
    if dims[1] is None and dims[2] is None:
        return _op(x.movedim(dims[0], 0), weight, bias, copy), 0

    def arguments(i: int) -> Any:
        for value, dim in zip((x, weight, bias), dims, strict=False):
            yield value if value is None or dim is None else value.select(dim, i)

    return torch.stack([torch.nn.functional.linear(*arguments(i)) for i in range(info.batch_size)]), 0
