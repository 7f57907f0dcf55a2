"""The emulated device gives, bit by bit, what an NVIDIA H200 gave."""

from __future__ import annotations

import json
import platform

import ptx_programs
import ptx_recorded
import pytest
from ptx_driver import Driver, emulated_only

DIFFERENT = {f"program {seed}" for seed in ptx_programs.COMPILED_WRONGLY | ptx_programs.OTHER_NANS}


@emulated_only
@pytest.mark.skipif(platform.machine() != "x86_64", reason="which NaN of f64 comes of two is the host's")
@pytest.mark.parametrize("level", [1, 2, 3])  # what the emulated device is compiled for: x86-64's base, v3 and v4
@pytest.mark.parametrize("kind", ptx_recorded.KINDS)
def test_bits_are_those_of_a_gpu(kind: str, level: int) -> None:
    recorded = json.loads(ptx_recorded.RECORD.read_text(encoding="utf-8"))[kind]
    driver = Driver()
    driver.use_host_level(level)
    wrong, unknown = [], []
    try:
        for name, given, out in ptx_recorded.KINDS[kind](driver):
            asked, found = recorded.get(name, " ").split(" ")
            if asked != given:
                unknown.append(name)
            elif (out == found) == (name in DIFFERENT):
                wrong.append(name)
    finally:
        driver.use_host_level(0)
    assert not wrong, f"{len(wrong)} of {len(recorded)}: " + ", ".join(wrong[:20])
    # Cases that were added since then are known once they have run on a GPU: ptx_recorded.py.
    assert len(unknown) <= len(recorded) // 10, f"not recorded, or tried on other values: {', '.join(unknown[:20])}"
