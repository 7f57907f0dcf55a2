"""What each op of the kernel wheel does for which dtype, and how far its results are from exact ones: found by calling it.

`op_facts.py` prints all of it. The exact results are those of tests/python/kernels/reference.py in NumPy's long double, on normal
random numbers; the bounds are what tests/python/kernels holds every dtype to."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
ROWS, COLUMNS = 64, 1000


def _exact_module() -> ModuleType:
    """tests/python/kernels/reference.py; this folder has another file of that name."""
    spec = importlib.util.spec_from_file_location("exact", ROOT / "tests/python/kernels/reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


exact = _exact_module()


@dataclass(frozen=True)
class Call:
    """A call of an op or of its gradient: arguments, of which floats become the dtype, and the exact results."""

    arguments: list[np.ndarray]
    keywords: dict[str, Any]
    results: Callable[..., Any]
    tolerance: dict[str, float] = field(default_factory=lambda: exact.TOLERANCE)  # of the dtypes that it takes


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def _indices() -> np.ndarray:
    return np.random.default_rng(0).integers(0, ROWS, 3 * ROWS)


def _embedding_backward(d_out: np.ndarray, table: np.ndarray, indices: np.ndarray) -> np.ndarray:
    gradient = np.zeros(table.shape, d_out.dtype)
    np.add.at(gradient, indices, d_out)
    return gradient


X, D_OUT, WEIGHT = _random(ROWS, COLUMNS), _random(ROWS, COLUMNS) + 1, _random(COLUMNS)
GATE, UP = 5 * _random(ROWS, 300), _random(ROWS, 301)[:, :300]
HEADS, TURNS = [_random(2, 40, heads, 32) for heads in (4, 2, 2)], _random(1, 40, 16).astype(np.float32)
ANGLES = [np.cos(TURNS), np.sin(TURNS)]
TOKENS, MASK = _random(ROWS, 16, 100), np.random.default_rng(1).random((ROWS, 16)) < 0.7


def _add_rms_norm(x: np.ndarray, residual: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return exact.rms_norm(x + residual, weight), x + residual


def _add_rms_norm_backward(
    d_out: np.ndarray, d_sum: np.ndarray, sums: np.ndarray, weight: np.ndarray, eps: float = 1e-6
) -> tuple[np.ndarray, ...]:
    d_x, d_weight = exact.rms_norm_backward(d_out, sums, weight, eps)
    return d_x + d_sum, d_x + d_sum, d_weight


def _swiglu_backward(d_out: np.ndarray, gate: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    share = 1 / (1 + np.exp(-gate))
    return d_out * up * (share + gate * share * (1 - share)), d_out * gate * share


CALLS = {
    "add_rms_norm": Call([X, D_OUT, WEIGHT], {}, _add_rms_norm),
    "add_rms_norm_backward": Call([D_OUT, X, 3 * X, WEIGHT], {"eps": 1e-6}, _add_rms_norm_backward),
    "attention": Call(
        HEADS, {"causal": True}, lambda *heads: exact.attention(*heads, causal=True), exact.ATTENTION_TOLERANCE
    ),
    "embedding": Call([X, _indices()], {}, lambda table, indices: table[indices]),
    "embedding_backward": Call([_random(3 * ROWS, COLUMNS), X, _indices()], {}, _embedding_backward),
    "gelu": Call([X], {}, exact.gelu),
    "gelu_backward": Call([D_OUT, X], {"approximate": "none"}, lambda d_out, x: d_out * exact.gelu_slopes(x)[0]),
    "l2_normalize": Call([X], {}, exact.l2_normalize),
    "l2_normalize_backward": Call([D_OUT, X], {"eps": 1e-12}, exact.l2_normalize_backward),
    "layer_norm": Call([X, WEIGHT, _random(COLUMNS) - 1], {}, exact.layer_norm),
    "layer_norm_backward": Call([D_OUT, X, WEIGHT], {"eps": 1e-5}, exact.layer_norm_backward),
    "mean_pool": Call([TOKENS, MASK], {}, exact.mean_pool),
    "mean_pool_backward": Call([_random(ROWS, 100), MASK], {}, exact.mean_pool_backward),
    "rms_norm": Call([X, WEIGHT], {}, exact.rms_norm),
    "rms_norm_backward": Call([D_OUT, X, WEIGHT], {"eps": 1e-6}, exact.rms_norm_backward),
    "rope": Call([HEADS[0], *ANGLES], {}, exact.rope),
    "rope_backward": Call([HEADS[0], *ANGLES], {"interleaved": False}, lambda d, cos, sin: exact.rope(d, cos, -sin)),
    "softmax": Call([X], {}, exact.softmax),
    "softmax_backward": Call([D_OUT, exact.softmax(X)], {}, exact.softmax_backward),
    "swiglu": Call([GATE, UP], {}, lambda gate, up: exact.silu(gate) * up),
    "swiglu_backward": Call([GATE - UP, GATE, UP], {}, _swiglu_backward),
}


def _typed(array: np.ndarray, dtype: str) -> np.ndarray:
    return array.astype(DTYPES[dtype]) if array.dtype == np.float64 else array


def error(function: Callable[..., Any], call: Call, dtype: str) -> float:
    """The largest difference from the exact results, as a share of the largest of each. An error beyond the bound ends the program."""
    arguments = [_typed(array, dtype) for array in call.arguments]
    wide = [
        a.astype(np.longdouble) if array.dtype == np.float64 else a
        for a, array in zip(arguments, call.arguments, strict=True)
    ]
    found, expected = function(*arguments, **call.keywords), call.results(*wide)
    found = found if isinstance(found, tuple) else (found,)
    expected = expected if isinstance(expected, tuple) else (expected,)
    largest = max(
        float(np.abs(f.astype(np.longdouble) - e).max() / np.abs(e).max()) for f, e in zip(found, expected, strict=True)
    )
    if not largest <= call.tolerance[dtype]:
        raise SystemExit(
            f"{function.__name__} of {dtype}: expected an error up to {call.tolerance[dtype]}, got {largest}"
        )
    return largest


def refusal(function: Callable[..., Any], call: Call) -> str | None:
    """What the op says of tensors with gaps between their columns; None where it takes them."""
    arguments = [_typed(array, "f32") for array in call.arguments]
    gaps = np.repeat(arguments[0], 2, axis=-1)[..., ::2]
    try:
        function(gaps, *arguments[1:], **call.keywords)
    except (TypeError, ValueError) as refused:
        return f"{type(refused).__name__}: {refused}"
    return None


def facts(module: Any, name: str) -> list[str]:
    """The lines about one op: a row for each dtype, and what becomes of strided tensors."""
    forward, backward = CALLS[name], CALLS.get(f"{name}_backward")
    lines = ["| dtype | call | its largest error | gradient | its largest error | bound |", "|---|---|---|---|---|---|"]
    for dtype in DTYPES:
        if dtype not in forward.tolerance:
            lines.append(f"| {dtype} | no | | no | | |")
            continue
        found = error(getattr(module, name), forward, dtype)
        row = f"| {dtype} | yes | {found:.1e} "
        if backward:
            row += f"| yes | {error(getattr(module, f'{name}_backward'), backward, dtype):.1e} "
        else:
            row += "| no | "
        lines.append(f"{row}| {forward.tolerance[dtype]:.0e} |")
    lines += [
        "",
        "Errors are shares of the largest result, on normal random numbers. `python docs/site/op_facts.py` measures them; the",
        "tests hold them within the bound.",
        "",
    ]
    refused = refusal(getattr(module, name), forward)
    if refused is None:
        return [*lines, "Tensors with gaps between the elements of a row are taken as they are.", ""]
    return [
        *lines,
        "Tensors with gaps between the elements of a row are refused; make them contiguous first:",
        "",
        "```text",
        refused,
        "```",
        "",
    ]


if __name__ == "__main__":
    import kernpack

    kernels = kernpack.load("kernpack_kernels")
    for op in CALLS:
        if not op.endswith("_backward"):
            print(f"\n{op}\n", *facts(kernels, op), sep="\n")
