"""Memory that programs map themselves, on the emulated device: torch's expandable segments are such memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.emulated import run_lines

pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")

SCRIPT = Path(__file__).with_name("virtual_memory.py")


@pytest.mark.parametrize("part", ["grown", "twice", "shared"])
def test_mapped_memory_is_memory(part: str) -> None:
    assert run_lines(SCRIPT, part) == []


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (
            "before_access",
            "it is memory that the program has mapped and to which cuMemSetAccess hasn't given device 0 access",
        ),
        ("after_unmapping", "it is byte 0 of an allocation of 2097152 bytes that has been freed"),
    ],
)
def test_a_kernel_without_access_is_told_why(part: str, expected: str) -> None:
    (line,) = run_lines(SCRIPT, part)
    assert line.endswith(expected)


def test_mistakes_have_the_drivers_errors() -> None:
    invalid, memory, device, mapped, unsupported = 1, 2, 101, 208, 801
    assert dict(line.rsplit(": ", 1) for line in run_lines(SCRIPT, "wrong")) == {
        name: str(result)
        for name, result in {
            "no whole pieces": invalid,
            "more than there is": memory,
            "no device 9": device,
            "fabric": unsupported,
            "mapped": mapped,
            "outside": invalid,
            "more than the handle": invalid,
            "no handle": invalid,
            "an offset": invalid,
            "between pieces": invalid,
            "a part of a mapping": invalid,
            "nothing mapped": invalid,
            "access to nothing": invalid,
            "access of device 9": device,
            "reading alone": unsupported,
            "still mapped": invalid,
            "cuMemFree": invalid,
            "not to be shared": invalid,
            "a file of one's own": invalid,
            "released twice": invalid,
        }.items()
    }
