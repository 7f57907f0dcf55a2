"""Finds differences between an environment and its lock."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from kernpack import _core
from kernpack import _lock as locks
from kernpack._lock import LockError, Wheel
from kernpack._system import SUFFIX


@dataclass(frozen=True)
class Problem:
    problem: str  # "tampered", "missing-file", "extra-wheel", ...: docs/lock.md lists them
    wheel: str
    text: str


def verify(path: Path) -> tuple[list[Wheel], list[Problem]]:
    """The locked wheels, and all problems of the environment. Raises LockError where the lock itself is at fault."""
    locked = locks.read(path)
    here = {locks.normal(found.metadata["Name"]): found for found in locks.kernel_distributions()}
    problems = []
    for wheel in locked:
        found = here.pop(locks.normal(wheel.name), None)
        if found is None:
            install = f"pip install {wheel.name}=={wheel.version}"
            problems.append(Problem("missing-wheel", wheel.name, f"{wheel.name} isn't installed; run `{install}`"))
        else:
            problems += _compare(wheel, found)
    for name, found in here.items():
        text = f"{name} {found.version} isn't in the lock; uninstall it, or lock again"
        problems.append(Problem("extra-wheel", name, text))
    return locked, problems


def _compare(wheel: Wheel, found: metadata.Distribution) -> Iterator[Problem]:
    name = wheel.name
    if found.version != wheel.version:
        text = f"{name}: the lock says {wheel.version}, {found.version} is installed; run `pip install {name}=={wheel.version}`"
        yield Problem("version", name, text)
        return  # every file would differ
    if wheel.abi is not None and wheel.abi != _core.abi_major:
        text = f"{name}: locked for ABI {wheel.abi}; this host has ABI {_core.abi_major}: install a kernpack of ABI {wheel.abi}"
        yield Problem("abi", name, text)
    if not _runs_here(wheel):
        tags = ", ".join(wheel.platforms)
        text = f"{name}: locked for {tags}; this machine is {platform.machine()}: lock again on such a machine"
        yield Problem("platform", name, text)
    again = f"run `pip install --force-reinstall {name}=={wheel.version}`"
    try:
        here = locks.installed(found)
    except LockError as error:
        yield Problem(error.kind, name, str(error))
        return
    for file, digest in wheel.files.items():
        if file not in here.files:
            yield Problem("missing-file", name, f"{name}: {file} isn't there; {again}")
        elif here.files[file] != digest:
            yield Problem("tampered", name, f"{name}: {file} isn't the locked file; {again}")
    for file in sorted(set(here.files) - set(wheel.files)):
        yield Problem("extra-file", name, f"{name}: {file} isn't in the lock; {again}")
    for file in _unlisted_objects(wheel, found):
        yield Problem("extra-file", name, f"{name}: {file} belongs to no wheel; remove it")


def _runs_here(wheel: Wheel) -> bool:
    return not wheel.platforms or any(tag == "any" or tag.endswith(f"_{platform.machine()}") for tag in wheel.platforms)


def _unlisted_objects(wheel: Wheel, found: metadata.Distribution) -> Iterator[str]:
    """Shared objects beside the wheel's own: a package loads all that lie in its folder."""
    base = Path(str(found.locate_file("")))
    known = {str(file) for file in found.files or ()} | set(wheel.files)
    folders = {Path(file).parent for file in wheel.files if file.endswith(SUFFIX)}
    for folder in sorted(folders):
        for path in sorted((base / folder).glob(f"*{SUFFIX}")):
            if (inside := path.relative_to(base).as_posix()) not in known:
                yield inside
