"""The smallest author's file: how long it compiles and how large the module is, with a signature and without.

Each side is built with its own SDK's flags: ours as kernpack_add_module() does, with the library of support code that is
compiled once a project (a row of its own), theirs as its documentation says. Compile times are processor time, since a
machine that does other things too would spoil the wall clock's ratio.
"""

from __future__ import annotations

import resource
import shutil
import sys
import tempfile
from pathlib import Path

import build
from harness import Timing
from kit import Kit
from report import Row, timed_row

sys.path.insert(0, str(build.ROOT / "sdk/author/python"))
from kernpack_sdk import flags, support  # noqa: E402: the path above makes it importable

OURS = {
    "the smallest file": build.HERE / "ours" / "smallest.cc",
    "the smallest file with a signature": build.HERE / "ours" / "smallest_signed.cc",
}
THEIRS = build.HERE / "peers" / "smallest_tvm.cc"


def measure(kit: Kit) -> list[Row]:
    return [*_compile_times(max(3, kit.repetitions // 10)), *_sizes()]


def _our_flags() -> list[str]:
    return [*flags.compile_flags(), flags.support_definition()]


def _compile(source: Path, options: list[str]) -> None:
    build.run([build.CXX, "-O2", "-fPIC", "-c", *options, str(source), "-o", "/dev/null"])


def _support(folder: Path) -> list[Path]:
    return support.objects(folder, [build.CXX])


def _support_anew() -> None:
    folder = Path(tempfile.mkdtemp(prefix="kernpack-bench-"))
    try:
        _support(folder)
    finally:
        shutil.rmtree(folder)


def _compile_times(repetitions: int) -> list[Row]:
    actions = {name: lambda source=source: _compile(source, _our_flags()) for name, source in OURS.items()}
    actions["theirs"] = lambda: _compile(THEIRS, build.tvm_ffi_flags()[0])
    actions["support"] = _support_anew
    times = {name: Timing() for name in actions}
    for _ in range(repetitions):
        for name, action in actions.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            action()
            times[name].samples.append((resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before) * 1e3)
    rows = [
        timed_row("building", f"compile {name}, g++ -O2 -c", {"ours": times[name], "theirs": times["theirs"]}, 0.4,
                  unit="ms")
        for name in OURS
    ]  # fmt: skip
    note = "once a project"
    return [*rows, Row("building", "compile the support library", times["support"].best, None, unit="ms", note=note)]


def _sizes() -> list[Row]:
    objects = [str(path) for path in _support(build.CACHE / "support")]
    theirs = build.shared_object(THEIRS, "smallest_tvm", build.tvm_ffi_flags()).stat().st_size
    rows = []
    for name, source in OURS.items():
        linked = (_our_flags(), [*objects, *flags.link_flags()])
        ours = build.shared_object(source, source.stem, linked).stat().st_size
        rows.append(Row("building", f"{name}, stripped module", ours / 1024, theirs / 1024, unit="KiB", goal=0.6))
    return rows
