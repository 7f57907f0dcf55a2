"""`kernpack inspect`: what is in a module or a wheel of them, read from the files: nothing of them runs."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kernpack_sdk import abi, check, foreign, hosts, module_files, needs, shared_object, table
from kernpack_sdk.audit import Image, device_code, fatbin, package, tables
from kernpack_sdk.module_files import FOLDER


def facts(what: str) -> dict[str, Any]:
    """Of a wheel, a shared object, a folder of them or an installed package. ValueError for anything else."""
    with module_files.all_files(what) as found:
        modules = [file for file in found.files if _has_table(file)]
        others = [file for file in found.files if file not in modules]
        about: dict[str, Any] = {
            "source": str(found.source),
            "modules": [_module(file) for file in modules],
            "libraries": [_library(file, found) for file in others],
        }
        about["fat_binaries"] = [_fat_binary(file) for file in sorted(found.folder.glob(f"{FOLDER}/*.fatbin"))]
        about["duplicate_files"] = foreign.duplicates([*about["modules"], *about["libraries"]])
        if found.source.suffix == ".whl":
            about["bytes"] = found.source.stat().st_size
            about["sha256"] = foreign.digest(found.source)
            about["runs_on"] = _platform(found.source, bool(modules))
            about["requires"] = _requirements(found.folder)
        return about


def _module(file: Path) -> dict[str, Any]:
    try:
        return _facts_of_module(file)
    except check.DAMAGED as error:
        raise ValueError(_said(file, error)) from error


def _said(file: Path, error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else f"{file} is damaged ({type(error).__name__}: {error})"


def _facts_of_module(file: Path) -> dict[str, Any]:
    so = shared_object.read(file)
    return {
        "file": file.name,
        "bytes": file.stat().st_size,
        "sha256": foreign.digest(file),
        "machine": shared_object.MACHINES.get(so.machine, so.machine),
        "hosts": str(hosts.read(file)),
        "needs": list(so.needed),
        "wheels": {need.library: list(need.requirements) for need in needs.of_object(so)},
        "newest_symbols": foreign.newest(so.versions),
        "problems": check.check_module(file),
        "functions": _functions(file),
        "device_code": list_device_code(file),
        "cuda_sources": _cuda_sources(file),
        "packs": _packs(file),
    }


def _packs(file: Path) -> list[dict[str, str]]:
    """Where `kernpack split` put its machine code."""
    from kernpack_sdk.slim import packs

    try:
        return packs.listed(file)
    except ValueError:  # a damaged fat binary; `problems` and the table of device code say what they can
        return []


def _cuda_sources(file: Path) -> list[dict[str, Any]]:
    jit = runtime_jit()
    found: list[dict[str, Any]] = jit.facts(file) if jit else []
    return found


def runtime_jit() -> Any:
    """The runtime's module, which knows records of CUDA source and the cache of their code; None without the runtime."""
    try:
        return importlib.import_module("kernpack._jit")
    except ImportError:
        return None


def _fat_binary(file: Path) -> dict[str, Any]:
    """Of a pack."""
    images = [{"architecture": each.architecture, "bytes": each.stored} for each in fatbin.entries(file.read_bytes())]
    return {"file": f"{FOLDER}/{file.name}", "bytes": file.stat().st_size, "images": images}


def _has_table(file: Path) -> bool:
    """A module of functions by apache-tvm-ffi's names alone has none."""
    try:
        return bool(abi.majors(shared_object.read(file).exports, "module"))
    except (ValueError, *check.DAMAGED):
        return False


def _platform(wheel: Path, has_modules: bool) -> str | None:
    """The oldest platform that it runs on; None where auditwheel doesn't take it for a wheel of machine code."""
    try:
        return check.true_tag(wheel, has_modules)
    except ValueError:
        return None


def _library(file: Path, found: module_files.Found) -> dict[str, Any]:
    name = str(file.relative_to(found.folder))
    try:
        return foreign.library(file, name, {each.name for each in found.files})
    except (ValueError, *check.DAMAGED) as error:
        said = _said(file, error)
        if len(found.files) == 1:
            raise ValueError(said) from error
        return {
            "file": name,
            "bytes": file.stat().st_size,
            "sha256": foreign.digest(file),
            "machine": "?",
            "damaged": said,
        }


def _requirements(folder: Path) -> dict[str, Any]:
    """The requirements of a wheel, as pip reads them: Python, and other wheels."""
    metadata = package.read_message(package.find_info(folder), "METADATA")
    return {"python": metadata.get("Requires-Python"), "wheels": metadata.get_all("Requires-Dist") or []}


def list_device_code(file: Path) -> list[dict[str, Any]]:
    with Image(file) as image:
        return [dataclasses.asdict(each) for each in device_code.read(image)]


def _functions(file: Path) -> list[dict[str, Any]]:
    """One entry per name, with the targets of its variants."""
    functions: dict[str, dict[str, Any]] = {}
    for each in table.read_file(file):
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
