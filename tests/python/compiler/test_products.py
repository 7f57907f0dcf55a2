"""Products of matrices with symbolic extents build for every kind, and are right: batches, and what is computed of each sum."""

from __future__ import annotations

import importlib.util

import kernpack
import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
import kernpack_compiler as kc
from kernpack_compiler import ir

# name: operands, the sum, what it is in NumPy
FORMS = {
    "plain": ("a: f32[B, M, K], b: f32[B, K, N]", "a[q, i, k] * b[q, k, j]", lambda a, b: a @ b),
    "transposed": (
        "a: f32[B, M, K], b: f32[B, N, K]",
        "a[q, i, k] * b[q, j, k]",
        lambda a, b: a @ b.transpose(0, 2, 1),
    ),
    "one_weight": ("a: f32[B, M, K], b: f32[K, N]", "a[q, i, k] * b[k, j]", lambda a, b: a @ b),
}
EXTENTS = {"B": 3, "M": 13, "K": 5, "N": 70, "H": 2}


def _text() -> str:
    functions = [
        f"func {name}({operands}) -> (o: f32[B, M, N]) {{ for q in 0..B {{ for i in 0..M {{ for j in 0..N {{ "
        f"o[q, i, j] = max(reduce(+, k in 0..K, sequential, {value}) * 0.5, 0.0) }} }} }} }}"
        for name, (operands, value, _) in FORMS.items()
    ]
    functions.append(
        "func heads(a: f32[B, H, M, K], b: f32[B, H, K, N]) -> (o: f32[B, H, M, N]) { for q in 0..B { for h in 0..H { "
        "for i in 0..M { for j in 0..N { "
        "o[q, h, i, j] = reduce(+, k in 0..K, sequential, a[q, h, i, k] * b[q, h, k, j]) } } } } }"
    )
    return "\n".join(functions)


def _arrays(operands: str) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    shapes = [part.split("]")[0].split(", ") for part in operands.split("[")[1:]]
    return [random.standard_normal([EXTENTS[name] for name in shape]).astype(np.float32) for shape in shapes]


def _module(target: str) -> ir.IRModule:
    return ir.IRModule.parse(f'module "products_{"".join(filter(str.isalnum, target))}"\n' + _text())


@pytest.mark.parametrize("target", ["c -mcpu=x86-64-v3", "llvm -mcpu=x86-64-v3", "opencl"])
def test_batches_of_products_with_symbolic_extents_are_right(target: str) -> None:
    kind = target.split()[0]
    if kind not in kc.list_generators():
        pytest.skip(f"this build has no generator of kind {kind}")
    devices = kernpack.devices("opencl") if kind == "opencl" else ["cpu"]
    if not devices:
        pytest.skip("no OpenCL device: " + kernpack.info()["devices"]["opencl"])
    module = kc.build(_module(target), target)

    def call(name: str, *arrays: np.ndarray) -> np.ndarray:
        there = [kernpack.from_dlpack(a).to(devices[0]) for a in arrays] if kind == "opencl" else arrays
        got = getattr(module, name)(*there)
        return np.from_dlpack(got.to("cpu") if kind == "opencl" else got)

    for name, (operands, _, in_numpy) in FORMS.items():
        a, b = _arrays(operands)
        wanted = np.maximum(in_numpy(a, b) * 0.5, 0)
        np.testing.assert_allclose(call(name, a, b), wanted, rtol=1e-4, atol=1e-5, err_msg=name)
    a, b = _arrays("a: f32[B, H, M, K], b: f32[B, H, K, N]")
    np.testing.assert_allclose(call("heads", a, b), a @ b, rtol=1e-4, atol=1e-5)


def test_batches_of_products_with_symbolic_extents_build_for_cuda() -> None:
    if not importlib.util.find_spec("nvidia"):
        pytest.skip("no nvidia-cuda-nvrtc is installed")
    assert set(kc.build(_module("cuda"), "cuda -arch=sm_90").functions) == {*FORMS, "heads"}


def test_python_quotients_and_remainders_tell_iterations_apart() -> None:
    @ir.func("(x: f32[A, B]) -> (y: f32[A, B])")
    def double(x, y, A, B):
        with ir.parallel(A * B) as f:
            y[f // B, f % B] = x[f // B, f % B] * 2.0

    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert np.array_equal(kc.build(ir.IRModule([double], "doubles"), "llvm").double(x), x * 2)
