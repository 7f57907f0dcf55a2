"""`kernpack stubs`: a .pyi file from the signatures inside built modules."""

from __future__ import annotations

import difflib
from pathlib import Path

import click


@click.command("stubs")
@click.argument("modules", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="MODULE...")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Default: print.")
@click.option(
    "--check", "checked", type=click.Path(path_type=Path), metavar="PYI", help="Compare with this file instead."
)
@click.pass_context
def command(ctx: click.Context, modules: tuple[Path, ...], output: Path | None, checked: Path | None) -> None:
    """Write a .pyi file from the signatures in a built module (.so); several are merged by function name."""
    from kernpack_sdk import stubs, table

    try:
        functions = [function for module in modules for function in table.read(module)]
        there = checked.read_text(encoding="utf-8") if checked else ""
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None
    text = stubs.render(functions)
    if checked:
        lines = difflib.unified_diff(there.splitlines(), text.splitlines(), str(checked), "the modules", lineterm="")
        different = "\n".join(lines)
        if different:
            click.echo(different)
            again = f"kernpack stubs {' '.join(map(str, modules))} -o {checked}"
            click.echo(f"{checked} isn't what the modules say; write it again: {again}", err=True)
        ctx.exit(int(bool(different)))
    elif output:
        output.write_text(text, encoding="utf-8")
    else:
        click.echo(text, nl=False)
