"""How large a wheel may become: `max-wheel-size = "20MB"` under [tool.kernpack] of the project's pyproject.toml."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_NAMED = 5  # files


def of_project(settings: dict[str, Any]) -> int | None:
    """Bytes, of a parsed pyproject.toml; None where nothing is said. ValueError."""
    given = settings.get("tool", {}).get("kernpack", {}).get("max-wheel-size")
    if given is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMG]?i?B|)\s*", str(given), re.IGNORECASE)
    if found is None or found[2].upper() not in _UNITS or isinstance(given, bool):
        raise ValueError(
            f'pyproject.toml: [tool.kernpack] max-wheel-size: expected a size such as "20MB" or "512 KiB", got {given!r}'
        )
    return int(float(found[1]) * _UNITS[found[2].upper()])


def excess(wheel: Path, limit: int | None) -> str:
    """The error for a wheel that is too large, with its largest files; "" if it isn't too large."""
    size = wheel.stat().st_size
    if limit is None or size <= limit:
        return ""
    with zipfile.ZipFile(wheel) as archive:
        largest = sorted(archive.infolist(), key=lambda entry: -entry.compress_size)[:_NAMED]
    files = "".join(f"\n  {shown(each.compress_size):>9}  {each.filename}" for each in largest if each.compress_size)
    return (
        f"{wheel.name} is {shown(size)}, more than max-wheel-size of pyproject.toml, {shown(limit)}. Leave something out "
        f"(variants, architectures, data), or raise the limit. Its largest files, compressed:{files}"
    )


def shown(size: int) -> str:
    for unit in ("GB", "MB", "KB"):
        if size >= _UNITS[unit]:
            return f"{size / _UNITS[unit]:.3g} {unit}"
    return f"{size} bytes"
