"""Packages that the tests of this folder install: kernpack, a kernel package with its metadata, and a program that uses both without NumPy."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import kernpack

ROOT = Path(__file__).parents[3]
KERNELS = """
static void Twice(kp::TensorView x, kp::MutTensorView out) {
  KP_CHECK(x.numel() > 0, ValueError) << "nothing to double";
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = 2 * x.data_ptr<float>()[i];
}
KP_MODULE("my_kernels", "1.0.0");
KP_EXPORT(twice, Twice, "(x: f32[N]) -> (out: f32[N])");
"""
PACKAGE = """from kernpack import load as _load

_module = _load(__name__)


def __getattr__(name):
    return getattr(_module, name)
"""
USES = """import kernpack
import my_kernels


def doubled(n):
    x = kernpack.zeros((n,), "f32")
    for i in range(n):
        memoryview(x)[i] = i
    return list(memoryview(my_kernels.twice(x)))


def main():
    if doubled(3) != [0, 2, 4]:
        raise SystemExit(f"expected [0, 2, 4], got {doubled(3)}")
    for given, error, words in ((kernpack.zeros((0,), "f32"), ValueError, "nothing to double"), (3, TypeError, "twice: x")):
        try:
            my_kernels.twice(given)
        except error as raised:
            if words not in str(raised):
                raise
        else:
            raise SystemExit("no error")
    print("calls work")


if __name__ == "__main__":
    main()
"""


def install(into: Path) -> Path:
    """kernpack and my_kernels in a new folder, with the metadata that wheels bring."""
    shutil.copytree(
        Path(kernpack.__file__).parent,
        into / "kernpack",
        ignore=shutil.ignore_patterns("__pycache__", "libkernpack_*.so"),
    )
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    _describe(into, "kernpack", points)
    (into / "my_kernels").mkdir()
    shutil.copy(kernpack.load_inline(KERNELS).path or "", into / "my_kernels/my_kernels.so")
    (into / "my_kernels/__init__.py").write_text(PACKAGE)
    _describe(into, "my_kernels", {"kernpack.modules": {"my_kernels": "my_kernels"}})
    (into / "uses.py").write_text(USES)
    return into


def _describe(into: Path, name: str, points: dict[str, dict[str, str]]) -> None:
    info = into / f"{name}-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0.0\n")
    groups = (
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in each.items()) for group, each in points.items()
    )
    (info / "entry_points.txt").write_text("\n".join(groups))
    rows = []
    for file in sorted((into / name).rglob("*")):
        if file.is_file():
            digest = base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).decode().rstrip("=")
            rows.append(f"{file.relative_to(into)},sha256={digest},{file.stat().st_size}\n")
    (info / "RECORD").write_text("".join(rows))


def environment(**more: str) -> dict[str, str]:
    """Nothing of this process's that programs elsewhere don't have."""
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **more}


def run(command: list[str | Path], env: dict[str, str], **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False, **options)  # type: ignore[call-overload, no-any-return]


def works(command: list[str | Path], env: dict[str, str], **options: object) -> None:
    done = run(command, env, **options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "calls work\n", ""), done.stdout + done.stderr


PYTHON = sys.executable
