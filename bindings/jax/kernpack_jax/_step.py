"""The arrays that JAX keeps of a call that it differentiates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._arguments import Config

# The name of an array of the call in a plan of kernpack._gradients: ("param", i) or ("result", i).
Source = tuple[str, int]


@dataclass(frozen=True, repr=False)
class Step:
    """How one call's results move with its operands: linear in the tangents of those that do.

    moved: those operands. kept: for each source that a direction reads, how many arrays it has. operands: JAX's type of each
    operand. results: those whose tangents the step gives. types: the type of the tangent of each result of the call.
    """

    config: Config
    moved: tuple[int, ...]
    kept: tuple[tuple[Source, int], ...]
    operands: tuple[Any, ...]
    results: tuple[int, ...]
    types: tuple[Any, ...]

    @property
    def num_kept(self) -> int:
        return sum(count for _, count in self.kept)

    def saved(self, arrays: Sequence[Any]) -> dict[Source, list[Any]]:
        """The arrays that were kept, by source."""
        left = iter(arrays)
        return {source: [next(left) for _ in range(count)] for source, count in self.kept}

    def __repr__(self) -> str:
        return repr(self.config)
