"""The arguments and targets of each function, one column per property: from its contract and its variants, and tried by calls."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import kernpack
import ml_dtypes
import numpy as np
from inference_samples import REASONS
from op_sample import Sample

_FLOATS: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
_NO_TANGENT = "forward mode isn't written yet"
_REFUSAL = (TypeError, ValueError, BufferError)


@functools.cache
def _module() -> kernpack.Module:
    return kernpack.load("kernpack_kernels")


def _info(op: Callable[..., Any]) -> kernpack.FunctionInfo:
    return op.__self__  # type: ignore[attr-defined,no-any-return]


def _tensors(op: Callable[..., Any], sample: Sample) -> list[tuple[int, dict[str, Any]]]:
    """The parameters that the sample has an argument for."""
    parameters = (_info(op).typed or {})["params"]
    return [(index, p) for index, p in enumerate(parameters[: len(sample.args)]) if p["kind"] == "tensor"]


def _runs(op: Callable[..., Any], sample: Sample, args: list[Any]) -> bool:
    try:
        op(*args, **sample.kwargs)
    except _REFUSAL:
        return False
    return True


def _as(value: Any, dtype: Any) -> Any:
    return [item.astype(dtype) for item in value] if isinstance(value, list) else value.astype(dtype)


def dtypes(op: Callable[..., Any], sample: Sample) -> str:
    """Of each variable of the contract; where it stands for floats, a call with each of the four says which are taken."""
    typed = _info(op).typed or {}
    for variable, listed in typed["dtype_vars"].items():
        mine = [i for i, p in _tensors(op, sample) if p["dtype"].get("var") == variable]
        if not mine or not set(listed) <= set(_FLOATS):
            continue
        for name, dtype in _FLOATS.items():
            args = sample.arrays()
            for i in mine:
                args[i] = _as(args[i], dtype)
            assert _runs(op, sample, args) == (name in listed), (variable, name)
    said = [f"{variable}: {' '.join(listed)}" for variable, listed in typed["dtype_vars"].items()]
    fixed = dict.fromkeys(p["dtype"]["fixed"] for p in typed["params"] if "fixed" in p.get("dtype", {}))
    return "; ".join(said) or " ".join(fixed)


def gradient(op: Callable[..., Any], sample: Sample) -> str:
    name, pairs = _info(op).name, dict(_module()._gradients)
    if name in pairs:
        return "first and second order" if pairs[name] in pairs else "first order"
    return f"no: {REASONS[name]}"


def jvp(op: Callable[..., Any], sample: Sample) -> str:
    name = _info(op).name
    if name in dict(_module()._jvps):
        return "yes"
    return "no: as its gradient" if name in REASONS else f"no: {_NO_TANGENT}"


def _spread(array: np.ndarray) -> np.ndarray | None:
    """The same numbers, with a gap behind each row, or behind each number where there is one row; None where no gap is possible."""
    axes = [axis for axis in (*range(array.ndim - 1), array.ndim - 1) if axis >= 0 and array.shape[axis] > 1]
    if not axes:
        return None
    every_other = [slice(None)] * array.ndim
    every_other[axes[0]] = slice(None, None, 2)
    return np.repeat(array, 2, axis=axes[0])[tuple(every_other)]


def strided(op: Callable[..., Any], sample: Sample) -> str:
    """A call with each tensor spread out works, or is refused."""
    accepted = []
    for index, parameter in _tensors(op, sample):
        args = sample.arrays()
        spread = None if isinstance(args[index], list) else _spread(args[index])
        if spread is None:
            continue
        args[index] = spread
        if parameter["strided"]:
            sample.same(sample.call(op, args), sample.expected(op))
            accepted.append(f"`{parameter['name']}`")
        else:
            assert not _runs(op, sample, args), parameter["name"]
    if accepted:
        return ", ".join(accepted)
    return "no: flat tensors in lists" if isinstance(sample.args[0], list) else "no: reads whole rows"


# Functions that are compiled once, and why.
_ONCE = {
    "apply_repetition_penalty": "changes a few logits per row",
    "cumsum": "adds one element after another",
    "embedding": "copies rows",
    "embedding_backward": "adds rows in the order of the indices",
    "packed_embedding": "reads a few rows",
    "pack": "runs once per weight",
    "mean_pool": "adds rows",
    "scatter_sum_backward": "copies rows",
    "segment_sum_backward": "copies rows",
    "sort_into_groups": "counts",
}


def _processors(targets: list[str | None]) -> list[str]:
    """The processors in targets for CPUs. Others, such as those of kernpack-kernels-cuda, may be installed or not."""
    on_cpu = [target for target in targets if target and target.partition(" ")[0] in ("llvm", "c")]
    return [target.partition("-mcpu=")[2].replace(" -mattr=", "").replace(",", "") for target in on_cpu]


def levels(op: Callable[..., Any], sample: Sample) -> str:
    info = _info(op)
    more = _processors(info.targets)
    said = sorted(["x86-64-v2", *more])
    if not more:
        reason = _ONCE[info.name if info.name in _ONCE else info.name.partition("_")[0]]
        return f"x86-64-v2 alone: {reason}"
    return ", ".join(level.removeprefix("x86-64-") for level in said)


COLUMNS = {"dtypes": dtypes, "gradient": gradient, "jvp": jvp, "strided": strided, "instruction sets": levels}
