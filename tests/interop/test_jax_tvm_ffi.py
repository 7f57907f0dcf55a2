"""jax-tvm-ffi runs a function of our module, loaded by tvm_ffi and unmodified, in a jitted program on CPU."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax", reason="jax is not installed")
tvm_ffi = pytest.importorskip("tvm_ffi", reason="apache-tvm-ffi is not installed")
jax_tvm_ffi = pytest.importorskip("jax_tvm_ffi", reason="jax-tvm-ffi is not installed")

import numpy as np  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """
#include <kernpack/kernel.h>
namespace kp = kernpack;
static void Axpb(kp::TensorView x, int64_t a, double b, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) {
    out.data_ptr<float>()[i] = x.data_ptr<float>()[i] * static_cast<float>(a) + static_cast<float>(b);
  }
}
KP_MODULE("jax_interop", "1.0.0");
KP_EXPORT(axpb, Axpb, "(x: f32[N], a: int, b: float) -> (out: f32[N])");
"""


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("interop")
    (folder / "axpb.cc").write_text(SOURCE)
    command = [os.environ.get("CXX", "g++"), "-std=c++17", "-O1", "-fPIC", "-shared", f"-I{ROOT / 'ffi' / 'include'}"]
    subprocess.run([*command, str(folder / "axpb.cc"), "-o", str(folder / "axpb.so")], check=True)
    module = tvm_ffi.load_module(str(folder / "axpb.so"))
    jax_tvm_ffi.register_ffi_target("interop.axpb", module.axpb, ["args", "attrs.a", "attrs.b", "rets"], platform="cpu")

    def call(x, result):
        axpb = jax.ffi.ffi_call("interop.axpb", jax.ShapeDtypeStruct(result, x.dtype))
        return axpb(x, a=np.int64(3), b=np.float64(0.5))

    return call


def test_runs_in_a_jitted_program(call):
    x = jax.numpy.arange(4, dtype=np.float32)
    got = jax.jit(lambda x: call(call(x, (4,)), (4,)))(x)
    np.testing.assert_array_equal(got, (np.arange(4) * 3 + 0.5) * 3 + 0.5)


def test_the_signature_is_checked_there_too(call):
    x = jax.numpy.arange(4, dtype=np.float32)
    with pytest.raises(jax.errors.JaxRuntimeError, match="axpb: out: expected"):
        jax.block_until_ready(jax.jit(lambda x: call(x, (3,)))(x))
