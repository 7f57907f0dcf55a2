"""scripts/add-op, in a copy of the files that it changes: an op of one tensor touches six of them, and works at once."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import kernpack
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
FILES = [
    "kernels/activations/row_activations.h",
    "kernels/activations/cpu/activations.h",
    "kernels/activations/cuda/activations.cuh",
    "tests/support/row_activations.py",
    "docs/kernels.md",
    "docs/ops-matrix.md",
]
SOURCE = """
#include "activations/cpu/activations.h"
#include "activations/row_activations.h"
#include "common/cpu/row.h"

#include <string>

void both(kp::TensorView x, kp::MutTensorView value, kp::MutTensorView slope) {
  kk::ForRow<float>(x.numel(), [&](int64_t i, auto extent) {
    const auto found = kk::OfSoftClip::WithSlope<float>(kk::Get(x.data_ptr<float>() + i, extent));
    kk::Put(value.data_ptr<float>() + i, extent, found.value);
    kk::Put(slope.data_ptr<float>() + i, extent, found.slope);
  });
}
#define NAME(op, Name, text) #op " " #Name ","
std::string declared() { return KK_ROW_ACTIVATIONS(NAME); }
"""


def _load(name: str, file: Path) -> ModuleType:
    loader = importlib.machinery.SourceFileLoader(name, str(file))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))  # type: ignore[arg-type]
    write, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = write
    return module


SCRIPT = _load("add_op_script", ROOT / "scripts/add-op")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for file in FILES:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


def _texts(root: Path) -> dict[str, str]:
    return {str(file.relative_to(root)): file.read_text() for file in root.rglob("*") if file.is_file()}


def test_an_op_touches_six_files(copy: Path) -> None:
    before = _texts(copy)
    assert SCRIPT.add(copy, "soft_clip") == FILES
    after = _texts(copy)
    assert {file for file in after if after[file] != before.get(file)} == set(FILES)
    assert not any(word in after[file] for file in FILES for word in ("@op@", "@Name@"))
    for file, line in (
        ("docs/kernels.md", "- `soft_clip`: `max(x, 0)`\n- `swiglu`: "),
        ("docs/kernels.md", "`swiglu`, `soft_clip`, "),
        ("docs/ops-matrix.md", "| `soft_clip` | T: f32 f64 f16 bf16 | first order | "),
    ):
        assert line in after[file]
    rows = re.findall(r"^\| `(\w+)` \|", after["docs/ops-matrix.md"], re.MULTILINE)
    assert rows.count("soft_clip") == 3


def test_the_op_computes_with_its_exact_values(copy: Path) -> None:
    SCRIPT.add(copy, "soft_clip")
    places = [str(copy / "kernels"), str(ROOT / "kernels")]
    k = kernpack.load_inline(SOURCE, ["both", "declared"], name="added_op", include_paths=places)
    assert k.declared().endswith("soft_clip SoftClip,")
    exact = _load("added_activations", copy / "tests/support/row_activations.py").ROW_ACTIVATIONS["soft_clip"]
    x = np.linspace(-3, 3, 37, dtype=np.float32)
    value, slope = np.empty_like(x), np.empty_like(x)
    k.both(x, value, slope)
    np.testing.assert_array_equal(value, exact.value(x))
    np.testing.assert_array_equal(slope, exact.slope(x))


@pytest.mark.parametrize(
    ("op", "said"), [("silu", "has the name Silu"), ("rms_norm", "has an op of that name: rms_norm")]
)
def test_a_name_that_is_taken_writes_nothing(copy: Path, op: str, said: str) -> None:
    before = _texts(copy)
    with pytest.raises(ValueError, match=said):
        SCRIPT.add(copy, op)
    assert _texts(copy) == before


def test_a_name_that_no_op_can_have() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/add-op", "Mish"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("scripts/add-op: 'Mish' can't be an op's name: expected lower-case letters")
