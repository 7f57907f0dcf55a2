"""`kernpack import`, and kernpack_import_kernel() of CMake, which runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from kernpack import _cli

kc = pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")

if "llvm" not in kc.list_generators():
    pytest.skip("LLVM makes the functions that launch imported kernels", allow_module_level=True)

ROWS = Path(__file__).parents[1] / "compiler/rows.ptx"
GIVEN = {
    "entry": "normalise",
    "contract": "(x: f32[R, N], k: float = 1.0) -> (y: f32[R, N])",
    "args": "x, y, N, k",
    "grid": "R",
    "block": "32",
    "shared": "128",
}
CALL = """
import sys
import kernpack, numpy as np
k = kernpack.load(sys.argv[1])
x = kernpack.from_dlpack(np.ones((2, 4), np.float32)).to("cuda")
print(*sorted(k.functions), np.from_dlpack(k.normalise(x, k=8.0).to("cpu")).tolist())
"""


def words(*files: object, **changed: str) -> list[str]:
    options = {**GIVEN, **changed}
    return ["import", *map(str, files or [ROWS]), *(f"--{name}={text}" for name, text in options.items() if text)]


def call(module: Path) -> str:
    pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    done = subprocess.run(
        [sys.executable, "-c", CALL, module],
        env={**os.environ, "KERNPACK_EMULATOR": "sm_80"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


def test_a_module(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "made" / "rows.so"
    assert _cli.main([*words(out=str(out)), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "file": str(out),
        "function": "normalise",
        "targets": ["cuda -arch=compute_80"],
    }
    assert call(out) == f"normalise {[[2.0] * 4] * 2}"


def test_a_wheel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _cli.main(words(out=str(tmp_path / "my_rows-1.2.0.whl"))) == 0
    (made,) = tmp_path.iterdir()
    assert made.name.startswith("my_rows-1.2.0-py3-none-manylinux_")
    assert capsys.readouterr().out == f"{made}: normalise{GIVEN['contract']} for cuda -arch=compute_80\n"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"entry": "normalize"}, "expected a kernel named 'normalize', got code with these kernels: add, normalise; pass --entry"),
        ({"entry": ""}, "expected code with one kernel, or --entry, got code with these kernels: add, normalise"),
        ({"args": "x, y, N"}, "has 4: .u64, .u64, .u32, .f32 parameters, got 3 arguments: x, y, N"),
        ({"args": "x, y, k, k"}, "parameter 2 of kernel 'normalise' (.u32) takes an integer, got 'k', a float"),
        ({"args": "x, y, i16(N), k"}, "(.u32): expected a value of that size and kind, got 'i16(N)', of type i16"),
        ({"grid": "0"}, "normalise: grid.x: expected a whole number from 1 to 2^31 - 1, got 0"),
        ({"grid": "4000000000"}, "normalise: grid.x: expected a whole number from 1 to 2^31 - 1, got 4000000000"),
        ({"grid": "1, 1, 1, 1"}, "normalise: grid: expected 1 to 3 extents, got 4"),
        ({"block": "2048"}, "block: expected at most 1024 threads, for which kernel 'normalise' is compiled, got 2048"),
        ({"cluster": "32"}, "cluster: expected 1 to 3 numbers from 1 to 16, got (32,)"),
        ({"contract": "(x: f32[N"}, "normalise"),
        ({"shared": "M"}, "shared: 'M': the contract has no dim or scalar 'M'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(
    changed: dict[str, str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _cli.main([*words(out=str(tmp_path / "rows.so"), **changed), "--json"]) == _cli.FAILED
    shown = capsys.readouterr()
    assert said in json.loads(shown.out)["error"]
    assert shown.err.startswith("kernpack import: ")
    assert not list(tmp_path.iterdir())


def test_code_for_another_architecture_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _cli.main(words(f"sm_90={ROWS}", out=str(tmp_path / "rows.so"))) == _cli.FAILED
    assert "expected code for sm_90, got PTX for compute_80; compile it with -arch=sm_90" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["none.ptx", "--contract=c", "--grid=1", "--out=a.so"], "none.ptx: no such file"),
        ([ROWS, "--contract=c", "--grid=1"], "missing argument --out"),
        ([ROWS, "--contract=c", "--grid=1", "--out=a.zip"], "--out: expected a file such as my_ops-1.0.0.whl or my_ops.so, got 'a.zip'"),
        ([ROWS, "--contract=c", "--grid=1", "--out=a.whl"], "--out: expected a file such as my_ops-1.0.0.whl or my_ops.so, got 'a.whl'"),
        ([ROWS, "--contract=c", "--grid=(", "--out=a.so"], "--grid: '(': expected expressions with commas between"),
        ([ROWS, "--contract=c", "--grid=1", "--cluster=a", "--out=a.so"], "--cluster: expected up to three whole numbers, got 'a'"),
        ([ROWS, f"sm_80={ROWS}", "--contract=c", "--grid=1", "--out=a.so"], "FILE: expected each file with another architecture"),
    ],
)  # fmt: skip
def test_a_wrong_command_line(given: list[object], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _cli.main(["import", *map(str, given)]) == _cli.USAGE
    first, usage, help_ = capsys.readouterr().err.splitlines()
    assert first.startswith(f"kernpack import: {said}")
    assert usage == "Usage: kernpack import [OPTIONS] FILE..."
    assert help_ == "Help: kernpack import --help"


def test_without_the_compiler_the_package_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "kernpack_compiler._command", None)
    assert _cli.main(["import", "a.ptx"]) == _cli.MISSING
    assert capsys.readouterr().err.endswith("install it: pip install kernpack-compiler\n")


SAXPY = Path(__file__).parents[3] / "examples/c_module/saxpy.c"  # C compiles at once
PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(my_ops LANGUAGES C)
find_package(kernpack REQUIRED)
kernpack_add_module(saxpy SOURCES "{SAXPY}" DESTINATION my_ops)
kernpack_import_kernel({TARGET} FILES "{ROWS}" ENTRY normalise CONTRACT "(x: f32[R, N], k: float = 1.0) -> (y: f32[R, N])"
                       ARGS "x, y, N, k" GRID "{GRID}" BLOCK 32 SHARED 128 MODULE c_module {MORE})
"""


