"""The command `kernpack`, which is `python -m kernpack`: what the runtime wheel answers by itself, with the standard library alone.

Everything else belongs to kernpack-sdk, which takes over when it is installed. Exit codes: 0 done; 1 failed, or found
problems; 2 the command line is wrong; 3 a required package isn't installed.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import Any

from kernpack._suggest import did_you_mean

DONE, FAILED, USAGE, MISSING = range(4)

# The SDK's commands, to say what is missing where it isn't installed; tests/python/cli compares the names.
SDK_COMMANDS = (
    *("bench", "build", "check", "completions", "config", "dev", "inspect", "keygen", "new", "publish", "sign"),
    *("stubs", "test"),
)
SDK_LINE = "pip install kernpack-sdk"


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):  # a path need not be UTF-8
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    parser = build_parser()
    try:
        if words and words[0] in OWN_COMMANDS:
            options, beyond = parser.parse_known_args(words)
            _add_later(parser, options, beyond)
            code: int = options.run(options)
            return code
        return _beyond(parser, words)
    except SystemExit as ended:  # argparse's way out
        return ended.code if isinstance(ended.code, int) else USAGE
    except BrokenPipeError:  # `kernpack info | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE


def _add_later(parser: argparse.ArgumentParser, options: argparse.Namespace, beyond: Sequence[str]) -> None:
    """Arguments that follow an option, as in `explain NAME.op --device cuda f32[4]`: argparse knows those before it only."""
    takes = hasattr(options, "takes_later")
    if beyond and (not takes or any(word.startswith("--") for word in beyond)):
        parser.error(f"unrecognized arguments: {' '.join(beyond)}")
    if takes:
        options.takes_later(options, beyond)


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kernpack",
        description="Kernels written once, called from NumPy, PyTorch and JAX.",
        epilog=f"With kernpack-sdk ({SDK_LINE}): {', '.join(SDK_COMMANDS)}.",
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(metavar="command", required=True)
    for name, (summary, module) in OWN_COMMANDS.items():
        _load(module).add(commands.add_parser(name, help=summary, description=f"{summary}."))
    return parser


# Of each command its line of help, and the module of this package that adds its options and runs it.
OWN_COMMANDS = {
    "info": ("Show versions, devices, caches and installed kernel packages", "info"),
    "doctor": ("Check the installation, and print the command that fixes each problem", "doctor"),
    "explain": ("Show which code a call would run, why, and what it would allocate", "explain"),
    "profile": ("Run a script and report the time that its kernels took", "profile"),
    "cache": ("Show the disk space that compiled and loaded modules use; `clean` removes it", "cache"),
    "lock": ("Write a lock file of the installed kernel wheels, with the digest of each file", "lock"),
    "verify": ("Compare the installed kernel wheels with the lock, or wheels with their signatures", "verify"),
}


def _load(module: str) -> Any:
    import importlib

    return importlib.import_module(f"kernpack._cli.{module}")


def _version() -> str:
    from kernpack import __version__

    return f"kernpack {__version__}"


def _beyond(parser: argparse.ArgumentParser, words: list[str]) -> int:
    """What isn't the runtime's: the SDK's, or a mistake."""
    try:
        from kernpack_sdk.cli import main as sdk_main
    except ImportError as error:
        return _without_sdk(parser, words, error)
    return sdk_main(words)


def _without_sdk(parser: argparse.ArgumentParser, words: list[str], error: ImportError) -> int:
    if (words and words[0] in SDK_COMMANDS) or os.environ.get("_KERNPACK_COMPLETE"):
        lacking = (
            ""
            if (error.name or "kernpack_sdk").startswith("kernpack_sdk")
            else f" (it is installed, but {error.name}, which it needs, isn't)"
        )
        what = words[0] if words else "completions"
        print(f"kernpack {what}: needs kernpack-sdk{lacking}; install it: {SDK_LINE}", file=sys.stderr)
        return MISSING
    if words and not words[0].startswith("-"):
        known = [*OWN_COMMANDS, *SDK_COMMANDS]
        hint = did_you_mean(words[0], known) or f"; commands: {', '.join(sorted(known))}"
        print(f"kernpack: no command '{words[0]}'{hint}", file=sys.stderr)
        return USAGE
    parser.parse_args(words or ["--help"])
    return USAGE
