"""`kernpack slim`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from kernpack_sdk import foreign, listing
from kernpack_sdk.budget import shown
from kernpack_sdk.slim import choice


def read_architectures(_: click.Context, option: click.Parameter, value: str | None) -> tuple[str, ...]:
    try:
        return choice.parse(value) if value is not None else ()
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=f"--{(option.name or '').replace('_', '-')}") from None


@contextlib.contextmanager
def refusals(output: Path) -> Iterator[None]:
    """A wheel that is refused, or a file that can't be read or written, ends the command with its reason."""
    try:
        yield
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or output} can't be read or written: {error.strerror}") from None


@click.command("slim")
@click.argument("wheel", type=click.Path(path_type=Path), metavar="WHEEL")
@click.option(
    "--cuda-arch",
    required=True,
    callback=read_architectures,
    metavar="90,100",
    help="The GPUs that the wheel is for; the code that they load stays.",
)
@click.option(
    "--ptx",
    callback=read_architectures,
    metavar="90",
    help="PTX that stays, too, for GPUs that are newer. Default: none.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=Path("slim"), help="The folder for it. Default: slim."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the wheel, and what was dropped from each file.")
def command(wheel: Path, cuda_arch: tuple[str, ...], ptx: tuple[str, ...], output: Path, as_json: bool) -> None:
    """Write a smaller wheel: without CUDA code for GPUs other than those of --cuda-arch, and without debug sections.

    The wheel can be of any project. It keeps its name, in another folder. Host code stays byte for byte: this is proved for each file,
    or nothing is written.
    """
    from kernpack_sdk.slim import repack

    with refusals(output):
        result = repack.slim(wheel, choice.Choice(cuda_arch, ptx), output)
    found = _facts(wheel, result)
    click.echo(json.dumps(found, indent=2)) if as_json else _print(found)


def _facts(wheel: Path, result: Any) -> dict[str, Any]:
    return {
        "from": str(wheel),
        "wheel": str(result.wheel),
        "sha256": foreign.digest(result.wheel),
        "bytes": _both(result.bytes),
        "installed_bytes": _both(result.installed),
        "lost_signature": result.lost_signature,
        "files": [
            {
                "file": name,
                "bytes": _both(each.bytes),
                "dropped": [{"kind": row.kind, "count": row.count, "bytes": row.bytes} for row in each.saved],
                "whole_fat_binaries": each.whole,
            }
            for name, each in result.files.items()
        ],
    }


def _both(sizes: tuple[int, int]) -> dict[str, int]:
    return {"before": sizes[0], "after": sizes[1]}


def _print(found: dict[str, Any]) -> None:
    rows = [
        [each["file"], row["kind"], str(row["count"]), shown(row["bytes"])]
        for each in found["files"]
        for row in each["dropped"]
    ]
    if rows:
        listing.show(["file", "dropped", "pieces", "size"], rows)
    else:
        click.echo("nothing to drop: the wheel has only what was asked for")
    for each in found["files"]:
        if each["whole_fat_binaries"]:
            click.echo(
                f"{each['file']}: {each['whole_fat_binaries']} fat binaries have no code for these GPUs, and stay as they are"
            )
    for what, key in (("wheel", "bytes"), ("installed", "installed_bytes")):
        click.echo(f"{what}: {shown(found[key]['before'])} -> {shown(found[key]['after'])}")
    click.echo(f"wrote {found['wheel']}; host code is proved to be unchanged")
    if found["lost_signature"]:
        click.echo("the wheel was signed; the new one isn't: `kernpack sign` signs it", err=True)
