"""The steps of `kernpack demo`. Each step prints a line before it begins."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernpack_sdk.demo.frameworks import ALL, ALPHA, Framework

SIZE = 16384  # a call takes a millisecond at most: other programs interrupt few of them
_TOLERANCE = 1e-5
_SOURCE = Path(__file__).resolve().parent / "ema.cc"
_TITLES = {"numpy": "NumPy", "torch": "PyTorch", "jax": "JAX"}


class DemoError(RuntimeError):
    """A step failed."""


def show(say: Callable[[str], None], seconds: float) -> dict[str, Any]:
    """Runs every step and returns the measurements. seconds: how long each framework is measured. Raises DemoError."""
    import numpy as np

    source = _SOURCE.read_text(encoding="utf-8")
    say("A kernel in C++. Each step of its loop needs the step before, so NumPy has no operation for it:\n")
    say("".join(f"    {line}\n" if line else "\n" for line in source.splitlines()))
    module, compiled = _compiled(say, source)
    x = np.random.default_rng(0).standard_normal(SIZE).astype(np.float32)
    expected = _reference(x)
    say(f"x is an array of {SIZE:,} float32 numbers")
    rows, left_out = [], {}
    for name, prepare in ALL.items():
        say(f"\n{_TITLES[name]}: importing")
        try:
            framework = prepare(module, x)
        except ImportError as error:
            left_out[name] = str(error)
            say(f"  skipped: {error}; to add it: pip install {name}")
            continue
        rows.append(_measured(say, framework, expected, seconds))
    return {"size": SIZE, "compile_seconds": compiled, "frameworks": rows, "left_out": left_out}


def _compiled(say: Callable[[str], None], source: str) -> tuple[Any, float]:
    import os

    import kernpack
    from kernpack._compile import cache_dir

    say(f"compiling with {os.environ.get('CXX', 'g++')}: k = kernpack.load_inline(source)")
    began = time.perf_counter()
    try:
        module = kernpack.load_inline(source)
    except (RuntimeError, OSError) as error:
        raise DemoError(str(error)) from None
    seconds = time.perf_counter() - began
    say(f"  took {seconds:.1f} s; the next load takes the module from {cache_dir()}")
    return module, seconds


def _reference(x: Any) -> Any:
    """In float64, one value after the other."""
    import numpy as np

    expected = np.empty(x.shape)
    average = float(x[0])
    for i, value in enumerate(x.tolist()):
        average += ALPHA * (value - average)
        expected[i] = average
    return expected


def _measured(say: Callable[[str], None], framework: Framework, expected: Any, seconds: float) -> dict[str, Any]:
    import numpy as np

    from kernpack_sdk import measure

    differences = {}
    for title, function in ((framework.kernel_name, framework.kernel), (framework.own_name, framework.own)):
        result = function(framework.array)
        differences[title] = float(np.abs(np.asarray(result) - expected).max())
        if not differences[title] <= _TOLERANCE:
            raise DemoError(
                f"{framework.name} {framework.version}: {title} differs from the expected result by {differences[title]:.1g}"
            )
    kind = type(framework.kernel(framework.array))
    result = f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
    error = f"largest error {differences[framework.kernel_name]:.0e}"
    say(f"  version {framework.version}: the result is a {result}, {error}; measuring for {seconds:g} s")
    ours, theirs = measure.fastest((framework.kernel, framework.own), (framework.array,), seconds)
    ratio = theirs / ours
    width = max(map(len, differences))
    say(f"  {framework.kernel_name:{width}}  {measure.in_units(ours):>8}")
    faster = f"the kernel is {ratio:.{0 if ratio >= 10 else 1}f} times as fast"
    say(f"  {framework.own_name:{width}}  {measure.in_units(theirs):>8}: {faster}")
    return {
        "name": framework.name,
        "version": framework.version,
        "result": result,
        "largest_difference": differences[framework.kernel_name],
        "kernel": framework.kernel_name,
        "seconds": ours,
        "own": framework.own_name,
        "own_seconds": theirs,
        "times_as_fast": ratio,
    }
