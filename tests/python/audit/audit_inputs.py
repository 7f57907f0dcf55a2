"""Inputs of the audit's tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kernpack_sdk import check

Build = Callable[..., Path]
Pack = Callable[..., Path]

SOURCE = """\
#include <kernpack/kernel.h>
namespace kp = kernpack;
static void Copy(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = x.data_ptr<float>()[i];
}
KP_MODULE("my_kernels", "1.0.0");
KP_EXPORT(copy, Copy, "(x: f32[N]) -> (out: f32[N])");
"""


def problems(wheel: Path) -> list[str]:
    return [each.text.removeprefix(f"{wheel.name}: ") for each in check.audit(wheel) if each.serious]


def notes(wheel: Path) -> list[str]:
    return [each.text.removeprefix(f"{wheel.name}: ") for each in check.audit(wheel) if not each.serious]
