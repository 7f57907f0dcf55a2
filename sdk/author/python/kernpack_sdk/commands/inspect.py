"""`kernpack inspect`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from kernpack_sdk import listing
from kernpack_sdk.budget import shown


@click.command("inspect")
@click.argument("what", metavar="FILE|WHEEL|NAME")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(what: str, as_json: bool) -> None:
    """Show what is in a shared object (.so), a wheel, a folder or an installed package, of Kernpack or of any project.

    The output lists the functions, contracts, gradients and targets of modules. For every file, it lists interfaces and the versions
    that they tie it to, needed libraries, device code by architecture, instruction sets and digests. Nothing in the files is loaded
    or run.
    """
    from kernpack_sdk import contents

    try:
        found = contents.facts(what)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    click.echo(json.dumps(found, indent=2)) if as_json else _print(found)


def _print(found: dict[str, Any]) -> None:
    click.secho(found["source"], bold=True)
    if "runs_on" in found:
        newer = "" if (found["runs_on"] or "").startswith("win_") else " and newer"
        runs = f", runs on {found['runs_on']}{newer}" if found["runs_on"] else ""
        click.echo(f"{shown(found['bytes'])}{runs}; sha256 {found['sha256']}")
        _print_requirements(found["requires"])
    for module in found["modules"]:
        click.secho(f"\n{module['file']}  {shown(module['bytes'])}  {module['machine']}", bold=True)
        newest = ", ".join(f"{family} {version}" for family, version in module["newest_symbols"].items())
        for line in (
            module["hosts"],
            f"needs {', '.join(_library(module, name) for name in module['needs']) or 'no library'}; newest symbols: {newest or 'none'}",
            f"sha256 {module['sha256']}",
            *_device_code(module["device_code"]),
            *(f"machine code for {each['architecture']} is in the wheel {each['wheel']}" for each in module["packs"]),
            *_cuda_sources(module["cuda_sources"]),
            *(f"PROBLEM {problem}" for problem in module["problems"]),
        ):
            click.echo(line)
        _print_functions(module["functions"])
    for library in found["libraries"]:
        click.secho(f"\n{library['file']}  {shown(library['bytes'])}  {library['machine']}", bold=True)
        for line in _about_library(library):
            click.echo(line)
    for pack in found["fat_binaries"]:
        click.secho(f"\n{pack['file']}  {shown(pack['bytes'])}", bold=True)
        images = ", ".join(f"{each['architecture']} {shown(each['bytes'])}" for each in pack["images"])
        click.echo(f"code for GPUs that another wheel's module loads: {images or 'none'}")
    for names in found["duplicate_files"]:
        click.echo(f"\nequal files: {', '.join(names)}")


def _cuda_sources(found: list[dict[str, Any]]) -> Iterator[str]:
    from kernpack_sdk import contents

    if found:  # by the runtime, which prints them, too
        yield from contents.runtime_jit().lines(found)


def _print_requirements(requires: dict[str, Any]) -> None:
    wheels = [each for each in requires["wheels"] if "extra ==" not in each]
    python = [f"Python {requires['python']}"] if requires["python"] else []
    if wheels or python:
        click.echo(f"asks pip for {', '.join([*python, *wheels])}")


def _about_library(library: dict[str, Any]) -> Iterator[str]:
    if library.get("damaged"):
        yield f"PROBLEM {library['damaged']}"
        return
    for each in library["interfaces"]:
        count = f", {each['count']:,} {_COUNTED.get(each['kind'], 'functions')}" if each["count"] else ""
        yield f"{each['title']}{count}{'; works with ' + each['tie'] if each['tie'] else ''}"
    needs = ", ".join(f"{name} ({origin})" if origin else name for name, origin in library["needs"].items())
    newest = ", ".join(f"{family} {version}" for family, version in library["newest_symbols"].items())
    yield f"needs {needs or 'no library'}; newest symbols: {newest or 'none'}"
    yield f"sha256 {library['sha256']}"
    yield from _device_code(library["device_code"])
    if library["duplicate_device_code_bytes"]:
        yield f"of the code for GPUs, {shown(library['duplicate_device_code_bytes'])} stand twice in the file"
    yield from _instruction_sets(library)
    if library["largest_symbols"]:
        largest = ", ".join(f"{_cut(name)} {shown(size)}" for name, size in library["largest_symbols"].items())
        yield f"largest symbols: {largest}"


def _cut(name: str) -> str:
    """C++ encodes whole types in a name; JSON has all of it."""
    return name if len(name) <= 60 else name[:57] + "..."


_COUNTED = {"torch": "symbols", "torch-stable": "symbols", "library": "symbols that others can use"}


def _instruction_sets(library: dict[str, Any]) -> Iterator[str]:
    sets = library["instruction_sets"]
    if sets and sets["beyond_x86_64_v2"]:
        asks = "it asks the processor" if sets["asks_the_processor"] else "it doesn't ask the processor first"
        yield f"instruction sets beyond x86-64-v2: {', '.join(sets['beyond_x86_64_v2'])}; {asks}"
    elif sets:
        yield "instruction sets: x86-64-v2 at most"


def _library(module: dict[str, Any], name: str) -> str:
    wheels = module["wheels"].get(name)
    return f"{name} ({' or '.join(wheels)})" if wheels else name


def _print_functions(functions: list[dict[str, Any]]) -> None:
    has_sets = any("instruction_sets" in function for function in functions)
    derived = [what for what in ("backward", "tangent") if any(each[what] for each in functions)]
    titles = ["function", "target", *(["beyond x86-64-v2"] if has_sets else []), *derived, "contract"]
    rows = []
    for function in functions:
        sets = function.get("instruction_sets", {})
        for number, target in enumerate(function["targets"]):
            beyond = [" ".join(sets[target]) or "-" if target in sets else "not known"] if has_sets else []
            row = [
                function["name"],
                target,
                *beyond,
                *("" if number else ", ".join(function[what]) or "-" for what in derived),
                "" if number else function["contract"] or "",
            ]
            rows.append(row)
    listing.show(titles, rows)


def _device_code(found: list[dict[str, Any]]) -> Iterator[str]:
    kinds = {
        "cubin": "machine code for GPUs",
        "ptx": "PTX",
        "opencl": "OpenCL source",
        "cuda": "CUDA source, which NVRTC compiles when it is first used",
    }
    for kind, title in kinds.items():
        rows = [row for row in found if row["kind"] == kind]
        if rows:
            yield f"{title}: {', '.join(_of_architecture(row) for row in rows)}{_drivers(rows)}"


def _drivers(rows: list[dict[str, Any]]) -> str:
    """Which drivers can run every row."""
    needed = [tuple(map(int, row["cuda_driver"].split("."))) for row in rows if row["cuda_driver"]]
    return "; needs a driver of CUDA {}.{} or newer".format(*max(needed)) if needed else ""


def _of_architecture(row: dict[str, Any]) -> str:
    name = f"{row['architecture']} " if row["architecture"] else ""
    unpacked = f" ({shown(row['unpacked_bytes'])} unpacked)" if row["unpacked_bytes"] != row["bytes"] else ""
    return f"{name}{shown(row['bytes'])}{unpacked}"
