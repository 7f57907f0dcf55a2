"""Arguments and results as nested dicts, lists and tuples: their leaves in order, and names for those."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, leaf) of each leaf; the path of `{"w": [a, b]}`'s second is "w_1". None is a leaf."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves(value, _join(path, key))
    elif isinstance(tree, (list, tuple)):
        for index, value in enumerate(tree):
            yield from leaves(value, _join(path, index))
    else:
        yield path, tree


def rebuild(tree: Any, leaf: Callable[[str, Any], Any], path: str = "") -> Any:
    """The same nesting, with leaf(path, value) for each leaf."""
    if isinstance(tree, dict):
        return {key: rebuild(value, leaf, _join(path, key)) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        parts = [rebuild(value, leaf, _join(path, index)) for index, value in enumerate(tree)]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return leaf(path, tree)


def _join(path: str, key: object) -> str:
    return f"{path}_{key}" if path else str(key)


class Names:
    """Names that the text form can hold, each given once."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def take(self, wish: str) -> str:
        name = base = re.sub(r"\W", "_", wish, flags=re.ASCII).lstrip("0123456789") or "x"
        count = 1
        while name in self._given:
            count += 1
            name = f"{base}_{count}"
        self._given.add(name)
        return name
