"""make bench-llm: SmolLM2-135M as examples/chat runs it, and operations of language models, beside their peers.

Each section runs in a process of its own per number of threads, pinned to as many CPUs; a row's candidates take turns. The
instruction sets stand above the figures: lower ones by KERNPACK_TARGET for ours, ONEDNN_MAX_CPU_ISA and ATEN_CPU_CAPABILITY for
torch's.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "chat"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import machine
import peers
import pictures
import report
from goals import processor_class

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# The section's module, and the numbers of threads that its figures are for.
SECTIONS = {
    "model": (1, 2),
    "linear": (1,),
    "attention": (1,),
    "norms": (1,),
    "training": (1,),
    "sampling": (1,),
    "patched": (2,),
    "experts": (2,),
    "layers": (1,),
    "busy": (2,),
    "wheel": (1,),
}


def main() -> int:
    options = _options()
    facts = machine.describe()
    print(f"{facts['cpu']}: {' '.join(machine.instruction_sets())}; goals for {processor_class()}")
    print(f"KERNPACK_TARGET={os.environ.get('KERNPACK_TARGET', '(none)')}; load {facts['load']:.1f}\n", flush=True)
    rows: list[report.Row] = []
    failed: list[str] = []
    for section in options.only or SECTIONS:
        for threads in SECTIONS[section]:
            measured = _section(section, threads)
            if measured is None:
                failed.append(f"{section}, {threads} threads")
            elif measured:
                rows += measured
                print(report.table(measured) + "\n", flush=True)
    print("not measured beside them:")
    for name, reason in peers.missing().items():
        print(f"  {name}: {reason}")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    report.write_json(options.json, rows, facts)
    pictures.write_plots(options.json.parent / "plots", rows)
    print(f"\nwrote {options.json}, and pictures beside it" + "".join(f"\nfailed: {each}" for each in failed))
    return 1 if failed else 0


def _section(section: str, threads: int) -> list[report.Row] | None:
    """Its rows, from a process pinned to the first CPUs; None where it failed."""
    cpus = sorted(os.sched_getaffinity(0))[:threads]
    if len(cpus) < threads:
        print(f"{section} on {threads} threads: this process may use {len(cpus)} CPUs only\n")
        return []
    count = str(threads)
    done = subprocess.run(
        [sys.executable, HERE / "section.py", section, count],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": count, "KERNPACK_NUM_THREADS": count, "TOKENIZERS_PARALLELISM": "false"},
        preexec_fn=lambda: os.sched_setaffinity(0, cpus),
    )
    return [report.make_row(each) for each in json.loads(done.stdout)] if done.returncode == 0 else None


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, help="measure these sections")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench" / "llm.json")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
