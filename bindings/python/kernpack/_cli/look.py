"""The look of the command line: help, wrong command lines and failures. kernpack_sdk/cli.py gives the commands that click reads the
same look; tests/python/cli/test_look.py compares both.

With --json a failure is an object on standard output too: {"error": "...", "exit_code": 1}.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

DONE, FAILED, USAGE, MISSING = range(4)
EXIT_CODES = "Exit codes: 0 done; 1 failed, or found problems; 2 the command line is wrong; 3 a package is missing."
_WIDEST = 100  # columns, where COLUMNS doesn't say otherwise


class Failure(Exception):
    """Ends a command with a message and an exit code."""

    def __init__(self, text: str, code: int = FAILED) -> None:
        super().__init__(text)
        self.code = code


class Wrong(Failure):
    """A wrong command line: the line of usage follows the message."""

    def __init__(self, text: str, usage: str = "") -> None:
        super().__init__(text, USAGE)
        self.usage = usage


def guarded(prog: str, words: Sequence[str], run: Callable[[], int]) -> int:
    """Runs a command; says why it ended where it raises Failure. The exit code."""
    try:
        return run()
    except Failure as failure:
        lines = [f"{prog}: {failure}"]
        if isinstance(failure, Wrong) and failure.usage:
            lines += [failure.usage.rstrip(), f"Help: {prog} --help"]
        print("\n".join(lines), file=sys.stderr)
        if wants_json(words):
            import json

            print(json.dumps({"error": str(failure), "exit_code": failure.code}))
        return failure.code
    except SystemExit as ended:  # argparse's way out, after --help
        return ended.code if isinstance(ended.code, int) else DONE


def wants_json(words: Sequence[str]) -> bool:
    """Of a whole command line. `profile --json FILE` writes a file, and its script may have an option of that name."""
    return "--json" in words and words[:1] != ["profile"]


def width() -> int:
    """Columns of text: what COLUMNS says, else the terminal's, not too many of them."""
    if os.environ.get("COLUMNS", "").isdigit() and (asked := int(os.environ["COLUMNS"])):
        return max(50, asked - 2)
    try:  # not shutil.get_terminal_size: shutil imports every kind of archive
        columns = os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ else 0
    except (OSError, ValueError):
        columns = 0
    return max(50, min(columns or 80, _WIDEST) - 2)


def paragraph(text: str) -> Iterator[str]:
    import textwrap

    yield from textwrap.wrap(" ".join(text.split()), width(), initial_indent="  ", subsequent_indent="  ")


def definitions(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Terms, and what each means, in two columns."""
    import textwrap

    first = min(max((len(term) for term, _ in rows), default=0), 30) + 2
    for term, text in rows:
        lines = textwrap.wrap(text, max(width() - first - 2, 20)) or [""]
        if len(term) > first - 2:
            yield f"  {term}"
            term = ""
        yield f"  {term:{first}}{lines[0]}".rstrip()
        yield from (f"  {'':{first}}{line}" for line in lines[1:])


def unknown_option(word: str, options: Iterable[str]) -> str:
    from kernpack._suggest import did_you_mean

    name = word.partition("=")[0]
    return f"no option '{name}'{did_you_mean(name, options)}"
