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


# Ways to multiply small integers: two or four elements of a sum in one instruction where the processor has it.
INTEGERS = [("i8", "i8"), ("u8", "i8"), ("i8", "u8"), ("u8", "u8"), ("i16", "i16"), ("i16", "u8"), ("u16", "i8")]
PROCESSORS = ("x86-64-v2", "x86-64-v3", "x86-64-v4", "host")


def _processor(name: str) -> str:
    if name == "host":
        return str(kc.Target.from_device("cpu"))
    level = str(kc.Target.from_device("cpu"))
    known = [one for one in ("x86-64-v2", "x86-64-v3", "x86-64-v4") if f"-mcpu={one}" in level]
    if not known or name > known[0]:
        pytest.skip(f"this machine can't run code for {name}")
    return f"llvm -mcpu={name}"


@pytest.mark.parametrize("processor", PROCESSORS)
def test_products_of_small_integers_are_exact(processor: str) -> None:
    if "llvm" not in kc.list_generators():
        pytest.skip("this build has no generator of kind llvm")
    target = _processor(processor)
    functions = []
    for a, b in INTEGERS:
        product = "reduce(+, k in 0..K, any 16, i32(a[i, k]) * i32(b[{}]))"
        for name, shape, at, result, value in (
            (f"sums_{a}_{b}", "N, K", "j, k", "i32", "{}"),
            (f"scaled_{a}_{b}", "K, N", "k, j", "f32", "f32({}) * 0.5"),
        ):
            functions.append(
                f"func {name}(a: {a}[M, K], b: {b}[{shape}]) -> (o: {result}[M, N]) {{ for i in 0..M {{ "
                f"for j in 0..N {{ o[i, j] = {value.format(product.format(at))} }} }} }}"
            )
    module = kc.build(ir.IRModule.parse(f'module "integers_{hash(target) % 1000}" ' + " ".join(functions)), target)
    random = np.random.default_rng(1)
    for a, b in INTEGERS:
        for m, k, n in ((13, 37, 70), (5, 4, 3), (24, 64, 128), (4, 1, 33), (6, 0, 5)):
            left, right = (
                random.choice([np.iinfo(t).min, np.iinfo(t).max, -1 if t[0] == "i" else 1, 3], shape).astype(t)
                for t, shape in ((_numpy(a), (m, k)), (_numpy(b), (n, k)))
            )
            wanted = (left.astype(np.int64) @ right.astype(np.int64).T).astype(np.int32)
            np.testing.assert_array_equal(getattr(module, f"sums_{a}_{b}")(left, right), wanted, err_msg=f"{a} {b}")
            scaled = getattr(module, f"scaled_{a}_{b}")(left, np.ascontiguousarray(right.T))
            np.testing.assert_array_equal(scaled, wanted.astype(np.float32) * np.float32(0.5), err_msg=f"{a} {b}")


def _numpy(name: str) -> str:
    return {"i": "int", "u": "uint"}[name[0]] + name[1:]
