"""Further requirements on a wheel of kernel modules: kernpack.load finds them, they have one version, and their stubs are correct."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kernpack_sdk import surface
from kernpack_sdk.audit import tables
from kernpack_sdk.audit.binary import Finding
from kernpack_sdk.audit.package import Wheel, normalized, plain
from kernpack_sdk.audit.tables import Module


def findings(wheel: Wheel, modules: dict[Path, list[Module]]) -> Iterator[Finding]:
    """`modules`: of each kernel module's file what its tables say."""
    if (wheel.python, wheel.abi) != ("py3", "none"):
        yield Finding(f"tagged {wheel.python}-{wheel.abi}; a module works with every Python: expected py3-none")
    for file, found in modules.items():
        yield from _place(wheel, file, found)
        yield from _version(wheel, file, found)
    parts: dict[tuple[str, str], list[Module]] = {}
    for module in (each for found in modules.values() for each in found):
        parts.setdefault((module.name, module.version), []).append(module)
    for of_one in parts.values():
        yield from (Finding(text) for text in tables.broken_links(of_one))
    for package in sorted({file.parent for file in modules} - {wheel.tree}):
        names = {
            variant.name
            for file, found in modules.items()
            if file.parent == package
            for each in found
            for variant in each.variants
        }
        yield from (Finding(f"{package.name}/{text}") for text in surface.contradictions(package, names))


def _place(wheel: Wheel, file: Path, found: list[Module]) -> Iterator[Finding]:
    """kernpack.load("my_kernels") looks for modules in the folder of the package of that name."""
    inside = file.relative_to(wheel.tree)
    expected = wheel.name.replace("-", "_").replace(".", "_").lower()
    if len(inside.parts) == 1:
        yield Finding(
            f"{inside} is outside any package, so it can't be imported; give kernpack_add_module() DESTINATION {expected}"
        )
        return
    top = inside.parts[0]
    names = {normalized(wheel.name), *(normalized(module.name) for module in found)}
    own = (wheel.tree / top / "__init__.py").is_file() and surface.is_written_by_hand(wheel.tree / top / "__init__.py")
    if not top.isidentifier() or (normalized(top) not in names and not own):
        yield Finding(
            f"{inside} lies in the folder {top}, but the project is {wheel.name}: kernpack.load('{expected}') finds nothing; "
            f"give kernpack_add_module() DESTINATION {expected}"
        )


def _version(wheel: Wheel, file: Path, found: list[Module]) -> Iterator[Finding]:
    """Of the module that the wheel is named for: what a compiler generated has a name and a version of its own."""
    names = {normalized(wheel.name), normalized(file.parent.name)}
    for module in found:
        if normalized(module.name) in names and plain(module.version) != plain(wheel.version):
            yield Finding(
                f'{file.name}: KP_MODULE("{module.name}", "{module.version}") is in a wheel of version {wheel.version}; write '
                f'KP_MODULE("{module.name}", "{wheel.version}"), or read the version from there in pyproject.toml'
            )
