"""`make bench`: measures everything in one process, prints a table, writes JSON and a picture of each topic. Asserts
no time.

python tests/bench/run.py [--quick] [--only TOPIC ...] [--json FILE] [--plots FOLDER]
"""

from __future__ import annotations

import argparse
import importlib
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # support
sys.path.insert(0, str(Path(__file__).resolve().parent))

import machine
import pictures
import report
from kit import Kit

import build

TOPICS = (
    "scalars",
    "arrays",
    "elements",
    "torch_tensors",
    "torch_ops",
    "hooks",
    "errors",
    "building",
    "loading",
    "jax_nodes",
    "jax_compile",
    "growth",
    "storage",
    "checking",
    "profile",
    "devices",
    "opencl",
    "targets",
    "plans",
    "device_code",
    "jit",
    "emulator",
    "kernels",
    "codegen",
    "codegen_build",
    "matmul",
    "python_kernels",
    "generators",
    "programs",
    "imports",
    "wheels",
)


def main() -> int:
    options = _options()
    kit = Kit(repetitions=12 if options.quick else 60)
    rows: list[report.Row] = []
    failed: dict[str, str] = {}
    for topic in options.only or TOPICS:
        print(f"{topic} ...", file=sys.stderr, flush=True)
        try:
            rows += importlib.import_module(f"topics.{topic}").measure(kit)
        except Exception as error:  # one broken peer must not hide the other figures
            failed[topic] = f"{type(error).__name__}: {error}"
            if options.verbose:
                traceback.print_exc()
    facts = machine.describe()
    print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']:.1f}, Python {facts['python']}")
    print("best of interleaved repetitions, loop included; goals are ours/theirs at most\n")
    print(report.table(rows))
    for topic, reason in failed.items():
        print(f"\nnot measured: {topic}: {reason}")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    report.write_json(options.json, rows, facts)
    plots = pictures.write_plots(options.plots, rows)
    print(f"\nwrote {options.json} and {len(plots)} pictures in {options.plots}")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--verbose", action="store_true", help="tracebacks of topics that fail")
    parser.add_argument("--only", nargs="+", choices=TOPICS, help="measure these topics")
    output = build.ROOT / "build" / "bench"
    parser.add_argument("--json", type=Path, default=output / "bench.json")
    parser.add_argument("--plots", type=Path, default=output / "plots")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
