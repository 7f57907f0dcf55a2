"""`kernpack new`: names, folders, and that what it writes is in the formatters' style. tests/python/examples/test_new.py builds it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

CLANG_FORMAT = shutil.which("clang-format-19")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("-x", "no option '-x'"),
        ("1norm", "'1norm' can't be a project's name: expected letters, digits, '-', '_' and '.', as in fast-norms"),
        ("näme", "can't be a project's name"),
        ("with space", "can't be a project's name"),
        ("class", "'class' would be imported as 'class', which is taken; choose another name, such as class-kernels"),
        ("torch", "would be imported as 'torch', which is taken"),
        ("json", "would be imported as 'json', which is taken"),
        ("full", "the folder full isn't empty; choose another name, or remove it first"),
        ("file", "file is there already, and isn't a folder; remove it, or choose another name"),
    ],
)
def test_bad_names_and_places(command, tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.txt").touch()
    (tmp_path / "file").touch()
    done = command("new", name, cwd=tmp_path)
    assert done.returncode == (1 if name in ("full", "file") else 2)
    assert said in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "full"]


def test_c_and_cuda_exclude_each_other(command, tmp_path: Path) -> None:
    assert "--c and --cuda don't go together" in command("new", "both", "--c", "--cuda", cwd=tmp_path).stderr


@pytest.mark.parametrize("options", [(), ("--c",), ("--cuda",), ("--with-python",)])
def test_what_it_writes(command, tmp_path: Path, options: tuple[str, ...]) -> None:
    done = command("new", "Fast-Norms.x", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    project = tmp_path / "Fast-Norms.x"
    texts = {file: file.read_text() for file in project.rglob("*") if file.is_file()}
    assert not any(
        left in text for text in texts.values() for left in ("my_kernels", "my-kernels", "@SDK@", "@SOURCES@")
    )
    about = tomllib.loads(texts[project / "pyproject.toml"])
    assert about["project"]["name"] == "Fast-Norms.x"
    assert about["project"]["entry-points"]["kernpack.modules"] == {"fast_norms_x": "fast_norms_x"}
    for name in (".gitignore", ".clangd", ".github/workflows/ci.yml", "README.md", "CMakeLists.txt"):
        assert project / name in texts
    assert "/dist/" in texts[project / ".gitignore"]
    python = ["--line-length", "120", str(project)]
    subprocess.run([sys.executable, "-m", "ruff", "check", "-q", "--isolated", *python], check=True)
    subprocess.run([sys.executable, "-m", "ruff", "format", "-q", "--check", "--isolated", *python], check=True)
    sources = [str(file) for file in texts if file.suffix in (".cc", ".c", ".cu")]
    if CLANG_FORMAT is None:
        pytest.skip("clang-format-19 isn't installed: the C++ files' format was not looked at")
    subprocess.run([CLANG_FORMAT, "--dry-run", "--Werror", *sources], check=True)
