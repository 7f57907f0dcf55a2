"""The texts of a small author's project, and what building it gave."""

from __future__ import annotations

import dataclasses
from pathlib import Path

HEAD = """\
cmake_minimum_required(VERSION 3.22)
project(p LANGUAGES CXX)
find_package(kernpack REQUIRED)
"""
MODULE = """\
#include <kernpack/kernel.h>
namespace kp = kernpack;
static void Copy(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = x.data_ptr<float>()[i];
}
KP_MODULE("m", "1.0.0");
KP_EXPORT(copy, Copy, "(x: f32[N]) -> (out: f32[N])");
"""


@dataclasses.dataclass(frozen=True)
class Build:
    ok: bool
    log: str  # everything CMake, compiler and linker printed
    folder: Path

    @property
    def text(self) -> str:
        """The log without CMake's line wrapping."""
        return " ".join(self.log.split())
