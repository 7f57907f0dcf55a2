"""Compares the torch requirement of a wheel with the symbols of torch that its machine code needs.

Symbols of torch's C++ API (namespaces at, c10 and torch) change with each minor release of torch, so code that needs them runs
with the release that it was built with. Those of its stable C API (aoti_torch_..., torch_...) stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement

from kernpack_sdk.audit.binary import Finding
from kernpack_sdk.audit.image import Image
from kernpack_sdk.audit.package import Wheel, normalized

# A mangled name (Itanium C++ ABI): a function, or a vtable or type information, whose outermost namespace is one of these.
CXX_API = re.compile(r"^_Z(?:T[VISTC]|GV)?N[rVKRO]*(?:2at|3c10|5torch)\d")
_RELEASES = [f"{major}.{minor}.{patch}" for major in (1, 2, 3) for minor in range(40) for patch in range(6)]


def findings(wheel: Wheel) -> Iterator[Finding]:
    if normalized(wheel.name) == "torch":
        return
    needed = _symbols_of_torch(wheel)
    required = list(_requirements(wheel))
    minors = {minor for each in required for minor in _minors(each)}
    if needed:
        file, symbol = needed
        what = f"{file} needs symbols of torch's C++ API ({symbol}), which change with each minor release of torch"
        mend = "require the release that it was built with, as in torch==2.13.*, or use torch's stable C API alone"
        if not required:
            yield Finding(f"{what}, but METADATA doesn't require torch; {mend}")
        elif len(minors) > 1:
            spelled = ", ".join(str(each) for each in required)
            yield Finding(f"{what}, but METADATA allows several ({spelled}); {mend}")
    elif len(minors) == 1 and wheel.shared_objects():
        yield Finding(
            f"requires {', '.join(str(each) for each in required)}, but its machine code needs nothing of torch's C++ API; allow "
            f"a range, as in torch>={min(minors)}",
            serious=False,
        )


def _symbols_of_torch(wheel: Wheel) -> tuple[str, str] | None:
    """The first file that needs one, and which; what another file of the wheel has is its own."""
    own: set[str] = set()
    needed: list[tuple[str, str]] = []
    for file in wheel.shared_objects():
        try:
            with Image(file) as image:
                for name, is_here in image.dynamic_symbols():
                    if not CXX_API.match(name):
                        continue
                    if is_here:
                        own.add(name)
                    else:
                        needed.append((file.name, name))
        except ValueError:
            continue  # reported where files are read
    return next(((file, name) for file, name in needed if name not in own), None)


def _requirements(wheel: Wheel) -> Iterator[Requirement]:
    """Those of an extra aren't the wheel's own."""
    for text in wheel.message("METADATA").get_all("Requires-Dist") or []:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if normalized(requirement.name) == "torch" and "extra" not in str(requirement.marker or ""):
            yield requirement


def _minors(requirement: Requirement) -> set[str]:
    """The minor releases, "2.13", that a requirement allows."""
    return {
        release.rpartition(".")[0] for release in _RELEASES if requirement.specifier.contains(release, prereleases=True)
    }
