"""`kernpack warm`: compiles the CUDA code that modules carry as source, so that their first calls needn't."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from dataclasses import asdict

from kernpack._cli.look import Failure, Wrong
from kernpack._cli.parser import number
from kernpack._system import usable_processors


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="an installed package, or the path of a module")
    parser.add_argument(
        "--cuda-arch",
        metavar="ARCH,...",
        help="compute capabilities without the dot: 90 or 80,90. default: those of this machine's GPUs",
    )
    jobs = number(int, "a number of compilations, 1 or more", 1)
    parser.add_argument("--jobs", type=jobs, default=usable_processors(), metavar="N", help="compile N at once")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from kernpack import _jit

    named = _named(options.cuda_arch)
    try:
        found = [source for file in _jit.files_of(options.name) for source in _jit.sources(file)]
    except (ImportError, OSError, ValueError) as error:
        raise Failure(str(error).removeprefix("kernpack.load: ")) from None
    if not found:
        raise Failure(f"{options.name} carries no CUDA source; its code is compiled already, and needs no warming")
    emulated = bool(os.environ.get("KERNPACK_EMULATOR"))  # which runs nothing else than PTX
    archs = [f"compute_{arch}" if emulated else f"sm_{arch}" for arch in named or _of_devices()]
    built: list[_jit.Built] = []
    problems: dict[str, None] = {}  # each once, in order
    for each in _jit.compile_ahead(found, archs, options.jobs or 1):
        if isinstance(each, Exception):
            problems[str(each)] = None
        else:
            built.append(each)
    if options.json:
        print(json.dumps({"built": [asdict(each) for each in built], "problems": list(problems)}, indent=2))
        return int(bool(problems))
    for each in built:
        unit = each.unit or "kernels that aren't templates"
        print(f"{each.source}, {each.arch}: {unit}: {'compiled' if each.compiled else 'in the cache'}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return int(bool(problems))


def _named(given: str | None) -> list[str]:
    archs = given.split(",") if given is not None else []
    for arch in archs:
        if not re.fullmatch(r"[1-9]\d{1,2}", arch):
            raise Wrong(f"--cuda-arch: expected compute capabilities without the dot, as in 80,90, got '{arch}'")
    return archs


def _of_devices() -> list[str]:
    import kernpack

    try:
        found = kernpack.devices("cuda")
    except RuntimeError:
        found = []
    archs = {str(device.compute_version).replace(".", "") for device in found}
    if not archs:
        raise Wrong("this machine has no CUDA device; name what to compile for: --cuda-arch 90")
    return sorted(archs)
