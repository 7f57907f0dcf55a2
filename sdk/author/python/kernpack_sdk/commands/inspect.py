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
    """Show what is in a module (.so), a wheel, a folder or an installed package.

    Functions, contracts, gradients, targets, code for devices by architecture, needs, digests. Of others' shared objects: their
    interfaces (torch, pybind11, nanobind, Cython, XLA FFI, tvm-ffi), code for devices and needs.
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
        click.echo(f"{shown(found['bytes'])}, runs on {found['runs_on']} and newer; sha256 {found['sha256']}")
    for module in found["modules"] + found["others"]:
        click.secho(f"\n{module['file']}  {shown(module['bytes'])}  {module['machine']}", bold=True)
        newest = ", ".join(f"{family} {version}" for family, version in module["newest_symbols"].items())
        for line in (
            *([module["hosts"]] if "hosts" in module else _interfaces(module["interfaces"])),
            f"needs {', '.join(_library(module, name) for name in module['needs']) or 'no library'}; newest symbols: {newest or 'none'}",
            f"sha256 {module['sha256']}",
            *_device_code(module["device_code"]),
            *(f"PROBLEM {problem}" for problem in module.get("problems", ())),
        ):
            click.echo(line)
        if "functions" in module:
            _print_functions(module["functions"])


def _interfaces(found: list[str]) -> list[str]:
    return [f"not a kernel module; interfaces: {'; '.join(found) or 'none that is known'}"]


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
    kinds = {"cubin": "machine code for GPUs", "ptx": "PTX", "opencl": "OpenCL source"}
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
