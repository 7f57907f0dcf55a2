"""Single kernels of the pack for CUDA devices, compiled for the emulated device without the others, whose code takes minutes."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

KERNELS = Path(__file__).resolve().parents[2] / "kernels"


def compile_kernel(source: Path, folder: Path, *, without: Sequence[str] = ()) -> None:
    """The PTX of a `.cu`, as FOLDER/*.fatbin; `without` the lines of its source."""
    text = source.read_text()
    for line in without:
        assert text.count(f"{line}\n") == 1, f"{source.name} has no line {line!r}"
        text = text.replace(f"{line}\n", "")
    copy = folder / source.name
    copy.write_text(text)
    arch = "compute_90a" if source.stem.endswith("_sm90") else "compute_80"
    code = f"-gencode=arch={arch},code={arch}"
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