def test_blocks_that_wait_for_each_other_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kernpack_compiler import _imports

    made = []
    real = _imports.import_kernel
    monkeypatch.setattr(_imports, "import_kernel", lambda *args, **given: made.append(real(*args, **given)) or made[-1])
    for more in ([], ["--cooperative"]):
        assert _cli.main([*words(out=str(tmp_path / "rows.so")), *more]) == 0
    assert [binary.cooperative for function in made for _, binary, _ in function.kernels] == [False, True]


def cmake(folder: Path, target: str = "saxpy", grid: str = "R", more: str = "") -> str:
    """Returns the text printed by the commands, until one failed."""
    from kernpack_sdk import cmake_dir

    text = PROJECT.replace("{ROWS}", str(ROWS)).replace("{SAXPY}", str(SAXPY)).replace("{TARGET}", target)
    (folder / "CMakeLists.txt").write_text(text.replace("{GRID}", grid).replace("{MORE}", more))
    build = folder / "build"
    commands: list[list[str | Path]] = [
        ["cmake", "-S", folder, "-B", build, f"-Dkernpack_DIR={cmake_dir()}", f"-DKERNPACK_PYTHON={sys.executable}"],
        ["cmake", "--build", build],
        ["cmake", "--install", build, "--prefix", folder / "installed"],
    ]
    shown = ""
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        shown += " ".join((done.stdout + done.stderr).split())
        if done.returncode:
            break
    return shown


def test_a_module_of_c_takes_a_kernel_in(tmp_path: Path) -> None:
    shown = cmake(tmp_path, more="COOPERATIVE")
    folder = tmp_path / "installed/my_ops"
    assert folder.is_dir(), shown
    assert sorted(file.name for file in folder.iterdir()) == ["saxpy.so", "saxpy_normalise.so"]
    assert call(folder) == f"normalise saxpy {[[2.0] * 4] * 2}"


def test_cmake_says_what_does_not_fit(tmp_path: Path) -> None:
    assert "there is no target other; call kernpack_add_module(other ...) before" in cmake(tmp_path, "other")
    assert "kernpack_import_kernel(saxpy): GRID is empty; FILES, ENTRY, CONTRACT and GRID are needed" in cmake(
        tmp_path, grid=""
    )
    assert "unknown argument 'WARPS 4'; the arguments are FILES, CONTRACT, GRID" in cmake(tmp_path, more="WARPS 4")
    assert "kernpack import: normalise: grid.x: expected a whole number from 1" in cmake(tmp_path, grid="0")
