"""Functions take part in Python's garbage collection: cycles through callbacks go."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import kernpack
import pytest


class Node:
    """Something that a weak reference can watch."""

    functions: tuple[object, ...] = ()


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    gc.collect()
    yield
    gc.collect()


def cycle(k, handles: int) -> weakref.ref[Node]:
    """node -> handles of one function -> callback -> node."""
    node = Node()

    def callback() -> Node:
        return node

    function = k.echo(callback)
    node.functions = (function, *(k.echo(function) for _ in range(handles - 1)))
    return weakref.ref(node)


@pytest.mark.parametrize("handles", [1, 2, 5])
def test_cycles_through_a_callback_are_collected(k, handles: int) -> None:
    before = kernpack._core.live_objects()
    nodes = [cycle(k, handles) for _ in range(1000)]
    gc.collect()
    assert sum(node() is not None for node in nodes) == 0
    assert kernpack._core.live_objects() <= before


def test_a_function_in_use_is_not_collected(k) -> None:
    watched = cycle(k, 1)
    function = watched().functions[0]
    gc.collect()
    assert function() is watched()
    assert watched() is not None


def test_a_function_that_the_host_keeps_is_not_collected(k) -> None:
    watched = cycle(k, 2)
    kernpack.register_func("collected.kept", watched().functions[0])  # the registry holds it, and so do two handles
    gc.collect()
    assert kernpack.get_func("collected.kept")() is watched()
    assert watched() is not None
    kernpack.remove_func("collected.kept")
    gc.collect()
    assert watched() is None
