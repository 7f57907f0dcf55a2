"""Shows the progress of a build on a terminal: one line that changes, and a bar while it compiles."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator

_STEP = re.compile(r"\[(\d+)/(\d+)\] (?:Building (\w+) object (\S+)|(.*))")  # ninja's
_PERCENT = re.compile(r"\[ *(\d+)%\] (?:Building (\w+) object (\S+)|(.*))")  # make's
_PHASES = (
    (re.compile(r"Installing build dependencies"), "installing what [build-system] requires"),
    (re.compile(r"\*\*\* Configuring CMake"), "configuring"),
    (re.compile(r"\*\*\* Building project"), "compiling"),
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


@contextlib.contextmanager
def shown(title: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A function for each line that the build prints. Shows nothing where `quiet`, and where stderr isn't a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda line: None
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
