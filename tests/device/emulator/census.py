"""Counts the instructions of PTX by opcode and by whose it is, and writes the table.

`census.py FOLDER PAGE`: FOLDER has a folder of .ptx and .so for each of SOURCES.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import kernpack_cuda_emulator as emulator

SOURCES = {
    "generated": "generated code: the semantics table, random functions and schedules, compiled by NVRTC",
    "nvrtc": "NVIDIA's math functions, compiled by NVRTC",
    "nvcc": "kernels with `<<<>>>` launches, compiled by nvcc",
    "cub": "CUB's reductions, scans and radix sorts, compiled by nvcc",
    "pack": "the kernels of `kernpack-kernels-cuda`, compiled by nvcc",
    "triton": "Triton's softmax and matrix product for sm_80",
}
PAGE = """# Which PTX instructions kernels have

`make ptx-census` wrote this page. It runs the tests that load PTX, keeps the texts
(`KERNPACK_EMULATOR_PTX`), and counts how often each opcode appears in them. A "no" in the last
column means that the [emulated CUDA device](emulator.md) can't run all forms of the instruction in
these texts. `python -m kernpack_cuda_emulator code FILE` checks other kernels in the same way.

{sources}

{table}
"""


def main(folder: Path, page: Path) -> None:
    counts: dict[str, Counter[str]] = {}
    refused: set[str] = set()
    kernels, texts = Counter[str](), Counter[str]()
    for source in SOURCES:
        counts[source] = Counter()
        for file in sorted(file for file in (folder / source).rglob("*") if file.suffix in (".ptx", ".so")):
            for code in emulator.survey(file):
                if code.error:
                    raise SystemExit(f"{file}: {code.error}")
                texts[source] += 1
                kernels[source] += len(code.kernels)
                for op, count in code.instructions.items():
                    counts[source][op.partition(".")[0]] += count
                for refusal in code.refused:
                    refused.add(refusal.why.split(": ", 1)[1].split(".", 1)[0])
                    print(f"{file}: {refusal.kernel}: {refusal.why}")
        if not texts[source]:
            raise SystemExit(f"{folder / source}: expected files with PTX")
    heads = ["instruction", *SOURCES, "emulated"]
    rows = [f"| {' | '.join(heads)} |", "| -- |" + " --: |" * len(SOURCES) + " -- |"]
    for op in sorted(set().union(*counts.values())):
        cells = [f"{counts[source][op]:,}" if counts[source][op] else "" for source in SOURCES]
        rows.append(f"| `{op}` | {' | '.join(cells)} | {'no' if op in refused else 'yes'} |")
    about = [f"| {source} | {what} | {texts[source]:,} | {kernels[source]:,} |" for source, what in SOURCES.items()]
    sources = "\n".join(["| source | contents | texts | kernels |", "| -- | -- | --: | --: |", *about])
    page.write_text(PAGE.format(sources=sources, table="\n".join(rows)), encoding="utf-8")
    print(f"{page}: {len(rows) - 2} instructions, {len(refused)} of them refused")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
