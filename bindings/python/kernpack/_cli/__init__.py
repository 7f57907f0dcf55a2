"""The command `kernpack`, which is `python -m kernpack`: what the runtime wheel answers by itself, with the standard library alone.

Everything else belongs to kernpack-sdk, which takes over when it is installed. Exit codes: 0 done; 1 failed, or found
problems; 2 the command line is wrong; 3 a required package isn't installed. Each module here is a command, imported when it is
asked for, so that help and completions are there at once.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from kernpack._cli import look
from kernpack._cli.look import DONE, FAILED, MISSING, USAGE, Failure, Wrong, unknown_option

if TYPE_CHECKING:
    import argparse

    from kernpack._cli.parser import Parser

__all__ = ["DONE", "FAILED", "MISSING", "OWN_COMMANDS", "SDK_COMMANDS", "SDK_LINE", "USAGE", "main"]

# The SDK's commands, to say what is missing where it isn't installed; tests/python/cli compares the names.
SDK_COMMANDS = (
    *("add-op", "bench", "build", "check", "completions", "config", "demo", "dev", "import", "inspect"),
    *("keygen", "new", "publish", "sign", "slim", "split", "stubs", "test"),
)
SDK_LINE = "pip install kernpack-sdk"

# Of each command its line of help. The module of its name in this package adds its options and runs it.
OWN_COMMANDS = {
    "cache": "Show the disk space that compiled and loaded modules use; `clean` removes it",
    "doctor": "Check the installation, and print the command that fixes each problem",
    "explain": "Show which code a call would run, why, and what it would allocate",
    "info": "Show versions, devices, caches and installed kernel packages",
    "lock": "Write a lock file of the installed kernel wheels, with the digest of each file",
    "profile": "Run a script and report the time that its kernels took",
    "verify": "Compare the installed kernel wheels with the lock, or wheels with their signatures",
    "warm": "Compile the CUDA code that a module carries as source, before its first call",
}


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):  # a path need not be UTF-8
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        return _run(words)
    except BrokenPipeError:  # `kernpack info | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE


def _run(words: list[str]) -> int:
    if words and words[0] in OWN_COMMANDS:
        return look.guarded(f"kernpack {words[0]}", words, lambda: _own(words))
    if os.environ.get("_KERNPACK_COMPLETE"):
        return _beyond(words)
    if not words or words[0] in ("-h", "--help"):
        print(_overview())
        return DONE
    if words[0] == "--version":
        print("\n".join(_versions()))
        return DONE
    return _beyond(words)


def _own(words: Sequence[str]) -> int:
    parser = make_parser(words[0])
    options, beyond = parser.parse_known_args(words[1:])
    _add_later(parser, options, beyond)
    try:
        code: int = options.run(options)
    except Wrong as wrong:
        raise Wrong(str(wrong), wrong.usage or parser.format_usage()) from None
    return code


def _add_later(parser: Parser, options: argparse.Namespace, beyond: Sequence[str]) -> None:
    """Arguments that follow an option, as in `explain NAME.op --device cuda f32[4]`: argparse knows those before it only."""
    takes = hasattr(options, "takes_later")
    if beyond and (not takes or any(word.startswith("--") for word in beyond)):
        parser.error(f"unrecognized arguments: {next((word for word in beyond if word.startswith('-')), beyond[0])}")
    if takes:
        options.takes_later(options, beyond)


def make_parser(name: str) -> Parser:
    """The parser of one of OWN_COMMANDS."""
    import importlib

    from kernpack._cli.parser import Parser

    parser = Parser(f"kernpack {name}", f"{OWN_COMMANDS[name]}.")
    importlib.import_module(f"kernpack._cli.{name}").add(parser)
    return parser


def _overview() -> str:
    """Help of the whole program, which imports no command."""
    author = _sdk_commands()
    rows = sorted({**OWN_COMMANDS, **author}.items())
    options = [("--version", "Show the versions and exit."), ("-h, --help", "Show this message and exit.")]
    beyond = "" if author else f"With kernpack-sdk ({SDK_LINE}): {', '.join(SDK_COMMANDS)}. "
    parts = [
        [_USAGE],
        list(look.paragraph("Kernels written once, called from NumPy, PyTorch and JAX.")),
        ["Commands:", *look.definitions(rows)],
        ["Options:", *look.definitions(options)],
        list(look.paragraph(f"{beyond}{look.EXIT_CODES}")),
    ]
    return "\n\n".join("\n".join(part) for part in parts)


_USAGE = "Usage: kernpack COMMAND [OPTIONS] [ARGUMENT]..."


def _sdk_commands() -> dict[str, str]:
    """The commands of the SDK that is installed, with their lines of help."""
    try:
        from kernpack_sdk.commands import COMMANDS
    except ImportError:  # not installed, or older than this table
        return {}
    return dict(COMMANDS)


def _versions() -> list[str]:
    from kernpack import __version__

    try:
        from kernpack_sdk import __version__ as sdk
    except ImportError:
        return [f"kernpack {__version__}"]
    return [f"kernpack {__version__}", f"kernpack-sdk {sdk}"]


def _beyond(words: list[str]) -> int:
    """Runs a command that isn't the runtime's: the SDK's, or a mistake."""
    try:
        from kernpack_sdk.cli import main as sdk_main
    except ImportError as error:
        lacking = error
        name = "completions" if os.environ.get("_KERNPACK_COMPLETE") else words[0]
        prog = f"kernpack {name}" if name in SDK_COMMANDS else "kernpack"
        return look.guarded(prog, words, lambda: _without_sdk(name, lacking))
    return sdk_main(words)


def _without_sdk(name: str, error: ImportError) -> NoReturn:
    from kernpack._suggest import did_you_mean

    if name in SDK_COMMANDS:
        lacking = (
            ""
            if (error.name or "kernpack_sdk").startswith("kernpack_sdk")
            else f" (it is installed, but {error.name}, which it needs, isn't)"
        )
        raise Failure(f"needs kernpack-sdk{lacking}; install it: {SDK_LINE}", MISSING)
    if name.startswith("-"):
        raise Wrong(unknown_option(name, ("--help", "--version")), _USAGE)
    known = [*OWN_COMMANDS, *SDK_COMMANDS]
    hint = did_you_mean(name, known) or f"; commands: {', '.join(sorted(known))}"
    raise Wrong(f"no command '{name}'{hint}", _USAGE)
