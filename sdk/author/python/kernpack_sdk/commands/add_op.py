"""`kernpack add-op`."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("add-op")
@click.argument("name", metavar="NAME")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=".")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the op and its files.")
def command(name: str, folder: Path, as_json: bool) -> None:
    """Add the op NAME to the project in FOLDER: kernel in C++, contract, gradient and test.

    The new op builds and passes its test; put your own formula into it.
    """
    from kernpack_sdk import add_op

    try:
        op = add_op.add(folder.resolve(), name)
    except add_op.WrongName as error:
        raise click.UsageError(str(error), click.get_current_context()) from None
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps({"op": name, "source": str(op.source), "test": str(op.test)}, indent=2))
        return
    where = "" if folder == Path(".") else f"  cd {folder}\n"
    click.echo(
        f"{op.source}: kernel, contract and gradient of {name}\n{op.test}: its test\nCMakeLists.txt: lists {op.source}\n"
        f"Next:\n{where}  kernpack dev --once   # unless `kernpack dev` is running\n  python -m pytest {op.test}"
    )
