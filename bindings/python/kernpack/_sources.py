"""kernpack.load of sources: C++, C or CUDA files, compiled once and kept."""

from __future__ import annotations

import dataclasses
import functools
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernpack import _compile
from kernpack._load import load
from kernpack._module import Module

LANGUAGES = {".cc": "c++", ".cpp": "c++", ".cxx": "c++", ".c": "c", ".cu": "cuda"}


def load_sources(files: Sequence[str], *, probe: bool = False, with_cuda: bool | None = None, **options: Any) -> Module:
    """One module of these files; see kernpack.load."""
    made = _compile.options("kernpack.load", **options)
    again = functools.partial(load_sources, tuple(files), probe=probe, with_cuda=with_cuda, **options)
    sources = [Path(file).absolute() for file in files]
    for source in sources:
        if source.suffix not in LANGUAGES:
            raise ValueError(
                f"kernpack.load: expected sources ({', '.join(LANGUAGES)}) or built modules, not both; got {source.name} "
                "among sources"
            )
        if not source.is_file():
            raise FileNotFoundError(f"kernpack.load: no file {source}")
        if '"' in str(source) or "\n" in str(source):
            raise ValueError(f"kernpack.load: {str(source)!r}: a quote or a line break can't be in a source's path")
    made = dataclasses.replace(made, source_folders=(os.path.commonpath([source.parent for source in sources]),))
    languages = [LANGUAGES[source.suffix] for source in sources]
    if with_cuda:  # torch's option: .cc files that include CUDA's headers are nvcc's too
        languages = ["cuda" if language == "c++" else language for language in languages]
    name = re.sub(r"\W", "_", sources[0].stem)
    if len(sources) == 1 and languages[0] != "c":
        path = _compile.module(_compile.including(sources[0]), languages[0], name, made)
    else:
        path = _compile.objects_and_link(sources, languages, name, made)
    module = _loaded(path, sources, probe)
    module._rebuild = again
    return module


def _loaded(path: Path, sources: Sequence[Path], probe: bool) -> Module:
    try:
        return load(path, probe=probe)
    except (OSError, ValueError, ImportError) as error:
        if "KP_MODULE" in "".join(source.read_text(encoding="utf-8", errors="replace") for source in sources):
            raise
        named = ", ".join(source.name for source in sources)
        raise ValueError(
            f'kernpack.load: {named}: no module; one source needs KP_MODULE("name", "1.0.0"), and each function a KP_EXPORT '
            f"line ({error})"
        ) from None
