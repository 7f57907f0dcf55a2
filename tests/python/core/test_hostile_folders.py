"""Compiling where folders are full, not ours to write, strangely named, or in use by another build."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import kernpack
import pytest

SOURCE = "int answer() { return 42; } // the file ends here"
PROGRAM = f"import kernpack; print(kernpack.load_inline({SOURCE!r}, ['answer'], name='tiny').answer())"
# Every write fails as on a full disk.
FULL = """
import errno, os, kernpack_sdk.cache.private as private
def full(*_): raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
private.write = private.put = full
"""


def run(program: str, cache: Path | str, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "KERNPACK_CACHE_DIR": str(cache), **environment}
    return subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, check=False)


def test_a_cache_that_cannot_be_made() -> None:
    done = run(PROGRAM, "/proc/kernpack-cache")
    assert "load_inline: the cache folder /proc/kernpack-cache" in done.stderr
    assert "cannot be written (No such file or directory): free some space, or set KERNPACK_CACHE_DIR" in done.stderr


def test_a_full_disk(tmp_path: Path) -> None:
    done = run(FULL + PROGRAM, tmp_path / "cache")
    assert "cannot be written (No space left on device): free some space, or set KERNPACK_CACHE_DIR" in done.stderr
    assert run(PROGRAM, tmp_path / "cache").stdout == "42\n"


@pytest.mark.parametrize("environment", [{}, {"LC_ALL": "C"}], ids=["utf8", "c"])
def test_names_with_spaces_quotes_and_letters_beyond_ascii(tmp_path: Path, environment: dict[str, str]) -> None:
    place = tmp_path / "ünï cöde $HOME 'quoted' (1)"
    place.mkdir()
    (place / "my header.h").write_text("#define ANSWER 42")  # nor does this end in a newline
    (place / "my ops.cc").write_text(
        '#include "my header.h"\n#include <kernpack/kernel.h>\nint answer() { return ANSWER; }\n'
        'KP_MODULE("my_ops", "1.0.0");\nKP_EXPORT(answer, answer);  // end'
    )
    program = "import os, sys, kernpack; print(kernpack.load(os.path.join(os.environ['PLACE'], 'my ops.cc')).answer())"
    done = run(program, place / "my cache", PLACE=str(place), **environment)
    assert done.stdout == "42\n", done.stderr
    (place / "my header.h").write_text("#define ANSWER 43")
    assert run(program, place / "my cache", PLACE=str(place), **environment).stdout == "43\n"


# Another build, which has just looked for what killed builds left, takes the first folder before this one could lock it.
TAKEN = """
import os, tempfile
make, taken = tempfile.mkdtemp, []
def mkdtemp(*arguments, **named):
    name = make(*arguments, **named)
    if not taken:
        taken.append(name)
        os.rmdir(name)
    return name
tempfile.mkdtemp = mkdtemp
"""


def test_a_folder_that_another_build_takes_for_one_of_a_killed_build(tmp_path: Path) -> None:
    done = run(f"{TAKEN}{PROGRAM}; print(len(taken))", tmp_path)
    assert done.stdout == "42\n1\n", done.stderr


def test_two_builds_at_once(tmp_path: Path) -> None:
    variables = {**os.environ, "KERNPACK_CACHE_DIR": str(tmp_path)}
    pipe = subprocess.PIPE
    both = [subprocess.Popen([sys.executable, "-c", PROGRAM], env=variables, stdout=pipe, text=True) for _ in range(2)]
    assert [process.communicate()[0] for process in both] == ["42\n", "42\n"]


def test_a_package_whose_init_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its modules load all the same: kernpack.load finds a package's files without importing it."""
    package = tmp_path / "raises_at_import"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('boom')")
    made = kernpack.load_inline(SOURCE, ["answer"], name="raises_at_import")
    (package / "ops.so").write_bytes(Path(made.path).read_bytes())
    monkeypatch.syspath_prepend(str(tmp_path))
    assert kernpack.load("raises_at_import").answer() == 42
    assert kernpack.load("raises-at-import").answer() == 42  # as pip spells it
