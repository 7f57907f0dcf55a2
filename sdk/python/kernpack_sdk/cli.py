"""The `kernpack` command (and `kernpack-config`, short for `kernpack config`)."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from kernpack_sdk import __version__, cmake_dir, flags, include_dir


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["test"]:  # argparse would take its options for those of `kernpack`
        from kernpack_sdk.testing import command

        return command.main(arguments[1:])
    options = _parser().parse_args(arguments)
    return options.run(options)


def config_main() -> int:
    return main(["config", *sys.argv[1:]])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kernpack", description="Tools for authors of Kernpack kernels.")
    parser.add_argument("--version", action="version", version=f"kernpack-sdk {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")

    config = commands.add_parser("config", help="print where the SDK is and what to compile with")
    what = config.add_mutually_exclusive_group(required=True)
    what.add_argument("--includes", action="store_const", dest="what", const="includes", help="the -I option")
    what.add_argument("--cflags", action="store_const", dest="what", const="cflags", help="options for C++ sources")
    what.add_argument("--ldflags", action="store_const", dest="what", const="ldflags", help="options for linking")
    what.add_argument("--cmakedir", action="store_const", dest="what", const="cmakedir", help="for -Dkernpack_DIR=")
    config.set_defaults(run=_config)

    check = commands.add_parser("check", help="check a wheel or module before publishing it")
    check.add_argument("file", type=Path, nargs="+", help=".whl or .so")
    check.set_defaults(run=_check)

    stubs = commands.add_parser("stubs", help="write a .pyi file from the signatures in a built module")
    stubs.add_argument("module", type=Path, nargs="+", help=".so; several are merged by function name")
    stubs.add_argument("-o", "--output", type=Path, help="default: print")
    stubs.set_defaults(run=_stubs)

    commands.add_parser("test", help="test a module by its contracts (`kernpack test --help`)", add_help=False)
    return parser


def _config(options: argparse.Namespace) -> int:
    print(
        {
            "includes": lambda: f"-I{shlex.quote(str(include_dir()))}",
            "cflags": lambda: shlex.join(flags.compile_flags()),
            "ldflags": lambda: shlex.join(flags.link_flags()),
            "cmakedir": lambda: str(cmake_dir()),
        }[options.what]()
    )
    return 0


def _check(options: argparse.Namespace) -> int:
    from kernpack_sdk import check  # reads ELF files with pyelftools, which `config` does without

    failed = False
    for file in options.file:
        problems = check.check(file)
        failed = failed or bool(problems)
        print("\n".join(problems) if problems else f"{file}: {check.describe(file)}")
    return int(failed)


def _stubs(options: argparse.Namespace) -> int:
    from kernpack_sdk import stubs, table

    try:
        functions = [function for module in options.module for function in table.read(module)]
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    text = stubs.render(functions)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0
