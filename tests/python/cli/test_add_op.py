"""`kernpack add-op`: what it writes and what it refuses. tests/python/examples/test_new.py builds the op and runs its test."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from kernpack_sdk import add_op, template
from kernpack_sdk.cli import main

CLANG_FORMAT = shutil.which("clang-format-19")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return _project(tmp_path, monkeypatch)


def _project(folder: Path, monkeypatch: pytest.MonkeyPatch, **options: bool) -> Path:
    root = folder / "Fast-Norms"
    template.write(root, root.name, template.Options(**options))
    monkeypatch.chdir(root)
    return root


def _files(root: Path) -> dict[str, str]:
    return {str(file.relative_to(root)): file.read_text() for file in root.rglob("*") if file.is_file()}


def test_what_it_writes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = _files(project)
    assert main(["add-op", "cube_2"]) == 0
    said = capsys.readouterr().out
    after = _files(project)
    assert set(after) - set(before) == {"src/cube_2.cc", "tests/test_cube_2.py"}
    assert "SOURCES src/fast_norms.cc src/cube_2.cc DESTINATION" in after["CMakeLists.txt"]
    assert {name for name in before if before[name] != after[name]} == {"CMakeLists.txt"}
    assert 'k = kernpack.load("fast_norms")' in after["tests/test_cube_2.py"]
    for line in ("void Cube2(", "KP_EXPORT(cube_2, Cube2, ", "KP_GRAD(cube_2, cube_2_backward);"):
        assert line in after["src/cube_2.cc"]
    assert not any(left in after[f"{name}"] for name in after for left in ("my_op", "MyOp", "my_kernels"))
    for line in ("src/cube_2.cc: kernel, contract and gradient of cube_2", "  python -m pytest tests/test_cube_2.py"):
        assert line in said.splitlines()
    python = ["--line-length", "120", str(project)]
    subprocess.run([sys.executable, "-m", "ruff", "check", "-q", "--isolated", *python], check=True)
    subprocess.run([sys.executable, "-m", "ruff", "format", "-q", "--check", "--isolated", *python], check=True)
    if CLANG_FORMAT is None:
        pytest.skip("clang-format-19 isn't installed: the C++ file's format was not looked at")
    subprocess.run([CLANG_FORMAT, "--dry-run", "--Werror", str(project / "src/cube_2.cc")], check=True)


def test_from_elsewhere_and_as_json(project: Path, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(project.parent)
    assert main(["add-op", "cube", "Fast-Norms", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"op": "cube", "source": "src/cube.cc", "test": "tests/test_cube.py"}
    assert main(["add-op", "square", "Fast-Norms"]) == 0
    assert "  cd Fast-Norms" in capsys.readouterr().out.splitlines()
    assert "src/fast_norms.cc src/cube.cc src/square.cc DESTINATION" in (project / "CMakeLists.txt").read_text()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("kernpack_add_module(m SOURCES m.cc)", "kernpack_add_module(m SOURCES m.cc cube.cc)"),
        (
            "# kernpack_add_module(old SOURCES old.cc)\nkernpack_add_module(m VARIANT_SOURCES v.cc VARIANTS x86-64-v2\n"
            "    SOURCES m.cc # all of it: KP_MODULE\n            README.cc # the last\n    GLIBC 2.28)",
            "# kernpack_add_module(old SOURCES old.cc)\nkernpack_add_module(m VARIANT_SOURCES v.cc VARIANTS x86-64-v2\n"
            "    SOURCES m.cc # all of it: KP_MODULE\n            README.cc cube.cc # the last\n    GLIBC 2.28)",
        ),
        (
            "kernpack_add_module(m SOURCES ${MORE} m.cc CUDA_ARCHITECTURES 80 90)",
            "kernpack_add_module(m SOURCES ${MORE} m.cc cube.cc CUDA_ARCHITECTURES 80 90)",
        ),
    ],
)
def test_the_source_is_listed_where_cmake_reads_it(tmp_path: Path, written: str, expected: str) -> None:
    """Of a project that `kernpack new` didn't write: its source isn't in src/."""
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "m"\n')
    (tmp_path / "m.cc").write_text('KP_MODULE("m", "1");\n')
    (tmp_path / "CMakeLists.txt").write_text(f"project(m LANGUAGES CXX)\n{written}\n")
    assert add_op.add(tmp_path, "cube").source == Path("cube.cc")
    assert (tmp_path / "CMakeLists.txt").read_text() == f"project(m LANGUAGES CXX)\n{expected}\n"
    assert (tmp_path / "cube.cc").is_file()


@pytest.mark.parametrize("name", ["2cube", "Cube", "fast-cube", "cube!", "", "lambda", "würfel", "a.b"])
def test_a_name_that_no_op_can_have(project: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = _files(project)
    assert main(["add-op", name]) == 2
    said = f"'{name}' can't be an op's name: expected lower-case letters, digits and '_', as in fused_norm"
    assert capsys.readouterr().err.startswith(f"kernpack add-op: {said}\nUsage: kernpack add-op ")
    assert _files(project) == before


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("swish", "src/fast_norms.cc exports 'swish' already; choose another name"),
        ("swish_backward", "src/fast_norms.cc exports 'swish_backward' already; choose another name"),
        ("fast_norms", "src/fast_norms.cc is there already; choose another name"),
        ("mine", "tests/test_mine.py is there already; choose another name"),
        ("half", "src/more.cc exports 'half_backward' already; choose another name"),
        ("chosen", "src/more.cc exports 'chosen' already; choose another name"),
    ],
)
def test_a_name_that_is_taken(project: Path, name: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "tests/test_mine.py").touch()
    (project / "src/more.cc").write_text(
        'KP_EXPORT(half_backward, F, "");\nKP_EXPORT_FOR("llvm -mcpu=x86-64-v3", chosen, G);\n'
    )
    before = _files(project)
    assert main(["add-op", name]) == 1
    assert capsys.readouterr().err == f"kernpack add-op: {project}/{said}\n"
    assert _files(project) == before


def test_where_there_is_no_project(tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    start = "run this in a project's folder, or start one: kernpack new NAME"
    assert main(["add-op", "cube"]) == 1
    assert capsys.readouterr().err == f"kernpack add-op: {tmp_path}: no pyproject.toml here; {start}\n"
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "plain"\n')
    assert main(["add-op", "cube"]) == 1
    assert "CMakeLists.txt: expected one kernpack_add_module(... SOURCES ...), found none" in capsys.readouterr().err
    call = "kernpack_add_module(a SOURCES a.cc)\n"
    (tmp_path / "CMakeLists.txt").write_text(call * 2)
    assert main(["add-op", "cube"]) == 1
    assert "SOURCES ...), found 2 of them" in capsys.readouterr().err
    assert main(["add-op", "cube", "nowhere"]) == 2
    assert "FOLDER: directory 'nowhere' does not exist" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["CMakeLists.txt", "pyproject.toml"]


def test_a_module_in_c_has_a_table_by_hand(tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    project = _project(tmp_path, monkeypatch, c=True)
    before = _files(project)
    assert main(["add-op", "cube"]) == 1
    assert "has a line KP_MODULE(...): add-op writes C++ for modules that are made by it" in capsys.readouterr().err
    assert _files(project) == before


@pytest.mark.parametrize("option", ["cuda", "python"])
def test_other_projects_of_kernpack_new(tmp_path: Path, monkeypatch, option: str) -> None:
    project = _project(tmp_path, monkeypatch, **{option: True})
    assert main(["add-op", "cube"]) == 0
    text = (project / "CMakeLists.txt").read_text()
    after = "src/axpy.cu src/fast_norms.cc src/cube.cc\n" if option == "cuda" else "src/fast_norms.cc src/cube.cc "
    assert f"SOURCES {after}" in text
