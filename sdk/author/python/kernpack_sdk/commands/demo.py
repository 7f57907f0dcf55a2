"""`kernpack demo`."""

from __future__ import annotations

import importlib
import json
import time

import click

from kernpack_sdk.cli import Missing


@click.command("demo")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.01),
    default=1.0,
    show_default=True,
    help="Seconds to measure each framework.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, with times in seconds; the steps go to standard error."
)
def command(seconds: float, as_json: bool) -> None:
    """Compile a small kernel in C++, call it from NumPy, PyTorch and JAX, and time it beside the fastest way without a kernel.

    Frameworks that aren't installed are skipped. The demo takes less than a minute, and writes only to Kernpack's cache.
    """
    began = time.perf_counter()
    try:
        show = importlib.import_module(
            "kernpack_sdk.demo.show"
        )  # uses the runtime, which the SDK's commands do without
        found = show.show(lambda text: click.echo(text, err=as_json), seconds)
    except ModuleNotFoundError as error:
        raise Missing(f"needs {error.name}; install it: pip install {error.name}") from None
    except RuntimeError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    click.echo(
        f"\nThe demo took {time.perf_counter() - began:.0f} s. To start a kernel of your own, with gradient, tests and packaging:\n"
        "  kernpack new my-kernels\n  cd my-kernels\n  kernpack dev --once   # builds it in place and installs it\n"
        "  pip install pytest\n  python -m pytest"
    )
