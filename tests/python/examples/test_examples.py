"""Each folder of examples/ is copied away, built as an outsider would, and run.

pyproject.toml: `pip wheel` in build isolation, then main.py against the wheel. CMakeLists.txt alone: configured with the
installed CMake package, built, and its tests run by ctest. main.py alone: run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import gallery

ROOT = Path(__file__).resolve().parents[3]
# minilm: make quickstart runs it; chat: test_chat.py; minilm_train: test_minilm_train.py; port_*: test_ports.py; devices, codegen,
# programs, ship_python and ship_triton: tests of their own; what its README builds with CMake: tests/python/docs/test_blocks.py
ELSEWHERE = ("chat", "minilm", "minilm_train", "devices", "codegen", "programs", "ship_python", "ship_triton")
EXAMPLES = sorted(
    p
    for p in (ROOT / "examples").iterdir()
    if p.is_dir()
    and p.name not in ELSEWHERE
    and not p.name.startswith("port_")
    and not ((p / "README.md").is_file() and gallery.is_built_by_its_page(p))
)


def _run(*command: str | Path, cwd: Path, path: Path | None = None) -> str:
    environment = {**os.environ, "PIP_FIND_LINKS": f"{(ROOT / 'dist').as_uri()} {os.environ.get('PIP_FIND_LINKS', '')}"}
    if path is not None:
        environment["PYTHONPATH"] = f"{path}:{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


def _beside_minilm(name: str, folder: Path, *first: Path, arguments: tuple[str, ...] = ()) -> str:
    """Runs main.py of an example that takes its model from ../minilm, in copies of both; `first` are found before what we have."""
    for example in ("minilm", name):
        shutil.copytree(ROOT / "examples" / example, folder / example, dirs_exist_ok=True)
    path = os.pathsep.join([*map(str, first), *filter(None, sys.path)])
    return _run(sys.executable, folder / name / "main.py", *arguments, cwd=folder, path=Path(path))


def _wheel(project: Path, site: Path) -> None:
    pip = (sys.executable, "-m", "pip")
    _run(*pip, "wheel", "--no-deps", "--no-cache-dir", "-w", project / "dist", project, cwd=project)
    (wheel,) = (project / "dist").glob("*.whl")
    assert wheel.name.endswith("-py3-none-manylinux_2_28_x86_64.whl")
    _run(*pip, "install", "--no-deps", "--no-index", "--target", site, wheel, cwd=project)


def _cmake(project: Path) -> str:
    """The output of the project's first test."""
    prefix = ROOT / "build/install"
    if not prefix.is_dir():
        pytest.fail("build/install is missing: build the preset dev, cmake --install build/dev --prefix build/install")
    python = f"-DPython_EXECUTABLE={sys.executable}"
    _run("cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", python, cwd=project)
    _run("cmake", "--build", "build", cwd=project)
    return gallery.printed(_run(*gallery.CTEST, cwd=project))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.name)
def test_each_example_runs(example: Path, tmp_path: Path) -> None:
    project, site = tmp_path / example.name, tmp_path / "site"
    shutil.copytree(example, project)
    assert (project / "README.md").is_file(), f"examples/{example.name} has no README.md"
    main, printed = project / "main.py", ""
    if (project / "pyproject.toml").is_file():
        _wheel(project, site)
    elif (project / "CMakeLists.txt").is_file():
        printed = _cmake(project)
    else:
        assert main.is_file(), f"examples/{example.name}: expected pyproject.toml, CMakeLists.txt or main.py"
    if main.is_file():
        printed = _run(sys.executable, main, cwd=tmp_path, path=site)
    assert printed.strip()
    assert gallery.shown(example.name) in (None, printed)


def test_the_gallery_shows_what_examples_print() -> None:
    examples = {path.name for path in (ROOT / "examples").iterdir() if gallery.shown(path.name)}
    assert examples >= {"c_host", "custom_device", "inline"}
