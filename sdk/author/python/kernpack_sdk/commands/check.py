"""`kernpack check`: what would harm whoever installs a wheel."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import click


@click.command("check")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE|NAME...")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON: the problems and notes of each file, or its properties."
)
@click.pass_context
def command(ctx: click.Context, files: tuple[Path, ...], as_json: bool) -> None:
    """Check wheels (.whl) of any project, modules (.so) and installed packages before you publish them. Source
    distributions and folders of projects are checked for private keys. No file is loaded or run. The exit code is 1 if
    there are problems. A note may be intended.
    """
    from kernpack_sdk import check, module_files  # reads ELF files with pyelftools, which `config` does without

    found = {}
    for file in _named(files):
        missing = f"{file}: no such file{module_files.suggested(str(file))}"
        said = check.audit(file) if file.exists() else [check.Finding(missing)]
        problems = [each.text for each in said if each.serious]
        notes = [each.text for each in said if not each.serious]
        found[str(file)] = {"problems": problems, "notes": notes, "is": None if problems else check.describe(file)}
        if not as_json:
            click.echo("\n".join(problems) if problems else f"{file}: {found[str(file)]['is']}")
            for note in notes:
                click.echo(f"note: {note}")
    if as_json:
        click.echo(json.dumps(found, indent=2))
    ctx.exit(int(any(each["problems"] for each in found.values())))


def _named(files: Iterable[Path]) -> Iterator[Path]:
    """The modules of an installed package in place of its name."""
    from kernpack_sdk.module_files import installed

    for file in files:
        try:
            yield from [file] if file.exists() else installed(str(file))[1]
        except ValueError:
            yield file
