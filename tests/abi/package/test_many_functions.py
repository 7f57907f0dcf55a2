"""kernpack_add_module(... MANY_FUNCTIONS): a module in C++ whose function table has no relocations."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from kernpack_sdk import check, table, unrelocate

MODULE = """
#include <kernpack/kernel.h>
namespace kp = kernpack;
KP_MODULE("m", "1.0.0");
static void Double(kp::TensorView x, kp::MutTensorView y) {
  for (int64_t i = 0; i < x.numel(); ++i) y.data_ptr<float>()[i] = 2 * x.data_ptr<float>()[i];
}
static void Back(kp::TensorView d_y, kp::MutTensorView d_x) { Double(d_y, d_x); }
static int64_t Add(int64_t a, int64_t b) { return a + b; }
KP_EXPORT(twice, Double, "(x: f32[N]) -> (y: f32[N])");
KP_EXPORT_FOR("llvm -mcpu=x86-64-v2", twice, Double, "(x: f32[N]) -> (y: f32[N])");
KP_EXPORT(twice_back, Back, "(d_y: f32[N]) -> (d_x: f32[N])");
KP_GRAD(twice, twice_back);
KP_DOC(twice, "Doubles.");
KP_EXPORT(add, Add);
"""
ADD = "kernpack_add_module(m SOURCES m.cc{})\n"

# The aliases look for their variant in the table, too.
USE = """
import sys, numpy as np, kernpack, tvm_ffi
k = kernpack.load(sys.argv[1])
x = np.arange(3, dtype=np.float32)
assert k.twice(x).tolist() == [0, 2, 4] and k.add(40, 2) == 42 and "Doubles." in k.twice.__doc__
peer = tvm_ffi.load_module(sys.argv[1])
y = np.zeros(3, np.float32)
assert peer.add(40, 2) == 42
given, out = tvm_ffi.from_dlpack(x), tvm_ffi.from_dlpack(y)
peer.twice(given, out)
print(y.tolist())
"""


def test_it_is_called_and_read_like_any_other(build, tmp_path: Path) -> None:
    many = build(ADD.format(" MANY_FUNCTIONS"), {"m.cc": MODULE}, f"-DKERNPACK_PYTHON={sys.executable}")
    assert many.ok, many.log
    path = shutil.copy(many.folder / "m.so", tmp_path / "many.so")
    assert unrelocate.write(path) == 0, "the build has taken the relocations out"
    ran = subprocess.run([sys.executable, "-c", USE, str(path)], capture_output=True, text=True, check=False)
    assert ran.stdout == "[0.0, 2.0, 4.0]\n", ran.stderr
    assert check.check(path) == []
    plain = build(ADD.format(""), {"m.cc": MODULE})
    assert plain.ok, plain.log
    assert table.read(path) == sorted(table.read(plain.folder / "m.so"), key=lambda each: each.name)
    assert len(table.read(path)) == 4
    assert unrelocate.write(plain.folder / "m.so") > 0, "without the option they are there"


def test_a_python_without_the_sdk_is_named(build) -> None:
    built = build(ADD.format(" MANY_FUNCTIONS"), {"m.cc": MODULE}, "-DKERNPACK_PYTHON=/bin/false")
    assert not built.ok
    assert "MANY_FUNCTIONS needs a Python with kernpack-sdk" in built.text
    assert "configure again with -DKERNPACK_PYTHON=<that python>" in built.text
