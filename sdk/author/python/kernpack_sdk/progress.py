"""Shows the progress of a build. On a terminal: one line that changes, and a bar while it compiles. Elsewhere: a line now and then, so
that a build of a minute, as nvcc needs, isn't silent."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

_STEP = re.compile(r"\[(\d+)/(\d+)\] (?:Building (\w+) object (\S+)|(.*))")  # ninja's
_PERCENT = re.compile(r"\[ *(\d+)%\] (?:Building (\w+) object (\S+)|(.*))")  # make's
CONFIGURING, COMPILING = "*** Configuring CMake", "*** Building project"  # as scikit-build-core says it
_PHASES = (
    (re.compile(r"Installing build dependencies"), "installing what [build-system] requires"),
    (re.compile(re.escape(CONFIGURING)), "configuring"),
    (re.compile(re.escape(COMPILING)), "compiling"),
    (re.compile(r"\*\*\* Installing project"), "collecting the wheel's files"),
    (re.compile(r"\*\*\* Making wheel"), "packing the wheel"),
)


def step(line: str) -> tuple[str, int | None, int | None] | None:
    """The current step in a line of a build's output, and the number of finished steps and of all steps if the line has them."""
    for pattern, phase in _PHASES:
        if pattern.search(line):
            return phase, None, None
    if found := _STEP.match(line):
        return _doing(found[3], found[4], found[5]), int(found[1]), int(found[2])
    if found := _PERCENT.match(line):
        return _doing(found[2], found[3], found[4]), int(found[1]), 100
    return None


def _doing(language: str | None, made: str | None, other: str | None) -> str:
    if made is None or language is None:
        return (other or "").strip()[:60]
    source = re.sub(r"^.*?\.dir/|\.o$", "", made)
    return f"compiling {source}" if language != "CUDA" else f"compiling {source} (nvcc)"


def run_showing(
    command: list[str],
    line: Callable[[str], None],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """A program's exit code and what it prints, each line of it handed to `line` as it comes."""
    said = []
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        try:
            for each in process.stdout:
                said.append(each)
                line(each.strip())
        except BaseException:
            process.terminate()
            raise
    return process.returncode, "".join(said)


@contextlib.contextmanager
def shown(title: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A function for each line that the build prints. Shows nothing where `quiet`."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if quiet:
        yield lambda line: None
        return
    if not console.is_terminal:
        with _told(title) as show:
            yield show
        return
    text = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn(), TimeElapsedColumn(), BarColumn(bar_width=20), text)
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(title, total=None)

        def show(line: str) -> None:
            if found := step(line):
                doing, done, of = found
                progress.update(task, description=f"{title}: {doing}", completed=done or 0, total=of)

        yield show


_EVERY = 15.0  # seconds until the first line, and between lines


@contextlib.contextmanager
def _told(title: str, state: str = "starting") -> Iterator[Callable[[str], None]]:
    """For logs: a line to stderr where a build takes long. Ninja names a step when it is done, so steps are counted."""
    begun, ended = time.monotonic(), threading.Event()

    def show(line: str) -> None:
        nonlocal state
        if found := step(line):
            doing, done, of = found
            state = (
                doing
                if done is None
                else f"{done} % done"
                if of == 100 and "%]" in line
                else f"{done} of {of} steps done"
            )

    def tell() -> None:
        while not ended.wait(_EVERY):
            print(f"{title}: {state}, {time.monotonic() - begun:.0f} s so far", file=sys.stderr, flush=True)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield show
    finally:
        ended.set()
        teller.join()


@contextlib.contextmanager
def announced(title: str, place: Path) -> Iterator[None]:
    """For compilations inside a program, as load_inline's: says on stderr that one begins, that it goes on, and how long it took.
    KERNPACK_PROGRESS=0 turns this off."""
    if sys.stderr is None or os.environ.get("KERNPACK_PROGRESS", "") == "0":
        yield
        return
    begun = time.monotonic()
    print(f"{title}, into {place}", file=sys.stderr, flush=True)
    result = "failed"
    try:
        with _told(title, "not done yet"):
            yield
        result = "done"
    finally:
        print(f"{title}: {result} after {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
