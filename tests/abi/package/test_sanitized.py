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
static int Add(int a, int b) { return a + b; }
KP_MODULE("my_kernels", "1.0");
KP_EXPORT(write_past, WritePast, "(x!: f32[N]) -> ()");
KP_EXPORT(add, Add);
"""
PROGRAM = """\
import kernpack, sys
k = kernpack.load(sys.argv[1])
assert k.add(1, 2) == 3
k.write_past(kernpack._core.empty((1000,), "f32"))
"""


def test_address_and_undefined_behaviour_sanitizer(tmp_path: Path) -> None:
    source, module = tmp_path / "my_kernels.cc", tmp_path / "my_kernels.so"
    source.write_text(SOURCE)
    options = ["-g", "-O1", "-fsanitize=address,undefined", *flags.compile_flags()]
    subprocess.run(["g++", *options, source, *flags.link_flags(), "-o", module], check=True)
    library = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    environment = {**os.environ, "LD_PRELOAD": library.stdout.strip(), "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, module], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode != 0
    assert "AddressSanitizer: heap-buffer-overflow" in done.stderr
    assert "in WritePast" in done.stderr
