"""`kernpack keygen`."""

from __future__ import annotations

import json

import click

from kernpack_sdk import keys, signature
from kernpack_sdk.cli import Missing


@click.command("keygen")
@click.option("--name", default=keys.DEFAULT, metavar="NAME", help="The name of the key's files (default: default).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the files.")
def command(name: str, as_json: bool) -> None:
    """Make an Ed25519 key for `kernpack sign`, in ~/.config/kernpack/keys (or $XDG_CONFIG_HOME), outside of every project.

    NAME.pem is the private key, which only you can read. NAME.pub is the public key, for `kernpack verify`.
    """
    try:
        private, public = keys.generate(name)
    except signature.SignatureError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename} can't be written: {error.strerror}") from None
    except ModuleNotFoundError as error:
        raise Missing(f"needs {error.name}; install it: {signature.INSTALL}") from None
    if as_json:
        click.echo(json.dumps({"private": str(private), "public": str(public)}, indent=2))
        return
    click.echo(f"private key: {private}   # keep it; whoever has it can sign as you\npublic key:  {public}")
