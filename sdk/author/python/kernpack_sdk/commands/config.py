"""`kernpack config`: where the SDK is and what to compile with."""

from __future__ import annotations

import json
import shlex

import click

from kernpack_sdk import cmake_dir, flags, include_dir


def _facts() -> dict[str, str]:
    return {
        "includes": f"-I{shlex.quote(str(include_dir()))}",
        "cflags": shlex.join(flags.compile_flags()),
        "ldflags": shlex.join(flags.link_flags(compiles=True)),
        "cmakedir": str(cmake_dir()),
    }


@click.command("config")
@click.option("--includes", "what", flag_value="includes", help="The -I option.")
@click.option("--cflags", "what", flag_value="cflags", help="Options for C++ sources.")
@click.option("--ldflags", "what", flag_value="ldflags", help="Options for linking.")
@click.option("--cmakedir", "what", flag_value="cmakedir", help="For -Dkernpack_DIR=.")
@click.option("--json", "as_json", is_flag=True, help="Print all of these as JSON.")
def command(what: str | None, as_json: bool) -> None:
    """Print where the SDK is, and the options to compile with."""
    if (what is None) != as_json:
        raise click.UsageError(
            "expected one of --includes, --cflags, --ldflags, --cmakedir and --json", click.get_current_context()
        )
    click.echo(json.dumps(_facts(), indent=2) if what is None else _facts()[what])
