"""`kernpack completions SHELL`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_SHELLS = ("bash", "zsh", "fish")


@click.command("completions")
@click.argument("shell", type=click.Choice(_SHELLS))
def command(shell: str) -> None:
    """Print a shell's completion script: eval "$(kernpack completions bash)"."""
    from kernpack_sdk.cli import group

    completion = get_completion_class(shell)
    assert completion is not None  # click has these three
    click.echo(completion(group, {}, "kernpack", "_KERNPACK_COMPLETE").source())
