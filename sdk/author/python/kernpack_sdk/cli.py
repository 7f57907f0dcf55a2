"""The command `kernpack` of an author (and `kernpack-config`, short for `kernpack config`).

The runtime wheel owns the script `kernpack` and hands on what isn't its own; `python -m kernpack_sdk` is the same without it. Exit
codes: 0 done; 1 failed, or found problems; 2 the command line is wrong; 3 a required package isn't installed.
Help and failures look as those of the runtime's commands, which argparse reads (kernpack/_cli/look.py).
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Sequence

import click

from kernpack_sdk import __version__
from kernpack_sdk.commands import COMMANDS

FAILED, USAGE, MISSING = 1, 2, 3
# The runtime's, shown and completed here too.
_RUNTIME = {
    "cache": "Show the disk space that compiled and loaded modules use; `clean` removes it",
    "doctor": "Check the installation, and print the command that fixes each problem",
    "explain": "Show which code a call would run, why, and what it would allocate",
    "info": "Show versions, devices, caches and installed kernel packages",
    "lock": "Write a lock file of the installed kernel wheels, with the digest of each file",
    "profile": "Run a script and report the time that its kernels took",
    "verify": "Compare the installed kernel wheels with the lock, or wheels with their signatures",
    "warm": "Compile the CUDA code that a module carries as source, before its first call",
}
# Commands that are programs of their own, and how to get each.
_PROGRAMS = {
    "import": ("kernpack_compiler._command", "pip install kernpack-compiler"),
    "test": ("kernpack_sdk.testing.command", "pip install -U kernpack-sdk"),
}
_PASSED_ON = {"ignore_unknown_options": True, "help_option_names": []}
_COLUMNS = os.environ.get("COLUMNS", "")  # how wide help is: what it says, else the terminal's, not too many


class Missing(click.ClickException):
    """A package that the command needs isn't installed: the message says how to install it."""

    exit_code = MISSING


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*COMMANDS, *_RUNTIME])

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in _RUNTIME:
            return _handed_on(name, _RUNTIME[name], "kernpack._cli", "pip install kernpack")
        if name in _PROGRAMS:
            return _handed_on(name, COMMANDS[name], *_PROGRAMS[name])
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"kernpack_sdk.commands.{name.replace('-', '_')}").command
        command.short_help = COMMANDS[name]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):  # from the tables: no command is imported for the list
            formatter.write_dl(sorted({**COMMANDS, **_RUNTIME}.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if ctx.resilient_parsing or args[0] in self.list_commands(
            ctx
        ):  # a shell that completes asks, and takes no error
            return super().resolve_command(ctx, args)
        if args[0].startswith("-"):
            raise click.NoSuchOption(args[0], possibilities=["--help", "--version"], ctx=ctx)
        from kernpack_sdk.diagnose import nearest

        meant = nearest(args[0], self.list_commands(ctx))
        hint = f"did you mean '{meant}'?" if meant else "`kernpack --help` lists them"
        raise click.UsageError(f"no command '{args[0]}'; {hint}", ctx)


def _handed_on(name: str, summary: str, module: str, mend: str) -> click.Command:
    """A command whose options another program reads."""

    @click.command(name, context_settings=_PASSED_ON, short_help=summary, add_help_option=False)
    @click.argument("words", nargs=-1, type=click.UNPROCESSED)
    @click.pass_context
    def run(ctx: click.Context, words: tuple[str, ...]) -> None:
        try:
            program = importlib.import_module(module).main
        except ModuleNotFoundError as error:
            raise Missing(f"needs {error.name}; install it: {mend}") from None
        ctx.exit(program([name, *words] if module == "kernpack._cli" else list(words)))

    return run


@click.command(
    cls=_Commands,
    options_metavar="",
    subcommand_metavar="COMMAND [OPTIONS] [ARGUMENT]...",
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": int(_COLUMNS) if _COLUMNS.isdigit() else 100,
    },
)
@click.version_option(__version__, message="kernpack-sdk %(version)s")
def group() -> None:
    """Kernels written once, called from NumPy, PyTorch and JAX.

    Exit codes: 0 done; 1 failed, or found problems; 2 the command line is wrong; 3 a package is missing.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = group.main(
            words or ["--help"], prog_name="kernpack", complete_var="_KERNPACK_COMPLETE", standalone_mode=False
        )
        return code if isinstance(code, int) else 0
    except click.UsageError as error:
        ctx = error.ctx
        help_ = [ctx.get_usage(), f"Help: {ctx.command_path} --help"] if ctx else []
        return _ended(words, _mistake(error), USAGE, help_)
    except click.ClickException as error:
        return _ended(words, error.format_message(), error.exit_code)
    except click.Abort:
        return _ended(words, "stopped", FAILED)
    except BrokenPipeError:  # `kernpack inspect | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _ended(words: Sequence[str], text: str, code: int, help_: Sequence[str] = ()) -> int:
    """Says why: always on standard error, and with --json as an object on standard output."""
    prog = f"kernpack {words[0]}" if words and words[0] in COMMANDS else "kernpack"
    click.echo("\n".join([f"{prog}: {text}", *help_]), err=True)
    if "--json" in words:
        click.echo(json.dumps({"error": text, "exit_code": code}))
    return code


def _mistake(error: click.UsageError) -> str:
    """click's message, in the words that both halves use."""
    if isinstance(error, click.NoSuchOption):
        from kernpack_sdk.diagnose import nearest

        known = [*(error.possibilities or ()), *_options(error.ctx)]
        meant = nearest(error.option_name, known)
        return f"no option '{error.option_name}'{f'; did you mean {meant!r}?' if meant else ''}"
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return f"missing argument {error.param.human_readable_name}"
    if isinstance(error, click.BadParameter):
        if error.param is not None and isinstance(error.param.type, click.Choice):
            got = error.message.split("'")[1]
            return f"{_get_name(error.param)}: expected {' or '.join(error.param.type.choices)}, got '{got}'"
        name = error.param_hint or (_get_name(error.param) if error.param is not None else None)
        return f"{name}: {_clause(error.message)}" if name else _clause(error.message)
    extra = error.message.partition("Got unexpected extra argument")[2]
    if extra:  # "s (a b)" or " (a)"
        return f"unexpected argument '{extra.partition('(')[2].rstrip(').').split()[0]}'"
    return _clause(error.message)


def _get_name(parameter: click.Parameter) -> str:
    return max(parameter.opts, key=len) if isinstance(parameter, click.Option) else parameter.human_readable_name


def _options(ctx: click.Context | None) -> list[str]:
    return [name for each in (ctx.command.params if ctx else ()) for name in each.opts if name.startswith("-")]


def _clause(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:].removesuffix(".")


def config_main() -> int:
    return main(["config", *sys.argv[1:]])
