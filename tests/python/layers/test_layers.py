"""The drawing of the layers in CONTRIBUTING.md is what the files include and import."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable

import pytest
from layer_graph import ROOT, Edge, circles, edges

_ROW = re.compile(r"^\| `([^|]+)` \| ([^|]*) \|$", re.MULTILINE)
_NAME = re.compile(r"`([^`]+)`( when called)?")


@pytest.fixture(scope="module")
def found() -> list[Edge]:
    return edges()


@pytest.fixture(scope="module")
def drawing() -> dict[str, dict[str, bool]]:
    """Each layer's folder: what it may use, and whether only when called. In the order of the rows."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("\n## Layers\n")[1].split("\n## ")[0]
    return {folder: {name: bool(late) for name, late in _NAME.findall(uses)} for folder, uses in _ROW.findall(section)}


def _find_layer(file: str, layers: Iterable[str]) -> str:
    """The innermost layer that the file stands in."""
    around = [layer for layer in layers if file.startswith(f"{layer}/")]
    assert around, f"{file} is in no layer of the drawing in CONTRIBUTING.md: give its folder a row there"
    return max(around, key=len)


def _violations(found: Iterable[Edge], drawing: dict[str, dict[str, bool]]) -> list[str]:
    wrong = []
    for edge in found:
        user, used = _find_layer(edge.user, drawing), _find_layer(edge.used, drawing)
        if user == used:
            continue
        if used not in drawing[user]:
            wrong.append(f"{edge.user} uses {edge.used}, but the drawing doesn't let {user} use {used}")
        elif drawing[user][used] and not edge.late:
            wrong.append(
                f"{edge.user} imports {edge.used} when it is loaded, but {user} may use {used} only when called"
            )
    return wrong


def test_each_folder_uses_only_what_the_drawing_allows(found: list[Edge], drawing: dict[str, dict[str, bool]]) -> None:
    assert _violations(found, drawing) == []


def test_a_layer_uses_only_rows_above_its_own_unless_when_called(drawing: dict[str, dict[str, bool]]) -> None:
    above: set[str] = set()
    for folder, uses in drawing.items():
        assert (ROOT / folder).is_dir(), folder
        for used, late in uses.items():
            assert used in drawing, f"{folder} may use {used}, which has no row"
            assert used in above or late, f"{folder} may use {used}, whose row has to come first"
        above.add(folder)


def test_the_drawing_allows_nothing_that_no_file_needs(found: list[Edge], drawing: dict[str, dict[str, bool]]) -> None:
    needed = {(_find_layer(edge.user, drawing), _find_layer(edge.used, drawing)) for edge in found}
    assert [f"{a} -> {b}" for a, uses in drawing.items() for b in uses if (a, b) not in needed] == []


def test_no_circle_of_files_spans_two_folders(found: list[Edge]) -> None:
    graph = defaultdict(list)
    for edge in found:
        if not edge.late:
            graph[edge.user].append(edge.used)
    assert [circle for circle in circles(graph) if len({os.path.dirname(file) for file in circle}) > 1] == []


def test_no_header_includes_itself_by_way_of_others(found: list[Edge]) -> None:
    graph = defaultdict(list)
    for edge in found:
        if edge.user.endswith(".h"):
            graph[edge.user].append(edge.used)
    assert circles(graph) == []


def test_a_use_that_the_drawing_forbids_is_named() -> None:
    drawing = {"ffi/include": {}, "sdk/compiler": {"ffi/include": False, "bindings": True}, "bindings": {}}
    backwards = _violations([Edge("ffi/include/a.h", "sdk/compiler/b.h")], drawing)
    assert backwards == [
        "ffi/include/a.h uses sdk/compiler/b.h, but the drawing doesn't let ffi/include use sdk/compiler"
    ]
    assert "only when called" in _violations([Edge("sdk/compiler/a.py", "bindings/b.py")], drawing)[0]
    assert _violations([Edge("sdk/compiler/a.py", "bindings/b.py", late=True)], drawing) == []


def test_circles_are_found() -> None:
    assert circles({"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": ["e"], "e": ["d"], "f": ["a"]}) == [
        ["a", "b", "c"],
        ["d", "e"],
    ]
