"""`kernpack test [MODULE]`: what an author should never have to write."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from kernpack._cli.look import Failure, Wrong, guarded
from kernpack._cli.parser import Parser, number

PASSED, FAILED, CANNOT, MISSING = range(4)  # exit codes


def parser() -> Parser:
    made = Parser(
        "kernpack test",
        "Test a kernel module by its contracts: make every kind of call that the contracts allow, and check the results.",
    )
    made.epilog = (
        "Exit codes: 0 no problem found; 1 problems found; 2 the module or an option is invalid; 3 a required package isn't "
        "installed."
    )
    add_arguments(made)
    return made


def add_arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "module",
        nargs="?",
        help="an installed package, a wheel, a .so or a folder of them (default: the only installed one)",
    )
    made.add_argument(
        "--op",
        action="append",
        default=[],
        metavar="NAME",
        help="test only this function; patterns and repetition allowed",
    )
    made.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="NAME",
        help="run only this check; patterns and repetition allowed",
    )
    made.add_argument("--full", action="store_true", help="more calls, sizes and repetitions")
    made.add_argument(
        "--seed",
        type=number(int, "a whole number"),
        default=0,
        help="seed of the first round; a seed always gives the same calls",
    )
    made.add_argument(
        "--rounds",
        type=number(int, "a whole number, 1 or more", 1),
        default=1,
        metavar="N",
        help="this many rounds, with seeds from --seed on",
    )
    made.add_argument(
        "--jobs",
        "-j",
        type=number(int, "a whole number, 1 or more", 1),
        default=1,
        metavar="N",
        help="run N processes at once; checks of threads work best with one",
    )
    made.add_argument(
        "--inputs",
        type=Path,
        metavar="FILE",
        help="a file with generators of arguments (default: tests/kernpack_inputs.py)",
    )
    made.add_argument(
        "--reference",
        type=Path,
        metavar="FILE",
        help="a Python file with reference functions; the function of the same name must give the same results",
    )
    made.add_argument(
        "--timeout",
        type=number(float, "seconds, 0 or more", 0),
        default=0,
        metavar="S",
        help="time limit in seconds for one check of one function (default: 180, with --full 600)",
    )
    made.add_argument(
        "--emulate",
        action="store_true",
        help="run CUDA code on an emulated GPU (default sm_90,sm_80; KERNPACK_EMULATOR selects others)",
    )
    made.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    made.add_argument("--html", type=Path, metavar="FILE", help="write an HTML report")
    made.add_argument("--json", action="store_true", help="print JSON")
    made.add_argument("--verbose", "-v", action="store_true", help="name every skipped check")
    made.add_argument("--list", action="store_true", help="print the checks, and don't test anything")


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    return guarded("kernpack test", words, lambda: _main(words))


def _main(words: Sequence[str]) -> int:
    options = parser().parse_args(words)
    try:
        import numpy  # noqa: F401
    except ImportError:
        raise Failure("needs NumPy; install it: pip install numpy", MISSING) from None
    return run(options)


def run(options: argparse.Namespace) -> int:
    from kernpack_sdk.testing import junit, page, report, runner
    from kernpack_sdk.testing.bench import Options
    from kernpack_sdk.testing.checks import all_checks

    if options.list:
        for check in all_checks():
            print(f"{check.name:13} {check.says}{f' (needs {check.needs})' if check.needs else ''}")
        return PASSED
    progress = report.Progress(sys.stderr, report.looks_on() and not options.json)
    started = time.monotonic()
    results = []
    facts: dict[str, object] = {}
    try:
        with ExitStack() as stack:
            source = _source(options.module, stack)
            for seed in range(options.seed, options.seed + options.rounds):
                plan = runner.Plan(
                    source,
                    Options("full" if options.full else "quick", seed),
                    options.inputs,
                    tuple(options.op),
                    tuple(options.check),
                    options.jobs,
                    options.timeout,
                    options.emulate,
                    options.reference,
                )
                facts, found = runner.run(plan, progress)
                results += found
    except runner.CannotTest as why:
        progress.end()
        raise Wrong(str(why)) from None
    progress.end()
    seconds = time.monotonic() - started
    if options.junit:
        junit.write(options.junit, str(facts["module"]), results)
    if options.html:
        page.write(options.html, facts, results, report.summary(facts, results, seconds))
    if options.json:
        print(
            json.dumps(
                {**facts, "seconds": seconds, "results": [dataclasses.asdict(each) for each in results]}, indent=2
            )
        )
    else:
        report.write(sys.stdout, facts, results, seconds, options.verbose)
    return FAILED if any(result.status == "failed" for result in results) else PASSED


def _source(module: str | None, stack: ExitStack) -> str | list[str]:
    """The argument of kernpack.load: a wheel is unpacked for as long as it is tested."""
    import kernpack

    from kernpack_sdk.testing.runner import CannotTest

    installed = kernpack.installed()
    package, _, op = (module or "").rpartition(".")
    if package in installed and not Path(str(module)).exists():
        raise CannotTest(
            f"expected a module, got '{module}'; test one function with: kernpack test {package} --op {op}"
        )
    if module is None:
        if len(installed) != 1:
            raise CannotTest(
                f"expected a module's name, a wheel or a .so; installed are {', '.join(sorted(installed)) or 'none'}"
            )
        return next(iter(installed))
    if not module.endswith(".whl"):
        return module
    return _unpacked(Path(module), stack)


def _unpacked(wheel: Path, stack: ExitStack) -> list[str]:
    import tempfile

    from kernpack_sdk import archive, shared_object
    from kernpack_sdk.testing.runner import CannotTest

    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kernpack-test-")))
    try:
        with archive.reading(wheel), archive.opened(wheel) as files:
            names = [name for name in files.namelist() if name.endswith(shared_object.SUFFIX)]
            for name in names:
                files.extract(name, folder)
    except ValueError as error:
        raise CannotTest(str(error)) from None
    from kernpack._load import module_files

    found = [str(file) for place in {(folder / name).parent for name in names} for file in module_files(place)]
    if not found:
        raise CannotTest(f"{wheel}: expected a wheel with kernel modules (*.so), found none in it")
    return sorted(found)
