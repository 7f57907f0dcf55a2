"""`kernpack verify`: the environment against its lock; with --key, the signatures of wheels, which the SDK reads."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from importlib import metadata
from pathlib import Path

from kernpack._cli import MISSING, SDK_LINE
from kernpack._cli.look import Failure, Wrong


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="*",
        type=Path,
        metavar="LOCK|WHEEL",
        help="default: the path in KERNPACK_REQUIRE_LOCK, else kernpack.lock",
    )
    parser.add_argument(
        "--key", type=Path, metavar="FILE", help="check the wheels' signatures with this public key (PEM)"
    )
    parser.add_argument(
        "--warm",
        action="store_true",
        help="compare the installed modules with RECORD now, so that later loads needn't; for image builds",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.warm:
        return _warm(options)
    wheels = [file for file in options.files if file.suffix == ".whl"]
    if options.key is not None:
        return _signatures(options, wheels)
    if wheels:
        raise Wrong(f"{wheels[0]} is a wheel; name the signer's public key: --key FILE")
    if len(options.files) > 1:
        raise Wrong(f"expected one lock, got {len(options.files)}")
    from kernpack import _lock, _lock_verify

    path = options.files[0] if options.files else _lock.default_path()
    try:
        locked, problems = _lock_verify.verify(path)
    except _lock.LockError as error:
        locked, problems = [], [_lock_verify.Problem(error.kind, "", str(error))]
    if options.json:
        print(json.dumps({"lock": str(path), "problems": [asdict(each) for each in problems]}, indent=2))
    else:
        for each in problems:
            print(f"{each.problem}: {each.text}", file=sys.stderr)
        if not problems:
            print(f"{path}: {len(locked)} {'wheel matches' if len(locked) == 1 else 'wheels match'} the lock")
    return int(bool(problems))


def _warm(options: argparse.Namespace) -> int:
    if options.files or options.key is not None:
        raise Wrong("--warm takes no files and no --key: it reads the modules of all installed kernel wheels")
    from kernpack import _core, _lock

    warmed: dict[str, str] = {}
    problems: list[str] = []
    for found in _lock.kernel_distributions():
        for file in _modules(found):
            try:
                warmed[file] = _core.module_warm(file)
            except (ImportError, OSError, ValueError) as error:
                problems.append(str(error))
    if options.json:
        print(json.dumps({"warmed": warmed, "problems": problems}, indent=2))
        return int(bool(problems))
    for problem in problems:
        print(problem, file=sys.stderr)
    for file, verified in warmed.items():
        print(
            f"{file}: " + (f"as {verified} installed it" if verified else "no RECORD has a digest; loads will read it")
        )
    if not warmed and not problems:
        print("no kernel wheel is installed here; pip install one first", file=sys.stderr)
        return 1
    return int(bool(problems))


def _modules(found: metadata.Distribution) -> list[str]:
    """The paths of its modules; the runtime's own libraries aren't modules."""
    from kernpack import _lock
    from kernpack._system import is_module

    if _lock.normal(found.metadata["Name"]) == "kernpack":
        return []
    return sorted(os.path.abspath(str(found.locate_file(file))) for file in found.files or () if is_module(file.name))


def _signatures(options: argparse.Namespace, wheels: list[Path]) -> int:
    if not wheels or len(wheels) != len(options.files):
        raise Wrong("--key checks wheels: kernpack verify WHEEL.whl --key FILE")
    try:
        from kernpack_sdk import signature
    except ImportError:
        raise Failure(f"--key needs kernpack-sdk; install it: {SDK_LINE}[sign]", MISSING) from None
    try:
        return signature.verify_all(wheels, options.key, as_json=options.json)
    except ModuleNotFoundError as error:
        raise Failure(f"--key needs {error.name}; install it: {signature.INSTALL}", MISSING) from None
