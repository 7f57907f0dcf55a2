"""`kernpack sign`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import click

from kernpack_sdk import signature
from kernpack_sdk.cli import MISSING


@click.command("sign")
@click.argument("wheels", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="WHEEL...")
@click.option("--key", required=True, type=click.Path(path_type=Path), metavar="FILE", help="Private Ed25519 key, PEM.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the wheels, with the digest of each once signed.")
@click.pass_context
def command(ctx: click.Context, wheels: tuple[Path, ...], key: Path, as_json: bool) -> None:
    """Sign wheels with an Ed25519 key. `kernpack verify WHEEL --key PUBLIC` checks them."""
    try:
        private = signature.private_key(key)
        for wheel in wheels:
            signature.sign(wheel, private)
            if not as_json:
                click.echo(f"{wheel}: signed")
    except signature.SignatureError as error:
        raise click.ClickException(f"kernpack sign: {error}") from None
    except OSError as error:
        raise click.ClickException(f"kernpack sign: {error.filename} can't be written: {error.strerror}") from None
    except ModuleNotFoundError as error:
        click.echo(f"kernpack sign: needs {error.name}; install it: {signature.INSTALL}", err=True)
        ctx.exit(MISSING)
    if as_json:
        click.echo(
            json.dumps({str(wheel): hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels}, indent=2)
        )
