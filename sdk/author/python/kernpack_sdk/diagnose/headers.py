"""Kernpack's C++ headers, and the names that they declare."""

from __future__ import annotations

import functools
import re
from pathlib import Path

_TYPE = re.compile(r"^(?:template *<[^;{]*>\s*)?(?:class|struct|enum class|enum)(?: +KP_\w+)? +(\w+)\b(?! *;)")
_ALIAS = re.compile(r"^using (\w+) *=")
_FUNCTION = re.compile(r"^(?:[\w:<>,&*]+ +)+\b([a-z]\w*)\([^;{]*[;{,&)]")
_MACRO = re.compile(r"^ *# *define +(KP_\w*[A-Z0-9])\b")


@functools.cache
def folder() -> Path | None:
    sdk = Path(__file__).resolve().parents[1]
    both = (sdk / "include", sdk.parents[3] / "ffi" / "include")
    return next((each / "kernpack" for each in both if (each / "kernpack").is_dir()), None)


@functools.cache
def header(name: str) -> str:
    place = folder()
    file = place / name if place else None
    return file.read_text(encoding="utf-8") if file and file.is_file() else ""


@functools.cache
def names() -> dict[str, str]:
    """What authors write after kp::, and the header that declares it. Nothing of namespace detail."""
    found: dict[str, str] = {}
    place = folder()
    for file in sorted(place.glob("*.h")) if place else []:
        inner = 0  # namespaces that aren't the author's
        for line in header(file.name).splitlines():
            if space := re.match(r"namespace (\w+) \{", line):
                if space[1] != "detail":
                    found.setdefault(space[1], file.name)
                inner += 1
            elif inner and line.startswith("}"):
                inner -= bool(re.match(r"\}  // namespace", line))
            if not inner:
                for pattern in (_TYPE, _ALIAS, _FUNCTION):
                    if (match := pattern.match(line)) and not re.match(r"kp_|Kp[A-Z]|operator", match[1]):
                        found.setdefault(match[1], file.name)
    return found


@functools.cache
def macros() -> set[str]:
    """KP_EXPORT and the others that authors write."""
    place = folder()
    lines = (line for file in (place.glob("*.h") if place else []) for line in header(file.name).splitlines())
    return {found[1] for line in lines if (found := _MACRO.match(line)) and not found[1].endswith("_H")}
