"""After fork(), as in the workers of data loaders."""

from __future__ import annotations

import os
import pickle
import select
import signal
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Finding
from kernpack_sdk.testing.checks.repeat import differs
from kernpack_sdk.testing.checks.threads import large_calls
from kernpack_sdk.testing.frameworks import NUMPY, Outcome

_PATIENCE = 10  # seconds: the calls take milliseconds


def fork(bench: Bench) -> Iterator[Finding]:
    calls = [*large_calls(bench)[:2], *bench.few(4)]
    expected = [bench.run(call) for call in calls]
    bench.starts(calls[0], " in a child made by fork()")
    answer = _in_child(lambda: [_plain(NUMPY.call(call)) for call in calls])
    if isinstance(answer, str):
        yield Finding(
            f"expected the calls to work in a child made by fork() too, but {answer}",
            calls[0].text(),
            "threads and locks of the parent aren't there in a child: use kp::parallel_for, or pthread_atfork",
        )
        return
    for call, a, (arrays, error) in zip(calls, expected, answer, strict=True):
        b = Outcome(arrays, None if error is None else RuntimeError(error))
        found = differs(bench, call, a, b)
        if found:
            yield Finding(f"expected the same in a child made by fork(), but {found} (parent, child)", call.text())
            return


def _plain(outcome: Outcome) -> tuple[Any, str | None]:
    return outcome.arrays, outcome.refusal or None


def _in_child(work: Callable[[], Any]) -> Any:
    """The result of the work in a forked child, or a text about how the child ended."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork with threads around is what is tested
        child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reader)
            with os.fdopen(writer, "wb") as pipe:
                pickle.dump(work(), pipe)
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    data = b""
    with os.fdopen(reader, "rb") as pipe:
        while True:
            ready, _, _ = select.select([pipe], [], [], _PATIENCE)
            if not ready:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return f"the calls hadn't finished after {_PATIENCE} seconds"
            part = os.read(pipe.fileno(), 1 << 20)
            if not part:
                break
            data += part
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        return f"the child was ended by {signal.Signals(-status).name}"
    return pickle.loads(data) if status == 0 else f"the child ended with status {status}"
