"""`kernpack build`: the wheel of a project, and whether two builds of it are the same."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shutil
import tempfile
import zipfile
from pathlib import Path

import click

from kernpack_sdk import build_failure, cmake_dir, cross, pip_wheel, progress
from kernpack_sdk.budget import shown
from kernpack_sdk.loading import lacks_library, refusal
from kernpack_sdk.project import BuildError, unread_by_pip

_COMPILERS = {"aarch64": "aarch64-linux-gnu-g++"}
_PLATFORMS = [cross.WINDOWS]  # each by zig


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
@click.option(
    "--platform",
    "system",
    type=click.Choice(_PLATFORMS),
    help="Cross-compile for another system, with zig (pip install ziglang).",
)
@click.option(
    "--cuda-arch",
    "architectures",
    callback=lambda ctx, option, value: _architectures(value),
    metavar="80,90",
    help="Compile .cu files for these architectures; newer GPUs use PTX. Overrides CUDA_ARCHITECTURES of kernpack_add_module().",
)
@click.option("--reproducible", is_flag=True, help="Build twice from scratch and compare the wheels bit by bit.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the wheel, its size and digest.")
def command(
    folder: Path,
    output: Path | None,
    isolated: bool,
    target: str | None,
    system: str | None,
    architectures: list[str],
    reproducible: bool,
    as_json: bool,
) -> None:
    """Build the wheel of the project in FOLDER into dist/. Two builds of the same sources give the same file."""
    if not (folder / "pyproject.toml").is_file():
        raise click.ClickException(f"{folder.absolute()}: no pyproject.toml here; start a project: kernpack new NAME")
    if unread := unread_by_pip(folder.absolute()):
        raise click.ClickException(unread)
    output = output or folder / "dist"
    if target == platform.machine():
        target = None
    if target is not None and shutil.which(_COMPILERS[target]) is None:
        raise click.ClickException(
            f"--target {target}: {_COMPILERS[target]} is missing; apt-get install g++-{target}-linux-gnu"
        )
    if target is not None and system is not None:
        raise click.UsageError("--target is for Linux; --platform names the processor, too: leave --target out")
    system = system or cross.own_system()
    if target is not None and system is not None:
        raise click.ClickException(f"--target {target} compiles on Linux")
    defines = _defines(target, system, architectures)
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=cross.own_system() is not None) as temporary:
            titles = ["first build", "second build"] if reproducible else [f"building {folder.absolute().name}"]
            wheels = [
                _build(folder, Path(temporary) / str(i), isolated, defines, title, as_json)
                for i, title in enumerate(titles)
            ]
            digests = [hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels]
            if len(set(digests)) > 1:
                raise click.ClickException(f"two builds differ: {_difference(*wheels)}")
            with zipfile.ZipFile(wheels[0]) as archive:
                archive.extractall(Path(temporary) / "site")
            _need_code_for(architectures, Path(temporary) / "site")
            output.mkdir(parents=True, exist_ok=True)
            made = _copied(wheels[0], output / wheels[0].name)
            refused = "" if target or system != cross.own_system() else refusal(Path(temporary) / "site").replace(f"{temporary}/site/", "")
    except OSError as error:
        raise click.ClickException(f"it failed\n{build_failure.full_disk(error)}") from None
    if refused:
        lacking = lacks_library(refused)
        why = "not tried here: a library of another wheel is missing" if lacking else "the runtime that is installed here doesn't load it"
        click.secho(f"kernpack build: {made}: {why}", fg="yellow" if lacking else "red", err=True)
        click.echo(refused, err=True)
    if as_json:
        click.echo(json.dumps({"wheel": str(made), "bytes": made.stat().st_size, "sha256": digests[0]}, indent=2))
        return
    click.echo(f"{made}: {shown(made.stat().st_size)}, sha256 {digests[0]}")
    if reproducible:
        click.echo("built twice from clean: the same file")


def _copied(wheel: Path, to: Path) -> Path:
    try:
        return Path(shutil.copy(wheel, to))
    except OSError:
        to.unlink(missing_ok=True)  # a part of a wheel
        raise


def _architectures(text: str | None) -> list[str]:
    found = re.split(r"[,; ]+", text.strip()) if text is not None else []
    for each in found:
        if not re.fullmatch(r"\d\d+[af]?", each):
            raise click.BadParameter(
                f"expected compute capabilities without the dot, as in 80,90,90a, got '{text}'",
                param_hint="--cuda-arch",
            )
    return found


def _defines(target: str | None, system: str | None, architectures: list[str]) -> dict[str, str]:
    """CMake's variables. target and system: None is this machine's."""
    defines: dict[str, str] = {}
    if system is not None:
        defines |= cross.defines(system, _zig(system))
    if target is not None:
        defines["CMAKE_TOOLCHAIN_FILE"] = str(cmake_dir() / "toolchains" / f"{target}.cmake")
    if architectures:
        defines["KERNPACK_CUDA_ARCHITECTURES"] = ";".join(architectures)
    return defines


def _zig(system: str) -> Path:
    found = cross.find_zig()
    if found is None:
        if system == cross.own_system():
            raise click.ClickException(cross.NO_ZIG)
        raise click.ClickException(f"--platform {system}: zig is missing, which compiles for it; pip install ziglang")
    return found


def _need_code_for(architectures: list[str], site: Path) -> None:
    """--cuda-arch is kernpack_add_module()'s: a module that isn't made by it, or has no .cu file, doesn't follow it."""
    from kernpack_sdk import shared_object
    from kernpack_sdk.contents import list_device_code

    held = {row["architecture"] for file in shared_object.below(site) for row in list_device_code(file)}
    missing = [each for each in architectures if f"sm_{each}" not in held]
    if missing:
        raise click.ClickException(
            f"--cuda-arch {','.join(architectures)}: the wheel holds no code for {', '.join(missing)}; only .cu files "
            "among SOURCES of kernpack_add_module() are compiled for it"
        )


def _build(folder: Path, output: Path, isolated: bool, defines: dict[str, str], title: str, quiet: bool) -> Path:
    """A build from clean."""
    try:
        with progress.shown(title, quiet=quiet) as line:
            return pip_wheel.build(folder, output, isolated=isolated, defines=defines, line=line)
    except BuildError as error:
        raise click.ClickException(f"it failed\n{error}") from None


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
