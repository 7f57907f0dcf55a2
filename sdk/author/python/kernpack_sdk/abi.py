"""Which ABI a file is for, by the query symbols that it exports, and which one this SDK's headers are of."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from kernpack_sdk import __version__, include_dir

Version = tuple[int, int]

_QUERY = re.compile(r"^kp_(module|backend)_v(\d+)$")


@functools.cache
def version() -> Version:
    """Of kernpack/abi.h, which is the only place that says it."""
    text = (include_dir() / "kernpack" / "abi.h").read_text(encoding="utf-8")
    found = dict(re.findall(r"^#define KP_ABI_(MAJOR|MINOR) (\d+)$", text, re.MULTILINE))
    return int(found["MAJOR"]), int(found["MINOR"])


def text(of: Version) -> str:
    return f"{of[0]}.{of[1]}"


def majors(exports: Iterable[str], kind: str) -> list[int]:
    """The majors of the ABI that a file's "module" or "backend" query symbols are for, ascending."""
    return sorted(int(found[2]) for name in exports if (found := _QUERY.match(name)) and found[1] == kind)


def is_backend(exports: Iterable[str]) -> bool:
    """True if the file is a plugin with device backends, and isn't a kernel module."""
    names = list(exports)
    return bool(majors(names, "backend")) and not majors(names, "module")


def refusal(exports: Iterable[str]) -> str | None:
    """Why this SDK's tools cannot say more of a module or backend: it is of another major. None where they can, and where the
    file is neither."""
    names = list(exports)
    kind = "backend" if is_backend(names) else "module"
    known = version()[0]
    found = majors(names, kind)
    if not found or known in found:
        return None
    other = found[-1]
    remedy = (
        "run `pip install -U kernpack-sdk`"
        if other > known
        else f"install a newer build of the {kind}, or rebuild it with this version of kernpack-sdk"
    )
    return (
        f"needs a host of ABI {other}.x (it exports kp_{kind}_v{other}), this is kernpack-sdk {__version__} with ABI "
        f"{text(version())}, which reads every {known}.x; {remedy}"
    )
