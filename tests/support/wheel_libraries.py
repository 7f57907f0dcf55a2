"""Libraries as wheels have them, and modules that need them, made with gcc."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

NOTE = r"""
__asm__(".pushsection .note.kernpack.needs,\"a\",%note\n.balign 4\n"
        ".long 2f - 1f\n.long 4f - 3f\n.long 1\n"
        "1: .asciz \"Kernpack\"\n2: .balign 4\n3: .ascii \"TEXT\"\n4: .balign 4\n.popsection\n");
"""


def note(*rows: tuple[str, str, str]) -> str:
    """C code of the note that says which wheel has which library: (file, requirement, folder)."""
    text = "".join("\\\\t".join(row) + "\\\\n" for row in rows)
    return NOTE.replace("TEXT", text)


def library(
    path: Path, code: str = "", *, soname: str | None = None, links: Sequence[Path] = (), answer: int = 42
) -> Path:
    """A shared object at the path, with a function that is called as the library is ("cublas_answer")."""
    path.parent.mkdir(parents=True, exist_ok=True)
    stem = path.name.removeprefix("lib").partition(".")[0]
    text = f"{code}\nint {stem}_answer(void) {{ return {answer}; }}\n"
    command = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", f"-Wl,-soname,{soname or path.name}"]
    command += ["-Wl,--no-as-needed", *map(str, links), "-o", str(path)]
    subprocess.run(command, input=text, text=True, check=True)
    return path


def distribution(site: Path, name: str, version: str) -> None:
    """The folder by which installers tell what is installed."""
    (site / f"{name.replace('-', '_')}-{version}.dist-info").mkdir(parents=True)
