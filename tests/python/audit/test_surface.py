"""The stub of a package whose author wrote an `__init__.py`: both are told, and neither contradicts the other."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path

import kernpack
import pytest
from audit_inputs import Pack
from kernpack_sdk import check, stubs, surface, table, wheel

KERNELS = [
    table.Function("copy", None, "(x: f32[N]) -> (out: f32[N])", None, None),
    table.Function("twice", None, "(x: f32[N]) -> (out: f32[N])", None, None),
]
STUB = stubs.render(KERNELS)

OFFERS_ALL = """\
import numpy as np
from kernpack import load as _load

LIMIT = 3
names: list[str] = []


def rope_tables(size: int, *, base: float = 1e4) -> np.ndarray:
    \"\"\"Cosines and sines.\"\"\"
    return np.zeros(size)


def twice(x: np.ndarray) -> np.ndarray:
    return 2 * x


class Cache:
    size: int

    def grow(self, by: int) -> None:
        self.size += by


def __getattr__(name):
    return getattr(_load(__name__), name)
"""
OFFERS_ONE = "import kernpack\n\n_k = kernpack.load(__name__)\ncopy = _k.copy\n"


def mypy(folder: Path, program: str) -> str:
    (folder / "use.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", "--cache-dir", "/dev/null", "use.py"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout


def package(folder: Path, init: str) -> Path:
    made = folder / "my_kernels"
    made.mkdir()
    (made / "__init__.py").write_text(init)
    wheel._add_stub(made, KERNELS)
    return made


def test_mypy_accepts_what_the_author_wrote(tmp_path: Path) -> None:
    package(tmp_path, OFFERS_ALL)
    good = "import my_kernels as m\nt = m.rope_tables(3, base=2.0)\nm.copy(t)\nm.twice(t)\nm.Cache().grow(m.LIMIT)\nm.names.append('')\n"
    wrong = {
        "m.rope_table(3)": 'Module has no attribute "rope_table"',
        "m.rope_tables('3')": 'Argument 1 to "rope_tables" has incompatible type "str"',
        "m.copy(t, size=3)": 'Unexpected keyword argument "size" for "copy"',
        "m.Cache().shrink()": '"Cache" has no attribute "shrink"',
    }
    said = [line for line in mypy(tmp_path, good + "\n".join(wrong) + "\n").splitlines() if ": error: " in line]
    first = good.count("\n") + 1
    for number, (line, (text, expected)) in enumerate(zip(said, wrong.items(), strict=True)):
        assert line.startswith(f"use.py:{first + number}: error: {expected}"), (text, line)


def test_mypy_refuses_what_is_not_there(tmp_path: Path) -> None:
    package(tmp_path, OFFERS_ONE)
    said = mypy(tmp_path, "import my_kernels as m\nm.copy(1)\nm.twice(1)\n")
    assert 'Module has no attribute "twice"' in said
    assert "copy" not in said


def test_an_init_that_we_wrote_and_one_that_is_no_python(tmp_path: Path) -> None:
    for init in (surface.INIT, "def broken(:\n"):
        folder = tmp_path / str(len(init))
        folder.mkdir()
        assert (package(folder, init) / "__init__.pyi").read_text() == STUB


@pytest.mark.parametrize("init", [OFFERS_ALL, OFFERS_ONE, surface.INIT])
def test_merged_stubs_contradict_nothing(tmp_path: Path, init: str) -> None:
    assert list(surface.contradictions(package(tmp_path, init), {"copy", "twice"})) == []


def test_contradictions_in_a_wheel(pack: Pack, plain: Path) -> None:
    """As the stub was written before it was merged."""
    made = pack(
        {
            "my_kernels/my_kernels.so": plain,
            "my_kernels/__init__.py": "import kernpack\n\ndef rope_tables(): ...\n",
            "my_kernels/__init__.pyi": stubs.render(KERNELS[:1]),
        }
    )
    assert check.check(made) == [
        f"{made.name}: my_kernels/__init__.pyi lacks rope_tables, which __init__.py defines; delete the stub, and the build writes "
        "one that fits",
        f"{made.name}: my_kernels/__init__.pyi promises the kernel copy, which __init__.py doesn't have; delete the stub, and the "
        "build writes one that fits, or define it there",
    ]


def test_the_init_that_we_wrote_finds_the_module_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Finding a package by name reads the metadata of everything installed: milliseconds for each use of a kernel."""
    loads = []

    def load(name: str) -> types.SimpleNamespace:
        loads.append(name)
        return types.SimpleNamespace(rms_norm=len)

    monkeypatch.setattr(kernpack, "load", load)
    made = types.ModuleType("my_kernels")
    exec(surface.INIT, made.__dict__)
    assert made.rms_norm("abc") == made.rms_norm("def") == 3
    assert "rms_norm" in dir(made)
    assert loads == ["my_kernels"]
    with pytest.raises(AttributeError):
        made.rms_norms  # noqa: B018
