"""The public types against their committed description (libabigail).

A wanted change of the ABI: add a line to CHANGELOG.md, then `python tests/abi/test_abidiff.py` writes the description anew."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
INCLUDE = HERE.parents[1] / "ffi" / "include"
BASELINE = HERE / "baseline" / "v1.0.xml"
ABIDW = ["abidw", "--no-corpus-path", "--no-comp-dir-path", "--short-locs", "--no-show-locs"]


def compile_anchor(folder: Path, include: Path = INCLUDE) -> Path:
    out = folder / "libanchor.so"
    subprocess.run(
        [
            "gcc",
            "-std=c99",
            "-g",
            "-O0",
            "-shared",
            "-fPIC",
            "-fvisibility=hidden",
            f"-I{include}",
            HERE / "anchor.c",
            "-o",
            out,
        ],
        check=True,
    )
    return out


def abidiff(library: Path) -> subprocess.CompletedProcess[str]:
    assert shutil.which("abidiff"), "abidiff is missing; apt-get install abigail-tools"
    return subprocess.run(["abidiff", "--harmless", BASELINE, library], capture_output=True, text=True, check=False)


def test_no_change_since_the_baseline(tmp_path: Path) -> None:
    ran = abidiff(compile_anchor(tmp_path))
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_changed_table_is_noticed(tmp_path: Path) -> None:
    changed = tmp_path / "include"
    shutil.copytree(INCLUDE, changed)
    header = changed / "kernpack" / "abi.h"
    text = header.read_text()
    header.write_text(text.replace("  const void* spare[4];\n} KpModule;", "  const void* spare[5];\n} KpModule;"))
    assert header.read_text() != text
    ran = abidiff(compile_anchor(tmp_path, changed))
    assert ran.returncode != 0
    assert "KpModule" in ran.stdout


if __name__ == "__main__":
    BASELINE.parent.mkdir(exist_ok=True)
    subprocess.run(
        [*ABIDW, "--out-file", BASELINE, compile_anchor(Path(sys.argv[1] if len(sys.argv) > 1 else "/tmp"))], check=True
    )
