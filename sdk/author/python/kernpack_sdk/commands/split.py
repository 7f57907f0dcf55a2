"""`kernpack split`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from kernpack_sdk import foreign, listing
from kernpack_sdk.budget import shown
from kernpack_sdk.commands.slim import read_architectures, refusals


@click.command("split")
@click.argument("wheel", type=click.Path(path_type=Path), metavar="WHEEL")
@click.option(
    "--ptx",
    callback=read_architectures,
    metavar="80",
    help="PTX that the base wheel keeps; other PTX moves, too. Default: all of it.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("split"),
    help="The folder for them. Default: split.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the wheels, and what each has.")
def command(wheel: Path, ptx: tuple[str, ...], output: Path, as_json: bool) -> None:
    """Divide a wheel: a base wheel without machine code for GPUs, and a wheel for each GPU that has it.

    `pip install NAME[sm90]` installs the base and the code for sm_90. Without its wheel, a GPU runs the PTX of the base. For DEVICE_CODE
    of modules built with Kernpack.
    """
    from kernpack_sdk.slim import split

    with refusals(output):
        result = split.split(wheel, ptx, output)
    found = _facts(wheel, result)
    click.echo(json.dumps(found, indent=2)) if as_json else _print(found)


def _facts(wheel: Path, result: Any) -> dict[str, Any]:
    return {
        "from": str(wheel),
        "base": {"wheel": str(result.base), "sha256": foreign.digest(result.base)},
        "bytes": {"before": result.bytes[0], "base": result.bytes[1]},
        "lost_signature": result.lost_signature,
        "packs": [
            {
                "wheel": str(each.wheel),
                "sha256": foreign.digest(each.wheel),
                "architecture": each.architecture,
                "extra": each.extra,
                "fat_binaries": each.files,
                "bytes": each.bytes,
            }
            for each in result.packs
        ],
    }


def _print(found: dict[str, Any]) -> None:
    rows = [["all", "", found["base"]["wheel"], shown(found["bytes"]["base"])]]
    rows += [[each["architecture"], each["extra"], each["wheel"], shown(each["bytes"])] for each in found["packs"]]
    listing.show(["GPUs", "extra", "wheel", "size"], rows)
    click.echo(f"from {found['from']}, {shown(found['bytes']['before'])}; host code is proved to be unchanged")
    if found["lost_signature"]:
        click.echo("the wheel was signed; the new ones aren't: `kernpack sign` signs them", err=True)
