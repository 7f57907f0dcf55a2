"""The dtypes that each op of the kernel wheel takes, and how far its results are from exact ones: found by calling it.

`op_facts.py` prints all of it. op_calls.py has the calls, op_formats.py those of packed weights and caches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import op_formats
from op_calls import CALLS, Call

DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def _typed(array: np.ndarray, dtype: str) -> np.ndarray:
    return array.astype(DTYPES[dtype]) if array.dtype == np.float64 else array.copy()


def error(function: Callable[..., Any], call: Call, dtype: str) -> float:
    """The largest difference from the exact results, as a share of the largest of each. An error beyond the bound ends the program."""
    arguments = [_typed(array, dtype) for array in call.arguments]
    wide = [
        a.astype(np.longdouble) if np.issubdtype(array.dtype, np.floating) else a
        for a, array in zip(arguments, call.arguments, strict=True)
    ]
    found, expected = call.run(function, *arguments, **call.keywords), call.results(*wide)
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
    """The op's message about tensors with gaps between their columns; None where it takes them."""
    arguments = [_typed(array, "f32") for array in call.arguments]
    gaps = np.repeat(arguments[0], 2, axis=-1)[..., ::2]
    try:
        call.run(function, gaps, *arguments[1:], **call.keywords)
    except (TypeError, ValueError) as refused:
        return f"{type(refused).__name__}: {refused}"
    return None


def facts(module: Any, name: str) -> list[str]:
    """The lines about one op: a row for each dtype, and what becomes of strided tensors. An op of which nothing is known ends the
    program."""
    if name in op_formats.FACTS:
        return op_formats.FACTS[name](module)
    if name not in CALLS:
        raise SystemExit(f"docs/site/op_calls.py has no call of the op {name}, whose error its page shows")
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
        bound = f"{forward.tolerance[dtype]:.0e}"
        if backward and backward.tolerance[dtype] != forward.tolerance[dtype]:
            bound += f", gradient {backward.tolerance[dtype]:.0e}"
        lines.append(f"{row}| {bound} |")
    lines += [
        "",
        "Errors are shares of the largest result, on normal random numbers. `python docs/site/op_facts.py` measures them; the",
        "tests hold them within the bound.",
        "",
    ]
    refused = refusal(getattr(module, name), forward)
    if refused is None:
        return [*lines, "Tensors with gaps between the elements of a row are accepted.", ""]
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
    for op in sorted([*CALLS, *op_formats.FACTS]):
        if not op.endswith("_backward"):
            print(f"\n{op}\n", *facts(kernels, op), sep="\n")
