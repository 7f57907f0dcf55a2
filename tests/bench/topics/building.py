"""The smallest author's file: how long it compiles and how large the module is."""

from __future__ import annotations

from pathlib import Path

import build
from harness import interleave_runs
from kit import Kit
from report import Row, timed_row

OURS = build.HERE / "ours" / "smallest.cc"
THEIRS = build.HERE / "peers" / "smallest_tvm.cc"


def measure(kit: Kit) -> list[Row]:
    return [_compile_time(kit), _size(kit)]


def _compile(source: Path, flags: list[str]) -> None:
    build.run([build.CXX, "-O2", "-fPIC", "-c", *flags, str(source), "-o", "/dev/null"])


def _compile_time(kit: Kit) -> Row:
    their_flags = build.tvm_ffi_flags()[0]
    actions = {"ours": lambda: _compile(OURS, kit.ours_flags[0]), "theirs": lambda: _compile(THEIRS, their_flags)}
    timings = interleave_runs(actions, max(3, kit.repetitions // 10))
    for timing in timings.values():
        timing.samples = [sample / 1e6 for sample in timing.samples]
    return timed_row("building", "compile the smallest file, g++ -O2 -c", timings, 0.4, unit="ms")


def _size(kit: Kit) -> Row:
    ours = build.shared_object(OURS, "smallest", kit.ours_flags).stat().st_size
    theirs = build.shared_object(THEIRS, "smallest_tvm", build.tvm_ffi_flags()).stat().st_size
    return Row("building", "that module, stripped", ours / 1024, theirs / 1024, unit="KiB", goal=0.6)
