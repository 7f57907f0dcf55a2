"""`kernpack build`: the wheel of a project, and whether two builds of it are the same."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import click

from kernpack_sdk import cmake_dir
from kernpack_sdk.diagnose import lifted
from kernpack_sdk.loading import refusal

_COMPILERS = {"aarch64": "aarch64-linux-gnu-g++"}
_EPOCH = "315532800"  # 1980-01-01: the first time that a zip file can hold


@click.command("build")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=".")
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="Default: FOLDER/dist.")
@click.option(
    "--isolated",
    is_flag=True,
    help="Build in a fresh environment with the packages that [build-system] names, as pip does.",
)
@click.option(
    "--target",
    type=click.Choice(list(_COMPILERS)),
    help="Cross-compile for Linux on this processor, with Debian's compiler for it.",
)
@click.option("--reproducible", is_flag=True, help="Build twice from clean and compare, bit for bit.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the wheel, its size and digest.")
def command(
    folder: Path, output: Path | None, isolated: bool, target: str | None, reproducible: bool, as_json: bool
) -> None:
    """Build the wheel of the project in FOLDER into dist/. Two builds of the same sources give the same file."""
    if not (folder / "pyproject.toml").is_file():
        raise click.ClickException(
            f"kernpack build: {folder.absolute()}: no pyproject.toml here; start a project: kernpack new NAME"
        )
    output = output or folder / "dist"
    if target == platform.machine():
        target = None
    if target is not None and shutil.which(_COMPILERS[target]) is None:
        raise click.ClickException(
            f"kernpack build: --target {target}: {_COMPILERS[target]} is missing; apt-get install g++-{target}-linux-gnu"
        )
    with tempfile.TemporaryDirectory() as temporary:
        wheels = [_build(folder, Path(temporary) / str(i), isolated, target) for i in range(1 + reproducible)]
        digests = [hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels]
        if len(set(digests)) > 1:
            raise click.ClickException(f"kernpack build: two builds differ: {_difference(*wheels)}")
        output.mkdir(parents=True, exist_ok=True)
        made = Path(shutil.copy(wheels[0], output / wheels[0].name))
        with zipfile.ZipFile(made) as archive:
            archive.extractall(Path(temporary) / "site")
        refused = "" if target else refusal(Path(temporary) / "site").replace(f"{temporary}/site/", "")
    if refused:
        click.secho(f"kernpack build: {made}: the runtime that is installed here doesn't load it", fg="red", err=True)
        click.echo(refused, err=True)
    if as_json:
        click.echo(json.dumps({"wheel": str(made), "bytes": made.stat().st_size, "sha256": digests[0]}, indent=2))
        return
    click.echo(f"{made}: {made.stat().st_size / 1000:.0f} KB, sha256 {digests[0]}")
    if reproducible:
        click.echo("built twice from clean: the same file")


def _build(folder: Path, output: Path, isolated: bool, target: str | None) -> Path:
    """A build from clean, at a path and a time that leave no trace in the result. target: None is this machine."""
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-cache-dir", "-w", str(output)]
    if not isolated:
        pip.append("--no-build-isolation")
        if importlib.util.find_spec("pip") is None:
            raise click.ClickException(
                "kernpack build: this environment has no pip; python -m ensurepip, then try again"
            )
    with tempfile.TemporaryDirectory() as build:
        pip += ["-C", f"build-dir={build}"]
        if target is not None:
            pip += ["-C", f"cmake.define.CMAKE_TOOLCHAIN_FILE={cmake_dir() / 'toolchains' / f'{target}.cmake'}"]
        pip.append(str(folder.absolute()))
        root = folder.absolute()
        maps = f"-ffile-prefix-map={root}=. -ffile-prefix-map={build}=build"
        environment = {"SOURCE_DATE_EPOCH": _EPOCH} | dict(os.environ)
        for flags in ("CFLAGS", "CXXFLAGS"):
            environment[flags] = f"{environment.get(flags, '')} {maps}".strip()
        done = subprocess.run(
            pip, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, check=False
        )
    if done.returncode != 0:
        plain = re.sub(r"^      ", "", done.stdout, flags=re.MULTILINE)  # pip's indent
        raise click.ClickException(f"kernpack build: it failed\n{lifted(plain)}")
    (wheel,) = output.glob("*.whl")
    return wheel


def _difference(a: Path, b: Path) -> str:
    if a.name != b.name:
        return f"their names, {a.name} and {b.name}"
    with zipfile.ZipFile(a) as left, zipfile.ZipFile(b) as right:
        names = sorted(set(left.namelist()) | set(right.namelist()))
        both = set(left.namelist()) & set(right.namelist())
        differing = [name for name in names if name not in both or left.read(name) != right.read(name)]
        differing = [name for name in differing if not name.endswith("/RECORD")]  # holds the others' digests
    known = "; __DATE__, __TIME__ and random names are the usual causes"
    return f"{', '.join(differing) or 'the times or the order of the files in them'}{known}"
