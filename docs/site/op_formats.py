"""Facts of the ops whose errors depend on the format of a weight or of a cache, and of those that have no error: lines of a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from op_calls import exact, ggml

COMPUTE = {"f32": 1e-5, "bf16": 2e-2, "i16": 5e-4, "i8": 5e-2}  # what products are computed in, and the bound
CACHES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8}
_SHARES = "Errors are shares of the largest result, on random numbers. `python docs/site/op_facts.py` measures them."


def _share(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found.astype(np.longdouble) - expected).max() / np.abs(expected).max())


def _within(what: str, error: float, bound: float) -> str:
    if not error <= bound:
        raise SystemExit(f"{what}: expected an error up to {bound}, got {error}")
    return f"{error:.1e}"


def _packed(module: Any, form: str) -> tuple[np.ndarray, np.ndarray]:
    """A weight of 130 rows and 1024 columns in the format, and its numbers."""
    blocks = ggml.random_blocks(np.random.default_rng(0), form, 130, 1024)
    packed = getattr(module, f"pack_{form}")(blocks)
    return packed, module.packed_embedding(packed, np.arange(130), columns=1024).astype(np.longdouble)


def _integers(module: Any, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """The same in groups of 64 columns with zero points."""
    rng, half = np.random.default_rng(bits), 1 << (bits - 1)
    values = rng.integers(-half, half, (130, 1024)).astype(np.int8)
    scales, zeros = (rng.random((130, 16)) + 0.5).astype(np.float32), np.ones((130, 16), np.float32)
    packed = getattr(module, f"pack_int{bits}")(values, scales, zeros=zeros)
    return packed, module.packed_embedding(packed, np.arange(130), columns=1024).astype(np.longdouble)


def packed_linear(module: Any) -> list[str]:
    x = np.random.default_rng(1).standard_normal((64, 1024)).astype(np.float32)
    heads = " | ".join(f"`{name}`" for name in COMPUTE)
    lines = [f"| weight, by `compute` | {heads} |", "|---|" + "---|" * len(COMPUTE)]
    weights = {form: _packed(module, form) for form in ggml.FORMATS}
    weights |= {f"int{bits}, groups of 64": _integers(module, bits) for bits in (4, 8)}
    for name, (packed, wide) in weights.items():
        cells = []
        for compute, bound in COMPUTE.items():
            found = module.packed_linear(x, packed, compute=compute)
            cells.append(_within(f"packed_linear of {name} in {compute}", _share(found, x @ wide.T), bound))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    bounds = ", ".join(f"{compute} {bound:.0e}" for compute, bound in COMPUTE.items())
    return [
        *lines,
        "",
        f"x is f32; the exact product is of the numbers that the format holds. Bounds: {bounds}. {_SHARES}",
        "",
    ]


def paged_attention(module: Any) -> list[str]:
    rng = np.random.default_rng(4)
    q = rng.standard_normal((2, 3, 4, 32)).astype(np.float32)
    table, lengths = np.arange(8, dtype=np.int32).reshape(2, 4), np.array([40, 61], np.int32)
    lines = ["| cache | its largest error | bound |", "|---|---|---|"]
    for name, dtype in CACHES.items():
        values = [rng.standard_normal((8, 16, 2, 32)) for _ in "kv"]
        scales = [(rng.random((8, 16, 2)) / 64 + 0.01).astype(np.float32) for _ in "kv"] if name == "i8" else []
        caches = [(value * 40 if scales else value).astype(dtype) for value in values]
        found = module.paged_attention(q, *caches, table, lengths, *scales)
        wide = [cache.astype(np.longdouble) for cache in caches]
        wide = [c * s[..., None] for c, s in zip(wide, scales, strict=True)] if scales else wide
        held = [c.reshape(2, 64, 2, 32) for c in wide]
        expected = exact.attention(q.astype(np.longdouble), *held, causal=True, lengths=lengths)
        bound = exact.ATTENTION_TOLERANCE["f32"]
        lines.append(
            f"| {name} | {_within(f'paged_attention of {name}', _share(found, expected), bound)} | {bound:.0e} |"
        )
    return [*lines, "", f"q is f32; the exact result is of the numbers that the cache holds. {_SHARES}", ""]


def paged_quantize(module: Any) -> list[str]:
    x = np.random.default_rng(5).standard_normal((1, 16, 2, 32)).astype(np.float32)
    cache, scales = np.zeros((1, 16, 2, 32), np.int8), np.zeros((1, 16, 2), np.float32)
    module.paged_quantize(cache, scales, x, np.zeros((1, 1), np.int32), np.array([16], np.int32))
    held = cache.astype(np.longdouble) * scales[..., None]
    error = float((np.abs(held - x).max(-1) / np.abs(x).max(-1)).max())
    text = _within("paged_quantize", error, 1 / 253)
    return [
        f"The largest error is {text} of a row's largest value; rounding to 8 bits allows 1/254, which is 3.9e-03.",
        "",
    ]


def _says(text: str) -> Callable[[Any], list[str]]:
    return lambda module: [text, ""]


_SAME = (
    "The packed weight holds the numbers of the weight given, none of them rounded: `packed_embedding` gives them back."
)
FACTS: dict[str, Callable[[Any], list[str]]] = {
    "packed_linear": packed_linear,
    "paged_attention": paged_attention,
    "paged_quantize": paged_quantize,
    "paged_store": _says("Each number is rounded once, to the cache's dtype; one that fits is stored as it is."),
    "packed_embedding": _says("The result holds the numbers of the format, rounded once to f32."),
    "pack_linear": _says(
        "The packed weight holds the numbers of the weight given, none of them rounded, in another order."
    ),
    "argmax": _says("There is no error: the result is an index, of equal values the first. NaN counts as the largest."),
    "sort_into_groups": _says("There is no error: the results are indices."),
    "sample": _says(
        "There is no error to measure: the result is an index. The same arguments give the same index for any "
        "number of threads."
    ),
    **{f"pack_{form}": _says(_SAME) for form in (*ggml.FORMATS, "int4", "int8")},
}
