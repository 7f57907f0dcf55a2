"""`kernpack bench --compare`: the same cases with two wheels of one package, each in a process of its own, timed in turns."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import IO, Any, cast

from kernpack_sdk import archive, measure


@dataclass(frozen=True)
class Row:
    """Times in seconds per call; `ratio`: how many times as fast as the old one, by the median of the pairs."""

    case: str
    median: float  # of the new one
    spread: float  # half the distance between the quartiles
    old: float
    ratio: float
    samples: int


class Side:
    """A process that has one wheel's packages before all others. ValueError where the cases can't be had with it."""

    def __init__(self, wheel: Path, folder: Path, file: Path) -> None:
        archive.unpack(wheel, folder)
        self.wheel = wheel
        self.packages = sorted(_packages(folder))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kernpack_sdk.compare_wheels", str(folder), str(file.resolve()), *self.packages],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")])),
            },
            text=True,
        )
        try:
            self.cases: list[str] = self._answer()["cases"]
        except ValueError:
            self._process.kill()
            self._process.wait()
            raise

    def __enter__(self) -> Side:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            cast(IO[str], stream).close()

    def sample(self, case: str) -> float:
        """Seconds per call, over as many calls as one sample takes."""
        stdin = cast(IO[str], self._process.stdin)
        try:
            stdin.write(json.dumps(case) + "\n")
            stdin.flush()
        except BrokenPipeError:
            pass  # what it left behind is read below
        return float(self._answer()["seconds"])

    def _answer(self) -> Any:
        line = cast(IO[str], self._process.stdout).readline()
        if not line:
            raise ValueError(f"{self.wheel.name}: the process ended with status {self._process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise ValueError(f"{self.wheel.name}: {answer['error']}")
        return answer


def compare(old: Path, new: Path, file: Path, pattern: str, seconds: float, shown: Any = iter) -> list[Row]:
    """A row per case that both have. ValueError where the wheels or the file aren't what is expected."""
    with ExitStack() as stack:
        folders = [Path(stack.enter_context(TemporaryDirectory(prefix="kernpack-bench-"))) for _ in range(2)]
        sides = [
            stack.enter_context(Side(wheel, folder, file)) for wheel, folder in zip((old, new), folders, strict=True)
        ]
        if sides[0].packages != sides[1].packages:
            held = [f"{side.wheel.name} has {', '.join(side.packages) or 'none'}" for side in sides]
            raise ValueError(f"expected two wheels with the same packages; {'; '.join(held)}")
        cases = [case for case in sides[1].cases if case in sides[0].cases and pattern in case]
        if not cases:
            raise ValueError(f"{file}: no case{f' named *{pattern}*' if pattern else ''} that both wheels have")
        return [_row(sides, case, seconds) for case in shown(cases)]


def _row(sides: Sequence[Side], case: str, seconds: float) -> Row:
    """Pairs of samples, one with each wheel, in alternating order."""
    for side in sides:
        side.sample(case)
    found: list[list[float]] = [[], []]
    order = [0, 1]
    end = time.perf_counter() + seconds
    while len(found[0]) < 5 or time.perf_counter() < end:
        for i in order:
            found[i].append(sides[i].sample(case))
        order.reverse()
    ratio = statistics.median(old / new for old, new in zip(*found, strict=True))
    low, _, high = statistics.quantiles(found[1], n=4)
    old, new = (statistics.median(each) for each in found)
    return Row(case, new, (high - low) / 2, old, ratio, len(found[0]))


def _packages(folder: Path) -> set[str]:
    """The packages that can be imported from a wheel."""
    return {
        entry.name.partition(".")[0]
        for entry in folder.iterdir()
        if not entry.name.endswith((".dist-info", ".data", ".libs"))
    }


def _serve(folder: str, file: str, packages: Sequence[str]) -> None:
    """Samples of the cases that are asked for, a line of JSON each. What the cases print goes to stderr."""
    gc.disable()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def answer(**found: Any) -> None:
        answers.write(json.dumps(found) + "\n")

    try:
        for package in packages:
            spec = importlib.util.find_spec(package)
            origin = None if spec is None else spec.origin or next(iter(spec.submodule_search_locations or ()), None)
            if origin is None or not Path(origin).resolve().is_relative_to(Path(folder).resolve()):
                raise ValueError(
                    f"package {package} would be imported from {origin}, not from the wheel: uninstall the editable {package}"
                )
        cases = {case[0]: case for case in measure.load_cases(Path(file))}
        answer(cases=list(cases))
        calls: dict[str, int] = {}
        for line in sys.stdin:
            name, function, _, arguments = cases[json.loads(line)]
            if name not in calls:
                calls[name] = measure.calls_per_sample(function, arguments)
            answer(seconds=measure.sample(function, arguments, calls[name]))
    except Exception as error:  # the author's code runs here
        answer(error=f"{type(error).__name__}: {error}" if not isinstance(error, ValueError) else str(error))


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2], sys.argv[3:])
