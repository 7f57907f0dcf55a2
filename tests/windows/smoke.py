"""Run by Windows' Python: the installed wheel, a module that is compiled and one that is loaded, NumPy, errors, a path in Unicode."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import kernpack
import numpy as np
import pytest

SOURCE = r"""
#include <kernpack/kernel.h>
namespace kp = kernpack;
void Scale(kp::TensorView x, double factor, kp::MutTensorView out) {
  const kp::Span<const float> in(x);
  const kp::Span<float> to(out);
  for (int64_t i = 0; i < in.size(); ++i) to[i] = static_cast<float>(in[i] * factor);
}
int64_t Fail(int64_t n) { KP_THROW(ValueError) << "n is " << n; }
KP_MODULE("my_kernels", "1.0.0");
KP_EXPORT(scale, Scale, "(x: f32[...], *, factor: float = 2.0) -> (out: f32[...])");
KP_EXPORT(fail, Fail);
"""


def refused(call: Callable[[], object], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=re.escape(text)):
        call()


def main() -> None:
    assert sys.platform == "win32"
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:  # nobody removes a loaded DLL
        built = Path(temporary) / "built"
        k = kernpack.load_inline(SOURCE, build_directory=built)
        np.testing.assert_array_equal(k.scale(x), 2 * x)
        np.testing.assert_array_equal(k.scale(x, factor=3.0), 3 * x)
        refused(lambda: k.scale(x.astype(np.float64)), TypeError, "scale: x: expected dtype f32, got f64")
        refused(lambda: k.fail(7), ValueError, "n is 7")
        (library,) = built.glob("*.dll")
        moved = Path(temporary) / "größer und weiter" / "kerne.dll"
        moved.parent.mkdir()
        shutil.copy(library, moved)
        np.testing.assert_array_equal(kernpack.load(moved).scale(x), 2 * x)
    refused(lambda: kernpack.load("missing.dll"), FileNotFoundError, "missing.dll")
    print(f"kernpack {kernpack.__version__} with NumPy {np.__version__} on {sys.version.split()[0]}: as expected")


if __name__ == "__main__":
    main()
