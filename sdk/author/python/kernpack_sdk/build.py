"""The build backend of a kernel wheel: scikit-build-core, then what needs the compiled module.

    [build-system]
    requires = ["kernpack-sdk"]
    build-backend = "kernpack_sdk.build"

It writes `__init__.pyi` beside the modules of each package (and a small `__init__.py` where there is none), and tags the
wheel `py3-none-manylinux_2_28_<arch>`, or with the newer tag that is true when the author's code needs one; and it refuses a wheel
that is larger than the project allows, and anything that holds a private key. Everything else is scikit-build-core's, settings included.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from scikit_build_core import build as _backend
from scikit_build_core.build import (  # noqa: F401  (the rest of the build interface)
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

from kernpack_sdk import budget, editable, needs, packs, wheel
from kernpack_sdk.audit import private_keys

_Settings = dict[str, Any] | None


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: _Settings = None) -> str:
    name = _backend.prepare_metadata_for_build_wheel(metadata_directory, _for_every_python(config_settings))
    return _with_needs(metadata_directory, name)


def prepare_metadata_for_build_editable(metadata_directory: str, config_settings: _Settings = None) -> str:
    return _with_needs(metadata_directory, _backend.prepare_metadata_for_build_editable(metadata_directory, config_settings))


def _with_needs(metadata_directory: str, name: str) -> str:
    needs.add_to_metadata(Path(metadata_directory) / name / "METADATA", _declared_needs())
    return name


def _declared_needs() -> list[Requirement]:
    try:
        return needs.declared(_pyproject())
    except ValueError as error:
        raise SystemExit(f"kernpack: {error}") from None


def build_wheel(wheel_directory: str, config_settings: _Settings = None, metadata_directory: str | None = None) -> str:
    folder = Path(wheel_directory)
    try:
        limit, pack_of = budget.of_project(_pyproject()), packs.of_project(_pyproject())
    except ValueError as error:
        raise SystemExit(f"kernpack: {error}") from None
    stated = _declared_needs()
    # scikit-build-core compares the metadata that was prepared with its own, which has no needs.
    prepared = None if stated else metadata_directory
    name = _backend.build_wheel(wheel_directory, _for_every_python(config_settings), prepared)
    wheel.add_python_files(folder / name, pack_of=pack_of, stated=stated)
    made = wheel.tag(folder / name)
    if too_large := budget.excess(made, limit):
        made.unlink()
        raise SystemExit(f"kernpack: {too_large}")
    _refuse_keys(made)
    return made.name


def build_sdist(sdist_directory: str, config_settings: _Settings = None) -> str:
    name = _backend.build_sdist(sdist_directory, config_settings)
    _refuse_keys(Path(sdist_directory) / name)
    return name


def _refuse_keys(made: Path) -> None:
    """A private key in what is published is everybody's."""
    if found := private_keys.in_archive(made):
        made.unlink()
        raise SystemExit(f"kernpack: {made.name} would hold a private key, {found[0]}: move the key out of the project")


def build_editable(
    wheel_directory: str, config_settings: _Settings = None, metadata_directory: str | None = None
) -> str:
    """Builds the wheel that `pip install -e .` installs: the metadata, and a path to the package that editable.py keeps in the project."""
    settings = config_settings or {}
    metadata_only = {**settings, "wheel.py-api": "py3", "wheel.cmake": "false", "wheel.packages": ""}
    name = _backend.build_wheel(wheel_directory, metadata_only)
    editable.finish(
        Path(wheel_directory) / name, Path.cwd(), rebuild=editable.is_rebuilt(settings), stated=_declared_needs()
    )
    return name


def _for_every_python(config_settings: _Settings) -> dict[str, Any]:
    """A kernel module does not know Python: unless the project says otherwise its wheel is for all of them."""
    stated = _pyproject().get("tool", {}).get("scikit-build", {}).get("wheel", {}).get("py-api")
    return {**({"wheel.py-api": "py3"} if stated is None else {}), **(config_settings or {})}


def _pyproject() -> dict[str, Any]:
    return tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
