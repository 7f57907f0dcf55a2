"""NVIDIA's math functions, compiled by NVRTC and run on the emulated device, are as exact as NVIDIA documents."""

from __future__ import annotations

import ctypes
import math
import runpy
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import ptx_exact as exact
import pytest
from ptx_driver import Driver
from ptx_math import FUNCTIONS, INTRINSICS, Function

COUNT = 512
FINDER = Path(__file__).resolve().parents[3] / "bindings" / "compiler" / "kernpack_compiler" / "_nvrtc.py"


def _ptx(source: str) -> str:
    """NVRTC's, for sm_80: what a program gets that asks for no fast arithmetic."""
    path = runpy.run_path(str(FINDER))["find"]()
    if not path:
        pytest.skip("no nvidia-cuda-nvrtc is installed")
    nvrtc, program, size = ctypes.CDLL(path), ctypes.c_void_p(), ctypes.c_size_t()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"math.cu", 0, None, None) == 0
    options = (ctypes.c_char_p * 1)(b"--gpu-architecture=compute_80")
    assert nvrtc.nvrtcCompileProgram(program, 1, options) == 0
    assert nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)) == 0
    text = ctypes.create_string_buffer(size.value)
    assert nvrtc.nvrtcGetPTX(program, text) == 0
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return text.value.decode()


def _kernel(number: int, call: str, c_type: str, arity: int) -> str:
    operands = ["a[i]", "b[i]"][:arity]
    parameters = ", ".join(f"const {c_type}* {name}" for name in "ab"[:arity])
    return (
        f'extern "C" __global__ void k{number}({parameters}, {c_type}* out) {{\n'
        f"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  out[i] = {call}({', '.join(operands)});\n}}\n"
    )


def _operands(domain: tuple[float, float], logarithmic: bool, dtype: type[np.floating[Any]], seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed)
    low, high = domain
    if logarithmic:
        positive = low if low > 0 else 1e-12
        values = np.exp(drawn.uniform(math.log(positive), math.log(high), COUNT))
        if low < 0:
            values *= drawn.choice([-1.0, 1.0], COUNT)
    else:
        values = drawn.uniform(low, high, COUNT)
        values[:2] = low, high
    return np.clip(values, low, high).astype(dtype)


def _ulps(got: float, wanted: Any, form: exact.Format) -> float:
    """Between the result and the correctly rounded one."""
    if mpmath.isinf(wanted):
        return 0.0 if got == wanted else math.inf
    sign, man, exp, _ = mpmath.mpf(wanted)._mpf_
    right = exact.rounded((-1) ** sign * Fraction(int(man)) * Fraction(2) ** int(exp), form)
    if got == right:
        return 0.0
    if not (math.isfinite(got) and math.isfinite(right)):
        return math.inf
    exponent = max(math.frexp(right)[1] - 1, form.least)
    return float(abs(Fraction(got) - Fraction(right)) / Fraction(2) ** (exponent - form.precision + 1))


@pytest.fixture(scope="module")
def driver() -> Driver:
    return Driver()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_math_function_is_as_exact_as_documented(driver: Driver, dtype: type[np.floating[Any]]) -> None:
    c_type, form = ("float", exact.F32) if dtype is np.float32 else ("double", exact.F64)
    suffix = "f" if dtype is np.float32 else ""
    tried: list[tuple[Function, float]] = []
    for function in FUNCTIONS:
        bound = function.f32 if dtype is np.float32 else function.f64
        if bound is not None:
            tried.append((function, bound))
    calls = [_kernel(i, function.name + suffix, c_type, function.arity) for i, (function, _) in enumerate(tried)]
    module = driver.load(_ptx("".join(calls)))
    wrong = []
    with mpmath.workprec(200):
        for i, (function, bound) in enumerate(tried):
            inputs = [
                _operands(function.domain, function.logarithmic, dtype, 10 * i + k) for k in range(function.arity)
            ]
            got = driver.run(module, f"k{i}", COUNT // 128, 128, inputs, np.zeros(COUNT, dtype))
            worst = max(
                (_ulps(float(result), function.exact(*(mpmath.mpf(float(x)) for x in given)), form), given)
                for result, *given in zip(got, *inputs, strict=True)
            )
            if worst[0] > bound:
                wrong.append(f"{function.name}{suffix}{worst[1]}: {worst[0]} ulp, documented {bound}")
    assert not wrong, "\n".join(wrong)


def test_an_intrinsic_is_as_exact_as_documented(driver: Driver) -> None:
    module = driver.load(_ptx("".join(_kernel(i, name, "float", 1) for i, name in enumerate(INTRINSICS))))
    wrong = []
    for i, (name, (function, domain, ulps, absolute)) in enumerate(INTRINSICS.items()):
        given = _operands(domain, False, np.float32, i)
        got = driver.run(module, f"k{i}", COUNT // 128, 128, [given], np.zeros(COUNT, np.float32))
        for x, result in zip(given.tolist(), got.tolist(), strict=True):
            wanted = function(mpmath.mpf(x))
            right = abs(result - wanted) <= absolute if ulps is None else _ulps(result, wanted, exact.F32) <= ulps(x)
            if not right:
                wrong.append(f"{name}({x}): {result}, not {wanted}")
                break
    assert not wrong, "\n".join(wrong)


SPECIAL = [
    ("exp", -math.inf, 0.0),
    ("exp", math.inf, math.inf),
    ("exp", 1e4, math.inf),
    ("log", 0.0, -math.inf),
    ("log", -1.0, math.nan),
    ("log", math.inf, math.inf),
    ("sin", math.inf, math.nan),
    ("sin", -0.0, -0.0),
    ("tanh", math.inf, 1.0),
    ("tanh", -math.inf, -1.0),
    ("sqrt", -1.0, math.nan),
    ("sqrt", -0.0, -0.0),
    ("cbrt", -8.0, -2.0),
    ("rsqrt", 0.0, math.inf),
    ("acosh", 0.5, math.nan),
    ("atanh", 1.0, math.inf),
    ("erf", math.inf, 1.0),
    ("erfc", math.inf, 0.0),
    ("lgamma", -2.0, math.inf),
    ("tgamma", -2.0, math.nan),
    ("floor", -0.5, -1.0),
    ("ceil", -0.5, -0.0),
    ("trunc", -2.5, -2.0),
    ("rint", 2.5, 2.0),
    ("round", 2.5, 3.0),
    ("log1p", -1.0, -math.inf),
    ("exp", math.nan, math.nan),
]


@pytest.mark.parametrize("c_type", ["float", "double"])
def test_special_values_are_as_documented(driver: Driver, c_type: str) -> None:
    suffix, dtype = ("f", np.float32) if c_type == "float" else ("", np.float64)
    module = driver.load(_ptx("".join(_kernel(i, name + suffix, c_type, 1) for i, (name, _, _) in enumerate(SPECIAL))))
    for i, (name, given, wanted) in enumerate(SPECIAL):
        (got,) = driver.run(module, f"k{i}", 1, 1, [np.array([given], dtype)], np.zeros(1, dtype)).tolist()
        assert (
            (got != got) if wanted != wanted else (got, math.copysign(1, got)) == (wanted, math.copysign(1, wanted))
        ), f"{name}({given}) is {got}"
