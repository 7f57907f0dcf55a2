"""`kernpack check` compares what a wheel requires of torch with what its machine code needs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from audit_inputs import Pack
from kernpack_sdk import check

CXX = "_ZN2at4_ops5empty4callEv"  # as at::_ops::empty::call()
LICENCE = "License-Expression: Apache-2.0\n"
MEND = "require the release that it was built with, as in torch==2.13.*, or use torch's stable C API alone"


def shared_object(folder: Path, *symbols: str, defines: str = "f", name: str = "x.so") -> Path:
    """A shared object that needs these symbols and defines one."""
    calls = "".join(f'void need{i}(void) __asm__("{symbol}");\n' for i, symbol in enumerate(symbols))
    body = " ".join(f"need{i}();" for i in range(len(symbols)))
    source = f'{calls}void here(void) __asm__("{defines}");\nvoid here(void) {{ {body} }}\n'
    command = ["gcc", "-shared", "-fPIC", "-Wl,-z,relro,-z,now,-z,noexecstack", "-x", "c", "-", "-o", folder / name]
    subprocess.run(command, input=source, text=True, check=True)
    return folder / name


def said(pack: Pack, files: dict[str, Path | str], requires: str) -> list[tuple[str, bool]]:
    wheel = pack(files, name="theirs", metadata=LICENCE + requires)
    return [(each.text.removeprefix(f"{wheel.name}: "), each.serious) for each in check.audit(wheel)]


@pytest.mark.parametrize(
    ("requires", "problem"),
    [
        ("", f"but METADATA doesn't require torch; {MEND}"),
        ("Requires-Dist: torch\n", f"but METADATA allows several (torch); {MEND}"),
        ("Requires-Dist: torch>=2.4,<2.7\n", f"but METADATA allows several (torch<2.7,>=2.4); {MEND}"),
        ('Requires-Dist: torch==2.13.0; extra == "gpu"\n', f"but METADATA doesn't require torch; {MEND}"),
        ("Requires-Dist: torch==2.13.*\n", None),
        ("Requires-Dist: torch==2.13.0\n", None),
        ("Requires-Dist: torch==2.5.1+cu121\n", None),
    ],
)
def test_code_of_one_release_of_torch(pack: Pack, tmp_path: Path, requires: str, problem: str | None) -> None:
    found = said(pack, {"theirs/x.so": shared_object(tmp_path, CXX)}, requires)
    what = f"x.so needs symbols of torch's C++ API ({CXX}), which change with each minor release of torch"
    assert found == ([] if problem is None else [(f"{what}, {problem}", True)])


@pytest.mark.parametrize("symbol", ["aoti_torch_empty_strided", "PyLong_FromLong", "_ZN6theirs2at5emptyEv"])
def test_code_of_any_release_needs_no_pin(pack: Pack, tmp_path: Path, symbol: str) -> None:
    files = {"theirs/x.so": shared_object(tmp_path, symbol)}
    assert said(pack, files, "Requires-Dist: torch>=2.10\n") == []


def test_a_pin_that_nothing_needs_is_noted(pack: Pack, tmp_path: Path) -> None:
    assert said(pack, {"theirs/x.so": shared_object(tmp_path)}, "Requires-Dist: torch==2.5.1\n") == [
        (
            "requires torch==2.5.1, but its machine code needs nothing of torch's C++ API; allow a range, as in torch>=2.5",
            False,
        )
    ]


def test_a_wheel_without_machine_code_may_pin_as_it_likes(pack: Pack) -> None:
    wheel = pack({"theirs/__init__.py": ""}, tag="py3-none-any", metadata=LICENCE + "Requires-Dist: torch==2.5.1\n")
    assert check.audit(wheel) == []


def test_symbols_that_the_wheel_brings_are_its_own(pack: Pack, tmp_path: Path) -> None:
    files: dict[str, Path | str] = {
        "theirs/x.so": shared_object(tmp_path, CXX),
        "theirs/y.so": shared_object(tmp_path, defines=CXX, name="y.so"),
    }
    assert said(pack, files, "") == []
