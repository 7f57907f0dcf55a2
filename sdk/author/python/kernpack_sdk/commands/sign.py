"""`kernpack sign`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import click

from kernpack_sdk import keys, signature
from kernpack_sdk.cli import Missing


@click.command("sign")
@click.argument("wheels", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="WHEEL...")
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Private Ed25519 key, PEM (default: the one that `kernpack keygen` makes).",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the wheels, with the digest of each once signed.")
def command(wheels: tuple[Path, ...], key: Path | None, as_json: bool) -> None:
    """Sign wheels with an Ed25519 key. `kernpack verify WHEEL --key PUBLIC` checks the signature. A key inside a project
    is refused, and so is a wheel that contains a private key or lies in a project with one."""
    try:
        file = key or _default()
        private = signature.private_key(file)
        keys.check_place(file)
        for wheel in wheels:
            keys.check_content(wheel)
            signature.sign(wheel, private)
            if not as_json:
                click.echo(f"{wheel}: signed")
    except signature.SignatureError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename} can't be written: {error.strerror}") from None
    except ModuleNotFoundError as error:
        raise Missing(f"needs {error.name}; install it: {signature.INSTALL}") from None
    if as_json:
        click.echo(
            json.dumps({str(wheel): hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels}, indent=2)
        )


def _default() -> Path:
    made = keys.private_file()
    if not made.exists():
        raise signature.SignatureError(
            "no-key", f"there is no key {made}: `kernpack keygen` makes it, or name one with --key"
        )
    return made
