"""Where the drawing of a plan puts things, and the files it writes."""

from __future__ import annotations

import builtins

import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
from kernpack_compiler.program._draw import draw
from kernpack_compiler.program._layout import Transfer, Work, arrange, shown_bytes

LANES = ["cpu:0", "opencl:0"]


def chain() -> list[Work | Transfer]:
    """Parameter 0 to the CPU, its result over to OpenCL and back."""
    return [
        Work("cpu:0", "embed", (0,), (1,)),
        Work("cpu:0", "embed", (1,), (2,)),
        Transfer(2, 3, 2048),
        Transfer(9, 10, 512),
        Work("opencl:0", "gelu", (3, 10), (4,)),
        Transfer(4, 5, 2048),
        Work("cpu:0", "pool", (5,), (6,)),
    ]


def test_calls_of_a_lane_gather_until_something_comes_from_another():
    layout = arrange(LANES, chain())
    assert [(box.lane, box.column, box.labels) for box in layout.boxes] == [
        ("cpu:0", 0, ["embed", "embed"]),
        ("opencl:0", 1, ["gelu"]),
        ("cpu:0", 2, ["pool"]),
    ]


def test_copies_are_arrows_between_boxes():
    layout = arrange(LANES, chain())
    arrows = [(arrow.begin.labels[0], arrow.end.labels[0], arrow.nbytes) for arrow in layout.arrows]
    assert arrows == [("embed", "gelu", [2048]), ("gelu", "pool", [2048])]


def test_copies_of_parameters_stand_in_the_box_that_gets_them():
    assert [box.given for box in arrange(LANES, chain()).boxes] == [[], [512], []]


def test_a_copy_that_several_use_is_drawn_once():
    steps = [*chain(), Work("cpu:0", "norm", (5,), (7,)), Work("opencl:0", "tanh", (3,), (8,))]
    assert len(arrange(LANES, steps).arrows) == 2


def test_work_that_waits_for_nothing_shares_a_column():
    layout = arrange(LANES, [Work("cpu:0", "a", (0,), (1,)), Work("opencl:0", "b", (0,), (2,))])
    assert [box.column for box in layout.boxes] == [0, 0]


def test_runs_of_one_function_are_one_line():
    (box,) = arrange(["cpu:0"], [Work("cpu:0", name, (), ()) for name in ("a", "a", "b", "a", "c", "d")]).boxes
    assert box.lines(9) == ["a x2", "b", "a", "c", "d"]
    assert box.lines(3) == ["a x2", "b", "and 3 more"]


@pytest.mark.parametrize(
    ("sizes", "shown"),
    [
        ([12], "12 B"),
        ([368640], "360 KB"),
        ([2 << 20, 1 << 20], "2 copies, 3 MB"),
        ([None], "size known at run time"),
        ([5 << 30], "5 GB"),
    ],
)
def test_sizes_are_readable(sizes, shown):
    assert shown_bytes(sizes) == shown


def test_the_same_plan_gives_the_same_svg(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    first = draw(arrange(LANES, chain()), "a plan", tmp_path / "first.svg").read_text()
    again = draw(arrange(LANES, chain()), "a plan", tmp_path / "again.svg").read_text()
    assert first == again
    for text in ("a plan", "embed x2", "gelu", "2 KB", "opencl:0"):
        assert f">{text}<" in first


def test_a_long_plan_breaks_into_bands(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    steps: list[Work | Transfer] = []
    for i in range(20):
        steps += [Work(LANES[i % 2], f"f{i}", (2 * i,), (2 * i + 1,)), Transfer(2 * i + 1, 2 * i + 2, 8)]
    file = draw(arrange(LANES, steps), "long", tmp_path / "long.svg")
    assert file.read_text().count(">opencl:0<") == 3  # 20 columns, 8 a band


def test_png_is_written(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    assert draw(arrange(LANES, chain()), "plan", tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_other_endings_are_refused(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    with pytest.raises(ValueError, match=r"ends in \.svg, \.png, \.pdf"):
        draw(arrange(LANES, chain()), "plan", tmp_path / "plan.txt")


def test_without_matplotlib_the_error_names_the_package(tmp_path, monkeypatch):
    imported = builtins.__import__

    def without(name, *rest, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return imported(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(RuntimeError, match="pip install matplotlib"):
        draw(arrange(LANES, chain()), "plan", tmp_path / "plan.svg")
