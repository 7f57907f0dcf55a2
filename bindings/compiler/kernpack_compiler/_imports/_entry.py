"""A kernel as its code declares it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """size: bytes. type: "u32" of PTX; a cubin doesn't say it: "". text: for errors."""

    size: int
    type: str
    text: str


@dataclass(frozen=True)
class Entry:
    """threads: of a block, where the code allows no other number along an axis. most_threads: of a block; 0 is not said."""

    name: str
    parameters: tuple[Parameter, ...]
    threads: tuple[int, int, int] | None = None
    most_threads: int = 0
    needs_cluster: bool = False

    def listed(self) -> str:
        """ "3: .u64, .u64, .u32", for errors."""
        return (
            f"{len(self.parameters)}" + (": " if self.parameters else "") + ", ".join(p.text for p in self.parameters)
        )


def find(entries: dict[str, Entry], name: str, where: str) -> Entry:
    """KeyError's sibling for people: names the kernels that there are."""
    if name in entries:
        return entries[name]
    there = ", ".join(sorted(entries)) or "none"
    raise ValueError(f"{where}: expected a kernel named '{name}', got code with these kernels: {there}; pass entry=")
