"""Runs programs on the emulated device, prints counts of kernels, and lists the instructions that it can't run."""

from __future__ import annotations

import argparse
import signal
import sys
from collections import Counter
from typing import Any

from . import counts, drop_in, report
from .devices import DEVICES
from .survey import Code, SurveyError, survey

BOUNDS = {
    "memory": "memory",
    "passes": "shared memory",
    "instructions": "instructions",
    "special": "special functions",
}


def _bound(unit: str) -> str:
    return BOUNDS.get(unit) or unit.removeprefix("matrix_") + (" matrices" if unit.startswith("matrix_") else "")


def _share(part: float | None) -> str:
    return "-" if part is None else f"{part:.0%}"


def _table(rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    aligned = [
        [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        for row in rows
    ]
    return "\n".join("  ".join(row).rstrip() for row in aligned)


def _kernels(kernels: list[dict[str, Any]], device: str) -> str:
    rows = [["kernel", "launches", "at least", "bound by", "read", "written", "sectors", "passes"]]
    for kernel in kernels:
        of = counts.estimate(kernel, DEVICES[device])
        moved = counts.total(*kernel["global"].values())
        rows.append(
            [
                kernel["name"],
                str(kernel["launches"]),
                f"{1e6 * of.seconds:.3g} us",
                _bound(of.bound),
                f"{kernel['touched']['read'] / kernel['launches'] / 1e6:.3g} MB",
                f"{kernel['touched']['written'] / kernel['launches'] / 1e6:.3g} MB",
                _share(counts.used(moved, "sectors")),
                _share(counts.used(kernel["shared"], "passes")),
            ]
        )
    return _table(rows)


def _lines(kernel: dict[str, Any], count: int) -> str:
    """The lines that move most in vain, then those that ran most."""

    def wasted(line: dict[str, Any]) -> int:
        sectors, passes = line.get("global"), line.get("shared")
        return (sectors["sectors"] - sectors["least"] if sectors else 0) + (
            passes["passes"] - passes["least"] if passes else 0
        )

    ran = sorted(kernel["lines"], key=lambda line: -line["warps"])[:count]
    worst = [line for line in sorted(kernel["lines"], key=wasted, reverse=True)[:count] if wasted(line)]
    rows = [["line", "instruction", "warps", "sectors", "passes", "source"]]
    for line in [*worst, *(line for line in ran if line not in worst)][:count]:
        rows.append(
            [
                str(line["line"]),
                line["op"],
                str(line["warps"]),
                _share(counts.used(line["global"], "sectors")) if "global" in line else "-",
                _share(counts.used(line["shared"], "passes")) if "shared" in line else "-",
                f"{line['file']}:{line['file_line']}" if "file" in line else "-",
            ]
        )
    return f"{kernel['name']}:\n" + _table(rows)


def _counts(options: argparse.Namespace) -> int:
    kernels = counts.read(options.file)
    if not kernels:
        print(f"{options.file}: no kernel was launched")
        return 0
    print(f"Static roofline estimate for {DEVICES[options.device].name}; nothing was measured.")
    print(_kernels(kernels, options.device))
    for kernel in kernels if options.lines > 0 else []:
        print("\n" + _lines(kernel, options.lines))
    return 0


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def _survey(file: str, found: list[Code], every: bool) -> bool:
    """True if the emulated device runs all code in the file."""
    unread = [code.error for code in found if code.error]
    refused = [refusal for code in found for refusal in code.refused]
    instructions: Counter[str] = sum((code.instructions for code in found), Counter())
    kernels = sum(len(code.kernels) for code in found)
    print(
        f"{file}: {_number(kernels, 'kernel')}, {_number(instructions.total(), 'instruction')} of "
        f"{_number(len(instructions), 'kind')}; "
        + ("the emulated device runs them all" if not unread and not refused else "the emulated device doesn't run all")
    )
    for error in dict.fromkeys(unread):
        print(f"  {_number(unread.count(error), 'image')}: {error}")
    for refusal in refused:
        print(f"  {refusal.kernel}: {refusal.why}")
    for op, count in instructions.most_common() if every else []:
        print(f"  {count:>9,}  {op}")
    return not unread and not refused


def _code(options: argparse.Namespace) -> int:
    found = {file: survey(file) for file in options.file}
    run = [_survey(file, codes, options.every) for file, codes in found.items()]
    return 0 if all(run) else 1


def _run(options: argparse.Namespace) -> int:
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise drop_in.DropInError("expected a command after --, such as: run -- python my_program.py")
    return drop_in.run(command, drop_in.Options(options.device, options.seed, options.check), options.report)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m kernpack_cuda_emulator", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    of_run = commands.add_parser(
        "run",
        help="run a program on the emulated device",
        description="Runs COMMAND with the emulated device in place of a GPU: libcuda.so.1, libcudart.so.13, ptxas and "
        "nvidia-smi are found before the real ones. The exit status is the command's.",
        usage="%(prog)s [-h] [--device sm_90[,sm_90...]] [--seed N|random] [--check races,global,init|none] "
        "[--report FILE] -- COMMAND...",
    )
    of_run.add_argument(
        "--device", default="sm_90", help="the devices' architectures, separated by commas (default: %(default)s)"
    )
    of_run.add_argument(
        "--seed", help="shuffle the order of warps by that number; random: by a number that errors name"
    )
    of_run.add_argument(
        "--check",
        help="look for these errors alone: races (on shared memory), "
        "global (races through global memory), init (reads of what was never written); or none",
    )
    of_run.add_argument("--report", metavar="FILE", help="write errors of kernels, and launches, to this file, as JSON")
    of_run.add_argument("command", nargs=argparse.REMAINDER, help="the program and its arguments, after --")
    of_run.set_defaults(run=_run)
    of_counts = commands.add_parser(
        "counts",
        help="print the counts of kernels",
        description="Prints the counts of kernels on the emulated device, with a static roofline estimate. To write FILE, run "
        "a program with KERNPACK_EMULATOR_COUNTS=FILE.",
    )
    of_counts.add_argument("file", help="the file that KERNPACK_EMULATOR_COUNTS named")
    of_counts.add_argument(
        "--device",
        choices=sorted(DEVICES),
        default="h100",
        help="the GPU whose peak rates the estimate uses (default: %(default)s)",
    )
    of_counts.add_argument(
        "--lines", type=int, default=0, metavar="N", help="for each kernel, also print N lines of PTX"
    )
    of_counts.set_defaults(run=_counts)
    of_code = commands.add_parser(
        "code",
        help="list the instructions that can't be emulated",
        description="Reads the PTX in shared objects, fatbins and text files, and lists the instructions that the emulated "
        "device can't run; if there are any, the exit status is 1. Doesn't run any code.",
    )
    of_code.add_argument("file", nargs="+", help="a shared object, a fatbin or a text file with PTX")
    of_code.add_argument("--every", action="store_true", help="list every kind of instruction, too")
    of_code.set_defaults(run=_code)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except drop_in.DropInError as error:
        of_run.error(str(error))
    except (counts.CountsError, SurveyError, report.ReportError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as in `... | head`
    sys.exit(main())
