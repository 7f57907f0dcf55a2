"""Matrix products by the generator of kind llvm, scheduled by default, on two threads: against NumPy's BLAS. What is computed
of each sum, by the kinds llvm and c: against the plain product."""

from __future__ import annotations

from functools import partial

import numpy as np
from harness import interleave_runs
from kit import Kit
from report import Row, timed_row

# Rows, the sum's length, columns. One row is limited by memory, and has a schedule of its own.
SIZES = ((512, 512, 512), (1024, 1024, 1024), (1000, 1001, 999), (512, 1536, 384), (2048, 2048, 2048), (1, 1536, 384))
GOAL, GOAL_ONE_ROW = 1.15, 2.0
# Computations on each sum, or the order of the sum, beside the plain product of the same generator.
EPILOGUES = {
    "bias": "{sum} + c[j]",
    "factor": "{sum} * 0.5",
    "relu": "max({sum}, 0.0)",
    "narrowing": "f32(bf16({sum}))",
    "any_16": "reduce(+, k in 0..K, any 16, a[i, k] * b[k, j])",
}
EPILOGUE_SIZES = (256, 512, 1024)
GOAL_EPILOGUE = 1.1
# OpenBLAS's threads go on looking for work for 0.1 s after a product, each on a core of its own: what runs on the
# same cores meanwhile would be timed with what they leave of them.
PAUSE_S = 0.15

MODULE = """module "matmul_bench"
func matmul(a: f32[M, K], b: f32[K, N]) -> (o: f32[M, N]) {
  for i in 0..M { for j in 0..N { o[i, j] = reduce(+, k in 0..K, sequential, a[i, k] * b[k, j]) } }
}
func row_times(a: f32[K], b: f32[K, N]) -> (o: f32[N]) {
  for j in 0..N { o[j] = reduce(+, k in 0..K, sequential, a[k] * b[k, j]) }
}
"""


def measure(kit: Kit) -> list[Row]:
    import kernpack_compiler as kc

    # Schedules go by what the target says: "llvm" alone is any processor, with vectors of 128 bits.
    module = kc.build(kc.ir.IRModule.parse(MODULE), kc.Target.from_device("cpu"))
    rows = [_row(kit, module, *size) for size in SIZES]
    for target in (kc.Target.from_device("cpu"), kc.Target("c -mcpu=x86-64-v3")):
        rows += _epilogues(kit, kc.build(kc.ir.IRModule.parse(_epilogue_module()), target), str(target).split()[0])
    return rows


def _epilogue_module() -> str:
    total = "reduce(+, k in 0..K, sequential, a[i, k] * b[k, j])"
    functions = {"plain": "{sum}"} | EPILOGUES
    return 'module "matmul_epilogues" ' + "".join(
        f"func {name}(a: f32[M, K], b: f32[K, N], c: f32[N]) -> (o: f32[M, N]) "
        f"{{ for i in 0..M {{ for j in 0..N {{ o[i, j] = {value.format(sum=total)} }} }} }}\n"
        for name, value in functions.items()
    )


def _epilogues(kit: Kit, module: object, kind: str) -> list[Row]:
    rows = []
    for n in EPILOGUE_SIZES:
        random = np.random.default_rng(0)
        a, b, c = (random.random(shape, dtype=np.float32) for shape in ((n, n), (n, n), n))
        if not np.allclose(module.bias(a, b, c), a @ b + c, rtol=1e-3):
            raise RuntimeError(f"the product of {n} x {n} x {n} with a bias is wrong")
        calls = max(1, 20_000_000 // n**3)
        for name in EPILOGUES:
            sides = {
                "ours": partial(_repeat, calls, getattr(module, name), a, b, c),
                "theirs": partial(_repeat, calls, module.plain, a, b, c),
            }
            timings = interleave_runs(sides, max(5, min(kit.repetitions, 2_000_000_000 // n**3)), 0.0)
            for timing in timings.values():
                timing.samples = [sample / calls for sample in timing.samples]
            title = f"matmul {n} x {n} x {n} and {name}, kind {kind}"
            rows.append(timed_row("matmul", title, timings, GOAL_EPILOGUE, peer="the plain product"))
    return rows


def _row(kit: Kit, module: object, m: int, k: int, n: int) -> Row:
    random = np.random.default_rng(0)
    a = random.random((m, k) if m > 1 else k, dtype=np.float32)
    b = random.random((k, n), dtype=np.float32)
    function = module.matmul if m > 1 else module.row_times
    if not np.allclose(function(a, b), a @ b, rtol=1e-3):
        raise RuntimeError(f"the product of {m} x {k} x {n} is wrong")
    calls = max(1, 2_000_000 // (m * k * n))  # of short ones several a sample
    repetitions = max(5, min(kit.repetitions, 4_000_000_000 // (m * k * n)))
    timings = interleave_runs(
        {"ours": lambda: _repeat(calls, function, a, b), "theirs": lambda: _repeat(calls, np.matmul, a, b)},
        repetitions,
        PAUSE_S,
    )
    for timing in timings.values():
        timing.samples = [sample / calls for sample in timing.samples]
    goal = GOAL if m > 1 else GOAL_ONE_ROW
    return timed_row("matmul", f"matmul {m} x {k} x {n}", timings, goal, peer="NumPy's BLAS")


def _repeat(calls: int, function: object, *arrays: np.ndarray) -> None:
    for _ in range(calls):
        function(*arrays)
