"""`kernpack new`."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import click


@click.command("new")
@click.argument("folder", metavar="NAME", type=click.Path(path_type=Path))
@click.option("--cuda", is_flag=True, help="Add a CUDA kernel beside the C++ one.")
@click.option("--c", "c", is_flag=True, help="Write the kernel in C99 instead of C++.")
@click.option("--with-python", "python", is_flag=True, help="Add a Python package of your own around the kernels.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the folder and its files.")
def command(folder: Path, cuda: bool, c: bool, python: bool, as_json: bool) -> None:
    """Start a project in the new folder NAME: kernel, gradient, tests, benchmark, packaging and CI.

    NAME is the name for pip install. It may be a path, whose last part is then the name.
    """
    from kernpack_sdk import template

    try:
        files = template.write(folder, folder.absolute().name, template.Options(cuda=cuda, c=c, python=python))
    except ValueError as error:
        raise click.UsageError(str(error), click.get_current_context()) from None
    except OSError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps({"folder": str(folder.absolute()), "files": [str(file) for file in files]}, indent=2))
        return
    click.echo(f"{folder}: {len(files)} files")
    if cuda and shutil.which("nvcc") is None:
        click.echo("there is no nvcc on the PATH: the project builds where the CUDA toolkit is installed", err=True)
    needed = [name for name in ("numpy", "pytest") if importlib.util.find_spec(name) is None]
    install = f"  pip install {' '.join(needed)}\n" if needed else ""
    click.echo(
        f"Next:\n  cd {folder}\n{install}  kernpack dev --once   # builds it in place and installs it\n  python -m pytest"
    )
