"""Memory that each call leaves behind."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from pathlib import Path

import kernpack

from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding
from kernpack_sdk.testing.frameworks import NUMPY

_LEAST = 8  # bytes a call, in each of several windows: what a kernel allocates and forgets is more


class _MallInfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in [
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        ]
    ]


def _heap() -> int:
    """Bytes of malloc that are in use; 0 with a libc before 2.33, where mapped memory has to do."""
    gc.collect()
    mallinfo2 = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo2 is None:
        return 0
    mallinfo2.restype = _MallInfo
    info = mallinfo2()
    return int(info.uordblks + info.hblkhd)


def _mapped() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * 4096


def growth(bench: Bench) -> Iterator[Finding]:
    times = 2000 if bench.options.full else 400
    threads = kernpack.get_num_threads()
    kernpack.set_num_threads(1)
    try:
        refused = [call for call, _ in bench.refused[:1]]  # what is allocated before an error is forgotten more easily
        for call in [*bench.few(3 if bench.options.full else 2), *refused]:
            grown, what = _least_growth(bench, call, times)
            if grown >= _LEAST:
                yield Finding(
                    f"expected calls to free the memory that they allocate, but each call leaks about {grown:.0f} bytes of {what} "
                    f"({times} calls, 4 times)",
                    call.text(),
                    "free what the kernel allocates, on errors too; kp::Workspace is memory that the host keeps",
                )
                return
    finally:
        kernpack.set_num_threads(threads)


def _least_growth(bench: Bench, call: Call, times: int) -> tuple[float, str]:
    """Bytes a call, of the window that grew least: caches that fill up, and what others do, are in some windows only."""
    values = NUMPY.values(call)
    bench.starts(call, f", {times} times over")

    def some() -> None:
        for _ in range(times):
            NUMPY.call_on(call, values)

    some()
    found = []
    for measure, what in ((_heap, "the heap"), (_mapped, "mapped memory")):
        grown = []
        for _ in range(4):
            before = measure()
            some()
            grown.append((measure() - before) / times)
        found.append((min(grown), what))
    return max(found)
