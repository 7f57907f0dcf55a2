"""Threads: of the kernel's own parallel_for, and of callers that call at once."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator

import kernpack

from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding
from kernpack_sdk.testing.checks.repeat import differs, how_equal, with_other_values
from kernpack_sdk.testing.frameworks import NUMPY, Outcome
from kernpack_sdk.testing.generate import Wish
from kernpack_sdk.testing.sizes import bound_names

_LARGE = 1 << 18


def large_calls(bench: Bench) -> list[Call]:
    """Large enough for parallel_for to share out."""
    contract = bench.op.contract
    if contract is None:
        return bench.calls[:2]
    dims, _ = bound_names(contract, frozenset(each.name for each in contract.parameters))
    wishes = [Wish("many rows", profile="odd", batch=(1031,), largest=_LARGE)]
    wishes += [Wish(f"{name} large", profile="odd", sizes={name: 4099}, largest=_LARGE) for name in dims[:3]]
    wishes += [Wish("large tensors", sizes=dict.fromkeys(dims[:2], 301), largest=_LARGE)] if len(dims) > 1 else []
    found = [bench.accepted(wish) for wish in wishes]
    return [call for call in found if call is not None]


def pool(bench: Bench) -> Iterator[Finding]:
    """Other numbers of threads of the host's pool."""
    before = kernpack.get_num_threads()
    try:
        for call in [*large_calls(bench), *bench.few(6)]:
            kernpack.set_num_threads(1)
            expected = bench.run(call)
            for threads in (2, 3, 8) * (2 if bench.options.full else 1):
                kernpack.set_num_threads(threads)
                found = differs(bench, call, expected, bench.run(call))
                if found:
                    yield Finding(
                        f"expected {how_equal(bench)} on {threads} threads as on one, but {found} (1 thread, {threads} threads)",
                        call.text(),
                        "cut the work by its size, not by the number of threads, and let no two threads write the same memory",
                    )
                    return
    finally:
        kernpack.set_num_threads(before)


_CALLERS = 4
_CALLS = 16  # of each of them at least, within a second: on a busy machine a time alone may be a single turn


def callers(bench: Bench) -> Iterator[Finding]:
    """Several threads call at once, each with other values."""
    calls = [*large_calls(bench)[:3], *bench.few(2)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for call in calls:
            mine = [call] + [_another(call, i) for i in range(1, _CALLERS)]
            expected = [bench.run(each) for each in mine]
            found = _at_once(bench, mine, expected)
            if found:
                yield Finding(
                    f"expected {how_equal(bench)} when {_CALLERS} threads call at once, but {found} (alone, at once)",
                    call.text(),
                    "the GIL is released while a kernel runs: use no static buffers; kp::Workspace gives each thread its own",
                )
                return
    finally:
        sys.setswitchinterval(interval)


def _another(call: Call, number: int) -> Call:
    for _ in range(number):
        call = with_other_values(call, 0)
    return call


def _at_once(bench: Bench, calls: list[Call], expected: list[Outcome]) -> str:
    found: list[str] = []
    writes = bench.op.contract is not None and bench.op.contract.mutates
    stop = threading.Event()
    made = [0] * len(calls)
    ready = threading.Barrier(len(calls))

    def work(i: int) -> None:
        values = NUMPY.values(calls[i])
        ready.wait()
        while not stop.is_set():
            given = NUMPY.call(calls[i]) if writes else NUMPY.call_on(calls[i], values)
            difference = differs(bench, calls[i], expected[i], given)
            if difference:
                found.append(difference)
                stop.set()
            made[i] += 1

    bench.starts(calls[0], f" from {len(calls)} threads at once")
    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    seconds = 0.4 if bench.options.full else 0.08
    begin = time.monotonic()
    while not stop.wait(seconds) and min(made) < _CALLS and time.monotonic() - begin < 1:
        pass
    stop.set()
    for thread in threads:
        thread.join()
    return found[0] if found else ""
