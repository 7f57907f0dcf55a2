"""Packs: wheels that add shared objects to the package of another wheel, `pack-of = "my-kernels"` under [tool.kernpack]."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


def of_project(settings: dict[str, Any]) -> str | None:
    """The distribution that this one is a pack of, from a parsed pyproject.toml; None where it isn't a pack. ValueError."""
    main = settings.get("tool", {}).get("kernpack", {}).get("pack-of")
    if main is None:
        return None
    if not isinstance(main, str) or not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", main):
        raise ValueError(
            f"pyproject.toml: [tool.kernpack] pack-of: expected the name of a distribution, such as my-kernels, got {main!r}"
        )
    project = settings.get("project", {})
    pinned = f"{main}=={project.get('version', 'VERSION')}"
    if not any(_plain(each) == _plain(pinned) for each in project.get("dependencies", [])):
        raise ValueError(
            f"pyproject.toml: a pack of {main} loads with the same version of it only; write "
            f'dependencies = ["{pinned}"], got {project.get("dependencies", [])!r}'
        )
    return main


def _plain(requirement: str) -> str:
    return re.sub(r"[-_.]+(?=.*==)", "-", requirement.replace(" ", "")).lower()


def refuse_python(tree: Path, main: str) -> None:
    """Of an unpacked wheel: a file that both wheels hold would go when the pack is uninstalled."""
    found = sorted(file.relative_to(tree) for file in tree.rglob("*.py*") if file.suffix in (".py", ".pyi"))
    if found:
        raise SystemExit(
            f"kernpack: {found[0]}: a pack holds shared objects alone; the Python files of the package are those of {main}"
        )
