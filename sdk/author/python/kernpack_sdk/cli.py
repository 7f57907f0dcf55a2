"""The command `kernpack` of an author (and `kernpack-config`, short for `kernpack config`).

The runtime wheel owns the script `kernpack` and hands on what isn't its own; `python -m kernpack_sdk` is the same without it. Exit
codes: 0 done; 1 failed, or found problems; 2 the command line is wrong; 3 a required package isn't installed.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence

import click

from kernpack_sdk import __version__

FAILED, USAGE, MISSING = 1, 2, 3
# Each is the click command `command` of the module of that name in kernpack_sdk.commands, imported when it is asked for.
COMMANDS = {
    "bench": "Time functions over shapes, alternating with a reference",
    "build": "Build the wheel, and check that the build is reproducible",
    "check": "Check a wheel or module before publishing it",
    "completions": "Print the completion script of a shell",
    "config": "Print where the SDK is and what to compile with",
    "dev": "Build in place, and again whenever a source is saved",
    "inspect": "Show what a module, a wheel or an installed package contains",
    "keygen": "Make an Ed25519 key for `kernpack sign`, outside of the project",
    "new": "Start a project: kernel, gradient, tests, packaging, CI",
    "publish": "Check everything, then print the commands that upload",
    "sign": "Sign wheels with an Ed25519 key",
    "stubs": "Write a .pyi file from the signatures in a built module",
    "test": "Test a module by its contracts",
}
# The runtime's, shown and completed here too.
_RUNTIME = {
    "cache": "Show the disk space that compiled and loaded modules use",
    "doctor": "Check the installation, and print the command that fixes each problem",
    "explain": "Show which code a call would run, and why",
    "info": "Show versions, devices, caches and installed kernel packages",
    "lock": "Write a lock file of the installed kernel wheels, with the digest of each file",
    "profile": "Run a script and report the time that its kernels took",
    "verify": "Compare the installed kernel wheels with the lock, or wheels with their signatures",
}
_PASSED_ON = {"ignore_unknown_options": True, "help_option_names": []}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*COMMANDS, *_RUNTIME])

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in _RUNTIME:
            return _handed_on(name, _RUNTIME[name], "kernpack._cli", "pip install kernpack")
        if name == "test":
            return _handed_on(name, COMMANDS[name], "kernpack_sdk.testing.command", "pip install -U kernpack-sdk")
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"kernpack_sdk.commands.{name}").command
        command.short_help = COMMANDS[name]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):  # from the tables: no command is imported for the list
            formatter.write_dl(sorted({**COMMANDS, **_RUNTIME}.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            from kernpack_sdk.diagnose import nearest

            meant = nearest(args[0], self.list_commands(ctx))
            hint = f"did you mean '{meant}'?" if meant else "`kernpack --help` lists them"
            ctx.fail(f"no command '{args[0]}'; {hint}")


def _handed_on(name: str, summary: str, module: str, mend: str) -> click.Command:
    """A command whose options another program reads."""

    @click.command(name, context_settings=_PASSED_ON, short_help=summary, add_help_option=False)
    @click.argument("words", nargs=-1, type=click.UNPROCESSED)
    @click.pass_context
    def run(ctx: click.Context, words: tuple[str, ...]) -> None:
        try:
            program = importlib.import_module(module).main
        except ModuleNotFoundError as error:
            click.echo(f"kernpack {name}: needs {error.name}; install it: {mend}", err=True)
            ctx.exit(MISSING)
        ctx.exit(program([name, *words] if module == "kernpack._cli" else list(words)))

    return run


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="kernpack-sdk %(version)s")
def group() -> None:
    """Kernels written once, called from NumPy, PyTorch and JAX.

    Exit codes: 0 done; 1 failed, or found problems; 2 the command line is wrong; 3 a package is missing.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        code = group.main(
            list(sys.argv[1:] if arguments is None else arguments),
            prog_name="kernpack",
            complete_var="_KERNPACK_COMPLETE",
            standalone_mode=False,
        )
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        click.echo("kernpack: stopped", err=True)
        return FAILED
    except BrokenPipeError:  # `kernpack inspect | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def config_main() -> int:
    return main(["config", *sys.argv[1:]])
