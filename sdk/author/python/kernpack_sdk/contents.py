"""`kernpack inspect`: what is in a module or a wheel of them, read from the files; only the table of functions is read by loading."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

from kernpack_sdk import check, elf, hosts, module_files, needs, table
from kernpack_sdk.audit import Image, device_code, tables
from kernpack_sdk.audit.interfaces import interfaces


def facts(what: str) -> dict[str, Any]:
    """Of a wheel, a shared object, a folder of them or an installed package: its kernel modules, or where there are none, its other shared
    objects. ValueError for anything else."""
    with module_files.modules(what, foreign=True) as (source, files):
        ours = [file for file in files if check.is_kernel_module(file)]
        about: dict[str, Any] = {"source": str(source), "modules": [_module(file) for file in ours]}
        about["others"] = [_other(file) for file in files if file not in ours]
        if source.suffix == ".whl":
            about["bytes"] = source.stat().st_size
            about["sha256"] = _digest(source)
            about["runs_on"] = check.platform_tag(source)
        return about


def _module(file: Path) -> dict[str, Any]:
    return {
        **_object(file),
        "hosts": str(hosts.read(file)),
        "problems": check.check_module(file),
        "functions": _functions(file),
        "device_code": list_device_code(file),
    }


def _other(file: Path) -> dict[str, Any]:
    """A shared object of somebody else."""
    return {**_object(file), "interfaces": interfaces(file), "device_code": list_device_code(file)}


def _object(file: Path) -> dict[str, Any]:
    so = elf.read(file)
    return {
        "file": file.name,
        "bytes": file.stat().st_size,
        "sha256": _digest(file),
        "machine": elf.MACHINES.get(so.machine, so.machine),
        "needs": list(so.needed),
        "wheels": {need.library: list(need.requirements) for need in needs.of_object(so)},
        "newest_symbols": _versions(file),
    }


def list_device_code(file: Path) -> list[dict[str, Any]]:
    with Image(file) as image:
        return [dataclasses.asdict(each) for each in device_code.read(image)]


def _functions(file: Path) -> list[dict[str, Any]]:
    """One entry per name, with the targets of its variants."""
    functions: dict[str, dict[str, Any]] = {}
    for each in table.read(file):
        new: dict[str, Any] = {
            "name": each.name,
            "contract": each.signature or each.cxx_types,
            "doc": each.doc,
            "targets": [],
        }
        entry = functions.setdefault(each.name, {**new, "backward": [], "tangent": []})
        entry["targets"].append(each.target or "baseline")
    for link in _links(file):
        if link.forward in functions:
            functions[link.forward][_DERIVED[link.macro]].append(link.derived)
    for name, target, sets in _instruction_sets(file):
        functions[name].setdefault("instruction_sets", {})[target] = sets
    return list(functions.values())


_DERIVED = {"KP_GRAD": "backward", "KP_JVP": "tangent"}  # as `kernpack explain` calls them


def _links(file: Path) -> list[tables.Link]:
    with Image(file) as image:
        return [link for module in tables.modules(image) for link in module.links]


def _instruction_sets(file: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Of each implementation what it and the functions that it uses ask of a processor beyond x86-64-v2; of that architecture."""
    with Image(file) as image:
        if not image.is_x86_64:
            return
        from kernpack_sdk.audit.instructions import Disassembly

        disassembly = Disassembly(image)
        for module in tables.modules(image):
            for variant in module.variants:
                yield variant.name, variant.target or "baseline", sorted(disassembly.levels_above(variant.address))


def _versions(file: Path) -> dict[str, str]:
    """Of each family of symbol versions (GLIBC, GLIBCXX, ...) the newest that the file asks for."""
    newest: dict[str, tuple[int, ...]] = {}
    with file.open("rb") as stream:
        for section in ELFFile(stream).iter_sections():
            if not isinstance(section, GNUVerNeedSection):
                continue
            for _, versions in section.iter_versions():
                for version in versions:
                    family, _, number = version.name.rpartition("_")
                    if re.fullmatch(r"\d+(\.\d+)*", number):
                        newest[family] = max(newest.get(family, ()), tuple(map(int, number.split("."))))
    return {family: ".".join(map(str, number)) for family, number in sorted(newest.items())}


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
