"""Generated code beside other code of ours: the kernels written by hand, the other generator, and what an exported module
costs to load. On two threads."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from harness import Snippet
from kit import Kit
from report import Row, timed_row

from topics import codegen

SHAPE = (512, 384)
# Both generators for one processor that each compiler calls by the same name.
LEVEL = "-mcpu=x86-64-v3"
GOAL_BY_HAND, GOAL_C, GOAL_LOAD_MS = 1.1, 1.3, 20.0


def measure(kit: Kit) -> list[Row]:
    import kernpack
    import kernpack_compiler as kc

    module = kc.ir.IRModule.parse(codegen.MODULE)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        by_hand = _ops(kernpack.load("kernpack_kernels"), ("softmax", "layer_norm", "gelu"))
        generated = _ops(kc.build(module, "llvm"), tuple(by_hand))
        ops = ("softmax", "layer_norm", "gelu", "chain")
        c, llvm = (_ops(kc.build(module, f"{kind} {LEVEL}"), ops) for kind in ("c", "llvm"))
        rows = [
            _row(kit, f"{op}, generated (llvm)", (generated[op], by_hand[op]), GOAL_BY_HAND, "kernels/, by hand")
            for op in by_hand
        ]
        rows += [_row(kit, f"{op}, kind c {LEVEL}", (c[op], llvm[op]), GOAL_C, "kind llvm") for op in ops]
    finally:
        torch.set_num_threads(threads)
    return [*rows, _load(kit, kc)]


def _ops(k: Any, names: tuple[str, ...]) -> dict[str, Callable[[], object]]:
    torch.manual_seed(0)
    pairs = codegen.pairs(k, torch.randn(SHAPE))
    return {name: pairs[name][0] for name in names}


def _row(kit: Kit, name: str, sides: tuple[Callable[[], object], Callable[[], object]], goal: float, peer: str) -> Row:
    timings = kit.compare({side: Snippet("f()", {"f": f}) for side, f in zip(("ours", "theirs"), sides, strict=True)})
    return timed_row("generators", f"{name} {SHAPE[0]}x{SHAPE[1]}", timings, goal, peer=peer)


def _load(kit: Kit, kc: Any) -> Row:
    """Each sample is a module that this process has not seen."""
    import kernpack

    times = []
    with tempfile.TemporaryDirectory() as folder:
        for sample in range(max(3, kit.repetitions // 12)):
            text = codegen.SOFTMAX.replace("codegen_bench", f"codegen_bench_{sample}")
            built = kc.build(kc.ir.IRModule.parse(text), "llvm")
            path = built.export_library(str(Path(folder) / f"softmax{sample}.so"))
            start = time.perf_counter()
            kernpack.load(str(path)).softmax  # noqa: B018  # looking a function up is part of it
            times.append((time.perf_counter() - start) * 1e3)
    return Row("generators", "load of the exported softmax", min(times), None, unit="ms", goal=GOAL_LOAD_MS)
