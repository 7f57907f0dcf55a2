"""`kernpack stubs`: a .pyi file from the signatures inside built modules."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from kernpack_sdk.table import Function


@click.command("stubs")
@click.argument("modules", nargs=-1, required=True, metavar="MODULE...")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Default: print.")
@click.option(
    "--check",
    "checked",
    type=click.Path(path_type=Path),
    metavar="PYI",
    help="Compare the stub with this file instead.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the stub, or the file that has it; the difference.")
@click.pass_context
def command(
    ctx: click.Context, modules: tuple[str, ...], output: Path | None, checked: Path | None, as_json: bool
) -> None:
    """Write a .pyi file from the signatures in a built module. Several modules are merged by function name.

    MODULE is a file (.so), a wheel, a folder, or the name of an installed package.
    """
    from kernpack_sdk import stubs

    try:
        functions = [function for module in modules for function in _functions(module)]
        there = checked.read_text(encoding="utf-8") if checked else ""
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None
    text = stubs.render(functions)
    if checked:
        lines = difflib.unified_diff(there.splitlines(), text.splitlines(), str(checked), "the modules", lineterm="")
        different = "\n".join(lines)
        if as_json:
            click.echo(
                json.dumps({"file": str(checked), "up_to_date": not different, "difference": different}, indent=2)
            )
        elif different:
            click.echo(different)
        if different:
            again = f"kernpack stubs {' '.join(modules)} -o {checked}"
            click.echo(f"{checked} isn't what the modules say; write it again: {again}", err=True)
        ctx.exit(int(bool(different)))
    if output:
        output.write_text(text, encoding="utf-8")
    if as_json:
        click.echo(json.dumps({"file": str(output) if output else None, "stub": text}, indent=2))
    elif not output:
        click.echo(text, nl=False)


def _functions(what: str) -> list[Function]:
    from kernpack_sdk import module_files, table

    with module_files.modules(what) as (_, files):
        return [function for file in files for function in table.read(file)]
