"""docs/debugging.md: a kernel built with sanitizers and the SDK's flags says where it goes wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from kernpack_sdk import flags

SOURCE = """\
#include <kernpack/kernel.h>
namespace kp = kernpack;
static void WritePast(kp::MutTensorView x) { x.data_ptr<float>()[x.numel()] = 1; }
static int Add(int a, int b) {
  KP_CHECK(a >= 0, ValueError) << "a is " << a;
  return a + b;
}
static int64_t total;
static void Race(int n) {
  kp::parallel_for(n, 1, [](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) total += i % 3;
  });
}
KP_MODULE("my_kernels", "1.0");
KP_EXPORT(write_past, WritePast, "(x!: f32[N]) -> ()");
KP_EXPORT(add, Add);
KP_EXPORT(race, Race);
"""
PROGRAM = """\
import kernpack, sys
k = kernpack.load(sys.argv[1])
assert k.add(1, 2) == 3
try:
    k.add(-1, 2)  # a C++ exception, in the module
except ValueError as error:
    assert "a is -1" in str(error)
k.write_past(kernpack._core.empty((1000,), "f32"))
"""


RACING = """\
import kernpack, sys
k = kernpack.load(sys.argv[1])
for _ in range(2000):  # until a second thread takes part, which a busy machine may let wait; the first race ends it
    k.race(300000)
"""


def _run(tmp_path: Path, sanitizers: str, library: str, program: str, **environment: str) -> str:
    """Builds and runs as docs/debugging.md says; what is said on stderr."""
    source, module = tmp_path / "my_kernels.cc", tmp_path / "my_kernels.so"
    source.write_text(SOURCE)
    options = ["-g", "-O1", f"-fsanitize={sanitizers}", *flags.compile_flags()]
    subprocess.run(["g++", *options, source, *flags.link_flags(compiles=True), "-o", module], check=True)
    preloaded = [
        subprocess.check_output(["g++", f"-print-file-name={name}"], text=True).strip()
        for name in (library, "libstdc++.so")
    ]
    done = subprocess.run(
        [sys.executable, "-c", program, module],
        env={**os.environ, "LD_PRELOAD": " ".join(preloaded), **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    return done.stderr


def test_thread_sanitizer(tmp_path: Path) -> None:
    said = _run(tmp_path, "thread", "libtsan.so", RACING, KERNPACK_NUM_THREADS="4", TSAN_OPTIONS="halt_on_error=1")
    assert "ThreadSanitizer: data race" in said
    assert "my_kernels.cc:" in said


def test_address_and_undefined_behaviour_sanitizer(tmp_path: Path) -> None:
    said = _run(tmp_path, "address,undefined", "libasan.so", PROGRAM, ASAN_OPTIONS="detect_leaks=0")
    assert "AddressSanitizer: heap-buffer-overflow" in said
    assert "in WritePast" in said
