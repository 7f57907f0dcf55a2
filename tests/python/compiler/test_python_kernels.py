"""Kernels in plain Python agree with NumPy: interpreted, compiled, and run as Python; called from torch and JAX."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import kernpack
import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
import kernpack_compiler as kc
from kernpack_compiler import ir
from python_kernels import (
    CASES,
    block_sums,
    cumsum,
    expected_block_sums,
    expected_segment_sum,
    normal,
    segment_sum,
    softmax,
    ten_kernels,
)

HERE = Path(__file__).parent


def needs(kind: str) -> None:
    if kind not in kc.list_generators():
        pytest.skip(f"this build has no generator of kind {kind}")


def close(found, expected, tolerance: float) -> None:
    for one, wanted in zip(as_tuple(found), as_tuple(expected), strict=True):
        np.testing.assert_allclose(np.asarray(one, "f8"), wanted, rtol=tolerance, atol=tolerance)


def as_tuple(values) -> tuple:
    return tuple(values) if isinstance(values, tuple | list) else (values,)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("how", ["interpreter", "c", "llvm", "python"])
def test_ten_kernels_agree_with_numpy(name: str, how: str) -> None:
    kernel, arguments, reference, tolerance = CASES[name]
    if how == "interpreter":
        full = (*arguments, 0) if name == "attention" else arguments  # the interpreter knows no defaults
        found = ir.interpret(kernel.module, name, *full)
    elif how == "python":
        found = kernel.python(*arguments)
    elif how == "llvm":
        needs("llvm")
        found = kernel(*arguments)
    else:
        found = getattr(kernel.build("c"), name)(*arguments)
    close(found, reference(*arguments), tolerance)


def test_keywords_and_defaults() -> None:
    needs("llvm")
    kernel, arguments, reference, tolerance = CASES["attention"]
    for found in (kernel(*arguments, causal=1), kernel.python(*arguments, causal=1)):
        close(found, reference(*arguments, causal=1), tolerance)
    with pytest.raises(TypeError, match="too many positional arguments"):
        kernel.python(*arguments, 1)


def test_a_tensor_that_is_written() -> None:
    needs("llvm")
    x, segment = normal(9, 10), np.arange(9) % 3
    first = normal(3, 10)
    for call in (segment_sum, segment_sum.python, segment_sum.build("c", checked=True).segment_sum):
        total = first.copy()
        assert call(x, segment, total) is None
        close(total, expected_segment_sum(x, segment, first), 1e-5)
    with pytest.raises(ValueError, match="a segment is out of range"):
        segment_sum(x, segment + 1, first.copy())
    with pytest.raises(AssertionError, match="a segment is out of range"):
        segment_sum.python(x, segment + 1, first.copy())


def test_a_launch_is_interpreted_and_built_for_cuda() -> None:
    x = normal(150)
    close(ir.interpret(block_sums.module, "block_sums", x), expected_block_sums(x), 1e-5)
    with pytest.raises(RuntimeError, match=r"barrier\(\) waits for the other threads"):
        block_sums.python(x)


def test_the_emulated_device_runs_a_launch_and_a_loop() -> None:
    if not kc._nvrtc.find() or "cuda" not in kc.list_generators():
        pytest.skip("no nvidia-cuda-nvrtc is installed")
    pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    environment = {**os.environ, "KERNPACK_EMULATOR": "sm_90"}
    command = [sys.executable, HERE / "python_kernels_on_cuda.py"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert (done.stdout, done.returncode) == ("block_sums softmax stencil topk\n", 0), done.stderr


def test_torch_calls_compiles_and_differentiates_a_kernel() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    needs("llvm")
    x = torch.from_numpy(normal(4, 7)).requires_grad_()
    torch.testing.assert_close(softmax(x), torch.softmax(x, -1))
    weight = torch.arange(28, dtype=torch.float32).reshape(4, 7)
    (ours,) = torch.autograd.grad((softmax(x) * weight).sum(), x)
    (theirs,) = torch.autograd.grad((torch.softmax(x, -1) * weight).sum(), x)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    compiled = torch.compile(lambda x: softmax(x) * 2, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), torch.softmax(x, -1) * 2)


def test_jax_calls_traces_and_differentiates_a_kernel() -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    needs("llvm")
    x = jax.numpy.asarray(normal(4, 7))
    np.testing.assert_allclose(jax.jit(softmax)(x), jax.nn.softmax(x), rtol=2e-6)
    np.testing.assert_allclose(jax.vmap(softmax)(x[None]), jax.nn.softmax(x)[None], rtol=2e-6)
    ours, theirs = (jax.grad(lambda x, f=f: (f(x) * x).sum())(x) for f in (softmax, jax.nn.softmax))
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


def test_what_a_kernel_says_of_itself() -> None:
    assert repr(cumsum) == "<kernel cumsum(x: f32[N..., D], decay: f32) -> (out: f32[N..., D])>"
    assert softmax.__doc__.startswith("Softmax of each row.")
    assert [f.name for f in softmax.module.functions] == ["softmax", "softmax_backward"]
    assert softmax.module["softmax"] == softmax.func
    assert pickle.loads(pickle.dumps(softmax)) is softmax
    assert isinstance(softmax, kc.Kernel)


def test_a_wheel_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("auditwheel", reason="auditwheel is not installed")
    needs("llvm")
    wheel = softmax.wheel("my-softmax", "1.2.0", ["llvm"], folder=tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read("my_softmax-1.2.0.dist-info/METADATA").decode()
        archive.extractall(tmp_path)
    assert "Summary: Softmax of each row.\n" in metadata
    x = normal(3, 4)
    np.testing.assert_array_equal(kernpack.load(tmp_path / "my_softmax" / "my_softmax.so").softmax(x), softmax(x))
    with pytest.raises(
        ValueError, match=r'softmax.wheel: targets: expected a list such as \["llvm", "cuda"\], got .llvm.'
    ):
        softmax.wheel("my-softmax", "1.2.0", "llvm")


def test_code_for_several_targets_has_one_gradient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("auditwheel", reason="auditwheel is not installed")
    needs("llvm")
    needs("opencl")
    wheel = softmax.wheel("two-targets", "1.0", ["llvm", "opencl"], folder=tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    k = kernpack.load("two_targets")
    assert set(k.functions["softmax"].targets) > {"opencl"}
    x = torch.from_numpy(normal(2, 3)).requires_grad_()
    (found,) = torch.autograd.grad(k.softmax(x).square().sum(), x)
    (expected,) = torch.autograd.grad(torch.softmax(x, -1).square().sum(), x)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)


def test_a_value_of_another_module_is_that_of_the_time_when_the_kernel_was_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needs("llvm")
    monkeypatch.setattr(ten_kernels, "K", 2)
    assert ten_kernels.topk(normal(3, 9))[0].shape == (3, 4)
