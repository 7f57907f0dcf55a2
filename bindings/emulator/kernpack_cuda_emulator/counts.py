"""Reads the file of KERNPACK_EMULATOR_COUNTS, and compares it with the capabilities of a device."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._library import library
from .devices import Device

VERSION = 1


class CountsError(ValueError):
    """The file isn't one that the emulated device wrote."""


def read(path: str | Path) -> list[dict[str, Any]]:
    """The kernels in a file, those that did most first."""
    try:
        written = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise CountsError(f"{path}: can't be read: {error.strerror}") from error
    except ValueError as error:
        raise CountsError(f"{path}: expected JSON that the emulated device wrote when its process ended") from error
    version = written.get("version") if isinstance(written, dict) else None
    if version != VERSION:
        raise CountsError(f"{path}: expected counts of version {VERSION}, got {version!r}")
    return _most_first(written["kernels"])


def _most_first(kernels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(kernels, key=lambda kernel: (-kernel["instructions"], kernel["name"]))


@contextmanager
def counted() -> Iterator[list[dict[str, Any]]]:
    """Counts the kernels that are launched inside; the list is filled at its end, once they have run. Not reentrant."""
    if not os.environ.get("KERNPACK_EMULATOR"):
        raise RuntimeError(
            "counted: set KERNPACK_EMULATOR before the process starts, as only the emulated device counts"
        )
    if os.environ.get("KERNPACK_EMULATOR_COUNTS"):
        raise RuntimeError("counted: expected KERNPACK_EMULATOR_COUNTS to be unset: it counts all of the process")
    of = library()
    of.kernpack_emulator_counts.restype = ctypes.c_char_p
    kernels: list[dict[str, Any]] = []
    of.kernpack_emulator_counts()  # what was launched before isn't counted
    of.kernpack_emulator_count(1)
    try:
        yield kernels
        kernels += _most_first(json.loads(of.kernpack_emulator_counts())["kernels"])
    finally:
        of.kernpack_emulator_count(0)


@dataclass(frozen=True)
class Estimate:
    """A static roofline estimate: no launch takes less, as one unit is busy for all of that time."""

    seconds: float  # of a launch, on average
    bound: str  # what takes it
    shares: dict[str, float]  # of the seconds that each unit is busy


def estimate(kernel: dict[str, Any], device: Device) -> Estimate:
    """Each byte that is touched moves once, and each unit does its work at its peak."""
    touched = kernel["touched"]["read"] + kernel["touched"]["written"]
    times = {"memory": touched / device.bandwidth}
    amounts = {
        **kernel["work"],
        "passes": kernel["shared"]["passes"],
        "instructions": kernel["instructions"],
    }
    for unit, amount in amounts.items():
        seconds = device.seconds(unit, amount)
        if seconds is not None:
            times[unit] = seconds
    bound = max(times, key=lambda unit: times[unit])
    most = times[bound]
    shares = {unit: seconds / most for unit, seconds in times.items() if seconds > 0}
    return Estimate(most / max(kernel["launches"], 1), bound, shares)


def used(moved: dict[str, int], unit: str) -> float | None:
    """How much of what was moved the threads asked for: 1 where neighbours access neighbours. None where nothing moved."""
    return moved["least"] / moved[unit] if moved[unit] else None


def total(*moved: dict[str, int]) -> dict[str, int]:
    """The sums of several."""
    return {key: sum(each[key] for each in moved) for key in moved[0]}
