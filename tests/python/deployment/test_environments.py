"""Kernels are called wherever Python programs live: options, variables and places that no developer's machine has."""

from __future__ import annotations

import os
import subprocess
import sys
import zipapp
from pathlib import Path

import deployed
import pytest
from deployed import PYTHON, environment, works

DEBUGGING_MALLOC = (
    "libc_malloc_debug.so.0"  # glibc's second allocator, which is everywhere; tcmalloc and jemalloc replace as much
)


@pytest.mark.parametrize(
    "options", [["-I"], ["-P"], ["-OO"], ["-s", "-E"], ["-X", "dev"], ["-B", "-S"]], ids=lambda words: " ".join(words)
)
def test_options_of_python(venv: Path, tmp_path: Path, options: list[str]) -> None:
    home = environment(HOME=str(tmp_path))
    if "-S" in options:  # which leaves site-packages out
        (packages,) = venv.glob("lib/python*/site-packages")
        home["PYTHONPATH"] = str(packages)
    works([venv / "bin/python", *options, "-c", "import uses; uses.main()"], home)


@pytest.mark.parametrize(
    "variables",
    [
        {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "POSIX"},
        {"LC_ALL": "tr_TR.UTF-8"},  # is rarely installed, and then no locale at all
        {"PYTHONSAFEPATH": "1"},
        {"PYTHONMALLOC": "debug"},
        {"LD_PRELOAD": DEBUGGING_MALLOC, "GLIBC_TUNABLES": "glibc.malloc.check=3"},
        {"LD_BIND_NOW": "1"},
        {"TMPDIR": "/dev/null/nowhere"},
        {"HOME": ""},
        {"HOME": "/dev/null/nobody"},
        {"HOME": "/dev/null/nobody", "XDG_CACHE_HOME": "/dev/null/cache"},
        {"XDG_CACHE_HOME": "relative"},
        {"KERNPACK_CACHE_DIR": "/dev/null/cache"},
    ],
    ids=lambda variables: " ".join(f"{name}={value.rpartition('/')[2]}" for name, value in variables.items()),
)
def test_variables(site: Path, tmp_path: Path, variables: dict[str, str]) -> None:
    given = {"HOME": str(tmp_path), **variables}
    works([PYTHON, "-c", "import uses; uses.main()"], environment(PYTHONPATH=str(site), **given), cwd=tmp_path)


def test_no_variables_at_all(venv: Path) -> None:
    works([venv / "bin/python", "-c", "import uses; uses.main()"], {})


def test_a_program_in_a_zip_file(site: Path, tmp_path: Path) -> None:
    source = tmp_path / "program"
    source.mkdir()
    (source / "__main__.py").write_text("import uses\nuses.main()\n")
    zipapp.create_archive(source, tmp_path / "program.pyz")
    works([PYTHON, tmp_path / "program.pyz"], environment(PYTHONPATH=str(site), HOME=str(tmp_path)))


def test_an_environment_that_was_moved(venv: Path, tmp_path: Path) -> None:
    program = ["-c", "import uses; uses.main()"]
    home = environment(HOME=str(tmp_path))
    works([venv / "bin/python", *program], home)
    moved = venv.rename(tmp_path / "elsewhere ü")
    works([moved / "bin/python", *program], home)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_packages_that_nobody_may_write(venv: Path, tmp_path: Path) -> None:
    subprocess.run(["chmod", "-R", "a-w", venv / "lib"], check=True)
    try:
        works([venv / "bin/python", "-c", "import uses; uses.main()"], environment(HOME=str(tmp_path)))
    finally:
        subprocess.run(["chmod", "-R", "u+w", venv / "lib"], check=True)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_multiprocessing(site: Path, tmp_path: Path, method: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import multiprocessing, uses\n"
        "if __name__ == '__main__':\n"
        "    uses.doubled(2)\n"
        f"    with multiprocessing.get_context({method!r}).Pool(2) as pool:\n"
        "        assert pool.map(uses.doubled, [1, 2, 3]) == [[0], [0, 2], [0, 2, 4]]\n"
        "    uses.main()\n"
    )
    works([PYTHON, program], environment(PYTHONPATH=str(site), HOME=str(tmp_path)))


def test_a_subinterpreter_is_refused_with_what_to_do_instead(site: Path, tmp_path: Path) -> None:
    name = "_xxsubinterpreters" if sys.version_info < (3, 13) else "_interpreters"
    shared = {(3, 11): "", (3, 12): "isolated=False"}.get(
        sys.version_info[:2], "'legacy'"
    )  # a GIL and modules of any kind
    program = f"import {name} as all\nall.run_string(all.create({shared}), 'import uses; uses.main()')"
    done = deployed.run([PYTHON, "-c", program], environment(PYTHONPATH=str(site), HOME=str(tmp_path)))
    assert "expected the main interpreter, got subinterpreter" in done.stdout + done.stderr
    assert "or use processes" in done.stdout + done.stderr
