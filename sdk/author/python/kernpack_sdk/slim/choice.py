"""Which images of a fat binary stay, so that the GPUs that were asked for run the code that they ran before."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence

from kernpack_sdk.audit import fatbin

_ARCHITECTURE = re.compile(r"[1-9]\d{1,2}[af]?")
_NAME = re.compile(r"\w+_(\d+)([af]?)")


@dataclasses.dataclass(frozen=True)
class Choice:
    """Compute capabilities without the dot, such as "90" or "100f"; `ptx`: of PTX that stays for GPUs that are newer."""

    architectures: tuple[str, ...]
    ptx: tuple[str, ...] = ()

    def keep(self, data: bytes, entries: Sequence[fatbin.Entry], section: str = "") -> list[bool]:
        """For each entry of one fat binary, in order; `section` is the name of the section that it lies in. If none is for these GPUs, all stay: the kernels didn't run there before, and a
        program that calls them fails as it did."""
        wanted = {id(each) for each in self.finds(entries) or entries}
        stays, seen = [], set()
        for each in entries:
            raw = data[each.start : each.end]
            stays.append((not each.kind or id(each) in wanted) and raw not in seen)
            seen.add(raw)
        return stays

    def added(self, data: bytes, entries: Sequence[fatbin.Entry], section: str) -> bytes:
        """An entry that takes the place of those that go."""
        return b""

    def finds(self, entries: Sequence[fatbin.Entry]) -> list[fatbin.Entry]:
        """Those of one fat binary that were asked for."""
        found = [each for number in self.architectures for each in _loaded_by(_number(number), entries)]
        return found + [each for each in entries if each.kind == "ptx" and spelled(each) in self.ptx]

    def missing(self, found: Iterable[fatbin.Entry]) -> list[str]:
        """The options that name code which none of these entries is."""
        names = {(each.kind, spelled(each)) for each in found}
        known = {name for _, name in names}
        plain = {name.rstrip("af") for name in known}
        lost = [f"--cuda-arch {each}" for each in self.architectures if each not in known | plain]
        return lost + [f"--ptx {each}" for each in self.ptx if ("ptx", each) not in names]


def parse(text: str) -> tuple[str, ...]:
    """ "80,90a". ValueError."""
    found = tuple(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))
    if not found or not all(_ARCHITECTURE.fullmatch(each) for each in found):
        raise ValueError(f"expected compute capabilities without the dot, as in 80,90,90a, got '{text}'")
    return found


def _loaded_by(number: int, entries: Sequence[fatbin.Entry]) -> list[fatbin.Entry]:
    """All that a GPU of this compute capability may load: machine code for exactly it; if there is none, machine code of its major
    version for older ones, and the newest PTX that it takes."""
    cubins = [each for each in entries if each.kind == "cubin"]
    exact = [each for each in cubins if _number(each.architecture) == number]
    if exact:
        return exact
    older = [each for each in entries if each.kind and _number(each.architecture) <= number and _runs_on(each, number)]
    ptx = [each for each in older if each.kind == "ptx"]
    newest = max(map(number_of, ptx), default=0)
    return [each for each in older if each.kind == "cubin" or number_of(each) == newest]


def _runs_on(entry: fatbin.Entry, number: int) -> bool:
    """Of older code: "a" is for one compute capability only, "f" and machine code for one major version."""
    own, suffix = _parts(entry.architecture)
    if suffix == "a":
        return own == number
    return (entry.kind == "ptx" and suffix != "f") or own // 10 == number // 10


def number_of(entry: fatbin.Entry) -> int:
    return _number(entry.architecture)


def spelled(entry: fatbin.Entry) -> str:
    number, suffix = _parts(entry.architecture)
    return f"{number}{suffix}"


def _number(architecture: str) -> int:
    return int(architecture.rpartition("_")[2].rstrip("af"))


def _parts(architecture: str) -> tuple[int, str]:
    found = _NAME.search(architecture.replace(" ", ""))
    return (int(found[1]), found[2]) if found else (0, "")
