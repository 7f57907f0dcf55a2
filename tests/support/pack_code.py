"""Single kernels of the pack for CUDA devices, compiled for the emulated device without the others, whose code takes minutes."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

KERNELS = Path(__file__).resolve().parents[2] / "kernels"


def compile_for_sm90(source: Path, folder: Path, *, without: str = "") -> None:
    """The PTX of a `*_sm90.cu`, as FOLDER/*_sm90.fatbin; `without` the line of its source."""
    text = source.read_text()
    if without:
        assert text.count(f"{without}\n") == 1, f"{source.name} has no line {without!r}"
        text = text.replace(f"{without}\n", "")
    copy = folder / source.name
    copy.write_text(text)
    code = "-gencode=arch=compute_90a,code=compute_90a"
    folders = (f"-I{KERNELS}", f"-I{source.parent}")
    subprocess.run(
        ["nvcc", "-std=c++17", "-O3", "-fatbin", code, *folders, copy, "-o", copy.with_suffix(".fatbin")], check=True
    )


def load_op(source: Path, folder: Path, compiled: str, *others: str) -> Any:
    """The module of an `*_op.cc` with the code of `compiled` from FOLDER. That of `others` is left empty: a call that needs it fails."""
    import kernpack

    _embed(folder, compiled, (folder / f"{compiled}.fatbin").read_bytes())
    for other in others:
        _embed(folder, other, b"\0")
    text = f'{source.read_text()}\nKP_MODULE("{compiled}", "1.0");\n'
    return kernpack.load_inline(text, include_paths=[KERNELS, source.parent, folder], build_directory=folder)


def _embed(folder: Path, name: str, code: bytes) -> None:
    """The header that CMake makes of a file of code."""
    numbers = ",".join(str(byte - 256 if byte > 127 else byte) for byte in code)
    text = f"#pragma once\nnamespace device_code {{ inline constexpr char {name}_fatbin[] = {{{numbers}}}; }}\n"
    (folder / f"{name}.fatbin.h").write_text(text)
