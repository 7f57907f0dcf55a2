"""Other processes: with other memory, other threads and the code for other processors."""

from __future__ import annotations

import atexit
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Finding
from kernpack_sdk.testing.checks.repeat import differs, how_equal, with_other_values
from kernpack_sdk.testing.frameworks import NUMPY, Outcome


@dataclass(frozen=True)
class Elsewhere:
    """A process that is not like this one."""

    words: str
    environment: tuple[tuple[str, str], ...]
    exact: bool = True
    order: int = 1  # -1: the last call first


# glibc fills what malloc gives, and what free takes, with the byte and its complement.
_MEMORY = (
    Elsewhere(
        "one thread and fresh memory filled with 0xaa", (("MALLOC_PERTURB_", "85"), ("KERNPACK_NUM_THREADS", "1"))
    ),
    Elsewhere(
        "five threads, fresh memory filled with 0x55 and the last call first",
        (("MALLOC_PERTURB_", "170"), ("KERNPACK_NUM_THREADS", "5")),
        order=-1,
    ),
)


def processes(bench: Bench) -> Iterator[Finding]:
    chosen = bench.calls if bench.options.full else bench.few(12)
    calls = [each for call in chosen for each in (call, with_other_values(call, 0), with_other_values(call, 1))]
    here = [bench.run(call) for call in calls]
    for place in (*_MEMORY, *_variants(bench)):
        there = _Peer.of(place, bench).outcomes(bench.op.name, calls[:: place.order])
        there = there if isinstance(there, str) else there[:: place.order]
        if isinstance(there, str):
            bench.starts(calls[0], f" in a process with {place.words}")
            yield Finding(f"expected the calls to work in a process with {place.words}, but {there}", calls[0].text())
            continue
        for call, a, b in zip(calls, here, there, strict=True):
            found = differs(bench, call, a, b, exact=None if place.exact else False)
            if found:
                same = how_equal(bench) if place.exact else "the same results up to rounding"
                yield Finding(
                    f"expected {same} in another process, but with {place.words} {found} (here, there)",
                    call.text(),
                    "look for memory that is read before it is written, for what is kept from call to call, and for what depends on "
                    "addresses or on the number of threads"
                    if place.exact
                    else "compare the implementations of KP_EXPORT_FOR",
                )
                break


def _variants(bench: Bench) -> Iterator[Elsewhere]:
    """The implementations for other processors, but the one that is used here."""
    for variant in bench.op.module.functions[bench.op.name].variants:
        if not variant["chosen"] and str(variant["target"] or "llvm").startswith("llvm"):
            target = variant["target"] or "llvm -mcpu=x86-64"
            yield Elsewhere(f"the implementation for {target}", (("KERNPACK_TARGET", target),), exact=False)


class _Peer:
    """A process that makes the calls it is told. It ends with this one."""

    _running: ClassVar[dict[tuple[Elsewhere, str], _Peer]] = {}

    @classmethod
    def of(cls, place: Elsewhere, bench: Bench) -> _Peer:
        key = place, bench.op.module._source
        if key not in cls._running or cls._running[key].process.poll() is not None:
            cls._running[key] = cls(place, bench)
        return cls._running[key]

    def __init__(self, place: Elsewhere, bench: Bench) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="kernpack-test-")
        module = bench.op.module
        sources = module._source.split(os.pathsep) if module._by_path else module._source
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kernpack_sdk.testing.checks.processes", json.dumps(sources)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **dict(place.environment)},
            text=True,
        )
        atexit.register(self._end)

    def _end(self) -> None:
        self.process.kill()
        self.process.wait()
        self._folder.cleanup()

    def outcomes(self, name: str, calls: Any) -> list[Outcome] | str:
        """The outcomes of the calls, or a text about how the process ended."""
        asked, given = Path(self._folder.name, "calls"), Path(self._folder.name, "outcomes")
        asked.write_bytes(pickle.dumps((name, [call.values for call in calls])))
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(f"{asked}\t{given}\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            return f"the process ended with status {self.process.wait()}"
        found = pickle.loads(given.read_bytes())
        return [Outcome(arrays, None if error is None else RuntimeError(error)) for arrays, error in found]


def _serve(sources: Any) -> None:
    import kernpack

    from kernpack_sdk.testing.case import Call, Op

    module = kernpack.load(sources)
    for line in sys.stdin:
        asked, given = line.rstrip("\n").split("\t")
        name, values = pickle.loads(Path(asked).read_bytes())
        op = Op.of(module, name)
        outcomes = [NUMPY.call(Call(op, each)) for each in values]
        Path(given).write_bytes(pickle.dumps([(each.arrays, each.refusal or None) for each in outcomes]))
        print("done", flush=True)


if __name__ == "__main__":
    _serve(json.loads(sys.argv[1]))
