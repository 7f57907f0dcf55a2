"""Patched models are the same models: twelve architectures of the zoo, other ones each day. All of them: `make zoo`."""

from __future__ import annotations

import datetime
import os
import sys
import time

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
from architectures import NAMES, of_the_day  # noqa: E402
from differences import compare, compare_tensors  # noqa: E402  (needs torch)
from tiny_models import build  # noqa: E402
from zoo import format_lines  # noqa: E402

# KERNPACK_ZOO_DAY: another day's, as a failure names it.
DAY = int(os.environ.get("KERNPACK_ZOO_DAY") or datetime.datetime.now(datetime.UTC).date().toordinal())


@pytest.mark.parametrize("name", of_the_day(DAY, 12))
def test_a_patched_model_is_the_same_model(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    begun = time.process_time()
    report = compare(build(name))
    lines = format_lines(name, report, time.process_time() - begun)
    with capfd.disabled():
        print(f"\nzoo of day {DAY}: " + "\n".join(lines), file=sys.stderr)
    assert not report.failed, "\n".join((*lines, f"again: python tests/python/zoo/zoo.py {name}"))
    assert "forward" in report.passed


def test_each_architecture_has_its_day() -> None:
    assert len(set(NAMES)) == len(NAMES) >= 100
    days = [of_the_day(DAY + i, 12) for i in range(-(-len(NAMES) // 12))]
    assert sorted(name for names in days for name in names) == sorted(NAMES)
    assert {len(names) for names in days} <= {11, 12}


def test_differences_are_seen() -> None:
    """Of a result, a token, a small gradient and a NaN: what the zoo is for."""
    plain = {"output": torch.tensor([1.0, 2.0]), "tokens": torch.tensor([3, 4])}
    gradients = {"gradient of a": torch.tensor([1.0, -2.0]), "gradient of b": torch.tensor([0.01])}

    def off(**changed: torch.Tensor) -> list[str]:
        found = {**plain, **gradients, **{key.replace("_", " "): value for key, value in changed.items()}}
        return [text for _, text in compare_tensors("forward", {**plain, **gradients}, found, plain)]

    assert off() == []
    assert off(output=torch.tensor([1.0, 2.0001])) == []
    assert off(output=torch.tensor([1.0, 2.001])) == [
        "output is 5.0e-04 of its largest number off, allowed are 1.0e-04"
    ]
    assert len(off(output=torch.tensor([1.0, torch.nan]))) == 1
    assert off(tokens=torch.tensor([3, 5])) == ["other tokens"]
    assert len(off(gradient_of_b=torch.tensor([0.0101]))) == 1
