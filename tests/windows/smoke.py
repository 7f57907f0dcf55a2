"""Run by Windows' Python: the installed wheels, a module that is compiled and one that is loaded, the program of README.md, NumPy, torch,
errors, a path in Unicode. `smoke.py MODULE`, which `make test` runs, takes the module that scripts/windows built, and needs no
compiler, no torch and no kernels: to compile for other options than the wheel's, zig first builds its C++ library again."""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import kernpack
import numpy as np

README = Path(__file__).parents[2] / "README.md"
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
    said = "nothing was raised"
    try:
        call()
    except kind as error:
        said = f"{kind.__name__}: {error}"
    assert said != "nothing was raised"
    assert text in said


def run_readme() -> None:
    """README.md's first program, and the output that stands below it."""
    found = re.search(
        r"```python\n(.*?)```\n\nprints\n\n```text\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL
    )
    assert found
    assert "kernpack_kernels" in found[1]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(found[1], {})
    assert printed.getvalue() == found[2]


def use_kernels() -> None:
    """Operations of the kernels' wheel beside their formulas in NumPy and beside torch, with a gradient."""
    import torch

    k = kernpack.load("kernpack_kernels")
    x = np.random.default_rng(1).standard_normal((37, 101)).astype(np.float32)
    powers = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(k.softmax(x), powers / powers.sum(-1, keepdims=True), rtol=1e-5)
    wide, weight = x.astype(np.float64), np.linspace(0.5, 2, 101, dtype=np.float32)
    root = np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(k.rms_norm(x, weight, eps=1e-6), wide / root * weight, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(k.silu(x), wide / (1 + np.exp(-wide)), rtol=1e-5, atol=1e-6)
    tensor = torch.from_numpy(x)
    assert isinstance(k.softmax(tensor), torch.Tensor)
    torch.testing.assert_close(k.softmax(tensor), torch.softmax(tensor, -1))
    gradients = []
    for softmax in (k.softmax, lambda t: torch.softmax(t, -1)):
        leaf = tensor.clone().requires_grad_()
        (softmax(leaf) ** 2).sum().backward()
        gradients.append(leaf.grad)
    torch.testing.assert_close(*gradients)


def use_module(k: kernpack.Module) -> None:
    """A module of two sources, as scripts/windows builds it; `scale` runs on several threads."""
    x = np.arange(100_000, dtype=np.float32).reshape(100, 1000)
    np.testing.assert_array_equal(k.scale(x), 2 * x)
    refused(
        lambda: k.scale(x[::2, ::3]),
        ValueError,
        "expected a contiguous tensor, got shape [50, 334] with strides [2000, 3]",
    )
    refused(lambda: k.scale(x.astype(np.float64)), TypeError, "scale: x: expected dtype f32, got f64")
    refused(lambda: k.fail(0), ValueError, "fail: expected a kind above 0, got 0")
    refused(lambda: k.fail(1), ValueError, "an argument of std")
    refused(lambda: k.fail(2), MemoryError, "")


def move(library: Path, temporary: Path) -> kernpack.Module:
    """From a folder whose name has a space and letters outside ASCII."""
    moved = temporary / "größer und weiter" / "kerne.dll"
    moved.parent.mkdir()
    shutil.copy(library, moved)
    return kernpack.load(moved)


def compile_one(temporary: Path) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    k = kernpack.load_inline(SOURCE, build_directory=temporary / "built")
    np.testing.assert_array_equal(k.scale(x), 2 * x)
    np.testing.assert_array_equal(k.scale(x, factor=3.0), 3 * x)
    refused(lambda: k.scale(x.astype(np.float64)), TypeError, "scale: x: expected dtype f32, got f64")
    refused(lambda: k.fail(7), ValueError, "n is 7")
    (library,) = (temporary / "built").glob("*.dll")
    np.testing.assert_array_equal(move(library, temporary).scale(x), 2 * x)


def main(module: str | None = None) -> None:
    assert sys.platform == "win32"
    used = f"NumPy {np.__version__}"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:  # nobody removes a loaded DLL
        if module:
            use_module(kernpack.load(module))
            use_module(move(Path(module), Path(temporary)))
        else:
            run_readme()
            use_kernels()
            compile_one(Path(temporary))
            used += f" and torch {importlib.metadata.version('torch')}"
    refused(lambda: kernpack.load("missing.dll"), FileNotFoundError, "missing.dll")
    print(f"kernpack {kernpack.__version__} with {used} on {sys.version.split()[0]}: as expected")


if __name__ == "__main__":
    main(*sys.argv[1:])
