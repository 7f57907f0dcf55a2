"""Finds effects of a shared object on the process that loads it, by its file alone."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator

from kernpack_sdk.audit.image import Image
from kernpack_sdk.audit.tables import Module

OPENMP = re.compile(r"^lib(gomp|omp|iomp5)\b.*\.so")
# A slash first, for which `re` looks much faster than for what may not be before it.
_SOURCES = re.compile(
    rb"/(?<![\x21-\x7e]/)(?:home|root|tmp|build|builds|Users|github|__w|workspace|var/tmp|opt/_internal|project|io)/[\x21-\x7e]{1,400}?"
    rb"\.(?:c|cc|cpp|cxx|cu|h|hh|hpp|cuh|inl|tcc|rs|f|f90|pyx)(?=[\x00:\s\"'),])"
)
_CONSTANTS = {".rodata", ".data.rel.ro", ".rodata.str1.1", ".rodata.str1.8", ".rdata"}


@dataclasses.dataclass(frozen=True)
class Finding:
    """`serious`: whoever made the file has to mend it. What isn't is true, and may be meant."""

    text: str
    serious: bool = True


def findings(image: Image) -> Iterator[Finding]:
    """Problems of any shared object, of any project."""
    yield from map(Finding, image.faults())
    if image.is_x86_64:
        from kernpack_sdk.audit import startup  # with iced-x86, which builds do without

        for what in startup.findings(image):
            mend = _MENDS.get(what.partition(" ")[0], _MEND)
            yield Finding(f"{what}; {mend}")
    paths = sorted(set(_build_paths(image)))
    if paths:
        more = f", and {len(paths) - 1} more" if len(paths) > 1 else ""
        yield Finding(
            f"holds paths of the machine that built it ({paths[0]}{more}); compile with "
            f"-ffile-prefix-map={_common_folder(paths)}=.",
            serious=False,
        )


def _common_folder(paths: list[str]) -> str:
    """That of all paths; of the first one where they have only the root in common."""
    folders = [os.path.dirname(path) for path in paths]
    common = os.path.commonpath(folders)
    return folders[0] if common == "/" else common


_MEND = "nothing but KP_MODULE_INIT and the functions themselves should act on the process"
_MENDS = {
    "sets": "link without -ffast-math, -Ofast and -funsafe-math-optimizations (compile with them where that is meant)",
    "changes": _MEND,
    "prints": "remove the output, or log through kp::log in a call",
}


def of_module(image: Image, module: Module) -> Iterator[Finding]:
    """Further problems of a kernel module: code that isn't for the processor of its target."""
    if not image.is_x86_64:
        return
    from kernpack_sdk.audit.instructions import Disassembly, spelled

    disassembly = Disassembly(image)
    for variant in module.variants:
        beyond = disassembly.beyond(variant.address, variant.target)
        if beyond:
            sets = spelled(set().union(*beyond.values()))
            where = next((image.symbols[at] for at in beyond if at in image.symbols), None)
            yield Finding(
                f"{variant.name}: its code for {variant.target or 'any processor (the baseline, x86-64-v2)'} uses {sets}"
                + (f" (in {where})" if where else "")
                + " without checking the processor first, so it crashes on processors without that; compile it as a variant "
                "(VARIANTS of kernpack_add_module()), or without -march"
            )


def _build_paths(image: Image) -> Iterator[str]:
    """Of sources, in what is loaded: debug information isn't looked at."""
    for section in image.sections():
        if section.name in _CONSTANTS:
            yield from (found.decode("ascii") for found in _SOURCES.findall(section.data()))
