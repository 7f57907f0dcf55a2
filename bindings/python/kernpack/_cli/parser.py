"""argparse with the look of the command line (look.py)."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from kernpack._cli.look import Wrong, definitions, paragraph, unknown_option


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises Wrong, and whose help looks as click's does."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog=prog, description=description, add_help=False, allow_abbrev=False)
        self.add_argument("-h", "--help", action="help", help="show this message and exit")

    def format_usage(self) -> str:
        words = [self.prog, "[OPTIONS]", *(_place(each) for each in self._actions if not each.option_strings)]
        return f"Usage: {self.usage or ' '.join(words)}\n"

    def format_help(self) -> str:
        named: list[tuple[str, str]] = []
        help_: list[tuple[str, str]] = []
        for each in self._actions:
            if each.option_strings:
                rows = help_ if each.dest == "help" else named  # the last row, as click has it
                rows.append((_option(each), _sentence(each.help or "")))
        places = [
            (_metavar(each), _sentence(each.help)) for each in self._actions if not each.option_strings and each.help
        ]
        parts = [[self.format_usage().rstrip()], list(paragraph(self.description or ""))]
        parts += [["Arguments:", *definitions(places)]] if places else []
        parts += [["Options:", *definitions([*named, *help_])]]
        parts += [list(paragraph(self.epilog))] if self.epilog else []
        return "\n\n".join("\n".join(part) for part in parts) + "\n"

    def error(self, message: str) -> NoReturn:
        raise Wrong(_plain(message, self._option_strings()), self.format_usage())

    def _option_strings(self) -> list[str]:
        return [name for each in self._actions for name in each.option_strings]

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(
                action if action.option_strings else None, f"expected {' or '.join(action.choices)}, got '{value}'"
            )


def number(kind: type[int] | type[float], what: str, least: float = float("-inf")) -> Callable[[str], Any]:
    """The type of an option: a number from `least` on. what: "a number of days, 0 or more"."""

    def convert(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not value >= least:  # a NaN neither
            raise argparse.ArgumentTypeError(f"expected {what}, got '{text}'")
        return value

    return convert


def _metavar(action: argparse.Action) -> str:
    if action.choices is not None:
        return "|".join(action.choices)
    return str(action.metavar or action.dest.upper())


def _place(action: argparse.Action) -> str:
    name = _metavar(action)
    several = "..." if action.nargs in ("*", "+", argparse.REMAINDER) else ""
    return f"[{name}]{several}" if action.nargs in ("?", "*", argparse.REMAINDER) else f"{name}{several}"


def _option(action: argparse.Action) -> str:
    names = ", ".join(sorted(action.option_strings, key=len))
    return names if action.nargs == 0 else f"{names} {_metavar(action)}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _plain(message: str, options: Iterable[str]) -> str:
    """argparse's message, in the words that both halves use."""
    if message.startswith("unrecognized arguments: "):
        word = message.removeprefix("unrecognized arguments: ").split()[0]
        return unknown_option(word, options) if word.startswith("-") else f"unexpected argument '{word}'"
    if message.startswith("the following arguments are required: "):
        return f"missing argument {message.partition(': ')[2].split(', ')[0]}"
    if message.startswith("argument "):  # "argument --jobs/-j: expected ..."
        names, _, said = message.removeprefix("argument ").partition(": ")
        return f"{max(names.split('/'), key=len)}: {said}"
    return message
