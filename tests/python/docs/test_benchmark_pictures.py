"""The pictures of benchmarks: which bars are coloured, which axis a row stands on, and how figures are written."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests/bench"))
import figures
import headline
import pictures
import report

ROOT = Path(__file__).resolve().parents[3]
ROWS = [report.make_row(row) for row in json.loads((ROOT / "docs/benchmarks.json").read_text())["rows"]]


def _row(ours: float, theirs: float | None = 100.0, **more: Any) -> report.Row:
    return report.Row("a topic", "a name", ours, theirs, **more)


def _drawn(folder: Path, *rows: report.Row) -> str:
    (picture,) = pictures.write_plots(folder, list(rows), "{}.svg")
    return picture.read_text()


def test_a_win_is_blue_though_it_missed_its_goal(tmp_path: Path) -> None:
    drawn = _drawn(tmp_path, _row(59, goal=0.4))
    assert "fill: var(--less)" in drawn
    assert "fill: var(--more)" not in drawn
    assert "our time / the peer's; tick: the goal" in drawn


def test_a_loss_is_orange_though_it_met_its_goal(tmp_path: Path) -> None:
    drawn = _drawn(tmp_path, _row(130, goal=1.4))
    assert "fill: var(--more)" in drawn
    assert "fill: var(--less)" not in drawn


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (_row(1300, peer="unchecked"), "with the checking mode / without"),
        (_row(80, peer="our operator"), "k.op / the operator in torch.ops"),
        (_row(80, note="a C function in the place of ours: no call costs less"), "the least possible / the peer's"),
        (_row(80, None, unit="KiB"), "KiB"),
    ],
)
def test_what_compares_no_peer_is_grey_on_an_axis_of_its_own(tmp_path: Path, row: report.Row, words: str) -> None:
    assert figures.axis(row) == words
    drawn = _drawn(tmp_path, row, _row(50, peer="a peer"))
    assert f">{words}<" in drawn
    assert drawn.count("fill: var(--less)") == 1  # of the peer's row
    assert "fill: var(--plain)" in drawn


def test_a_picture_follows_dark_mode_and_has_no_colour_beside_its_two_sets(tmp_path: Path) -> None:
    drawn = _drawn(tmp_path, _row(50, goal=0.4), _row(150), _row(5, None))
    assert "@media (prefers-color-scheme: dark)" in drawn
    outside = drawn.replace(pictures.style(), "")
    assert not any(colour in outside for pair in pictures.COLOURS.values() for colour in pair)
    assert "fill: #ffffff" not in outside


def test_a_label_keeps_a_size_that_a_phone_shows(tmp_path: Path) -> None:
    """Of at most 460 pixels, a phone shows 350: labels of 13 pixels stay 10 pixels high."""
    assert pictures.WIDTH * 72 * 96 / 72 <= 460
    assert "font-size: 10px" in _drawn(tmp_path, _row(50))


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.000424, "0.0004"), (0.0299, "0.030"), (0.5871, "0.59"), (1.0, "1.00"), (13.83, "13.8"), (122.54, "123")],
)
def test_no_ratio_is_written_as_0(value: float, shown: str) -> None:
    assert figures.three_digits(value) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [(128.1, "ns", "128 ns"), (4532.7, "ns", "4.53 µs"), (1404499.0, "ns", "1.40 ms"), (2.5e9, "ns", "2.50 s"),
     (844.758, "us", "845 µs"), (38.5, "KiB", "38.5 KiB"), (None, "ns", "-")],
)  # fmt: skip
def test_an_amount_has_the_unit_that_fits(value: float | None, unit: str, shown: str) -> None:
    assert figures.amount(value, unit) == shown


def test_the_headline_is_computed_from_the_rows() -> None:
    faster = [report.make_row({**row.__dict__, "theirs": row.ours * 3 if row.theirs else None}) for row in ROWS]
    said = headline.sentence(faster)
    assert said.startswith("A call is 3.0 times as fast as through other bindings: ")
    assert said.endswith("3.0 times as fast as with apache-tvm-ffi.")


def test_a_headline_without_its_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="loading: expected a row 'load a module, look one function up' beside"):
        headline.compared([row for row in ROWS if row.topic != "loading"])


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_texts_and_bars_stand_out_from_the_page(mode: int) -> None:
    """By WCAG's contrast, on the site's backgrounds: 4.5 for texts, 3 for bars."""
    page = _luminance(("#ffffff", "#131416")[mode])
    for role, colours in pictures.COLOURS.items():
        bright, dim = sorted((page, _luminance(colours[mode])), reverse=True)
        least = {"ink": 4.5, "faint": 4.5, "line": 1}.get(role, 3)
        assert (bright + 0.05) / (dim + 0.05) >= least, role
