"""How long a build of one softmax takes: the generator of kind llvm against apache-tvm, where that is installed."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import time
from collections.abc import Callable

from kit import Kit
from report import Row

from topics.codegen import SOFTMAX

GOAL = 2.0
TARGET = "llvm -mcpu=x86-64-v3"
ROUNDS = 10


def measure(_kit: Kit) -> list[Row]:
    builds = {"ours": _ours()}
    if importlib.util.find_spec("tvm"):
        builds["theirs"] = _theirs()
    else:
        print("codegen_build: apache-tvm, to compare with, is not installed: pip install apache-tvm", file=sys.stderr)
    best: dict[str, float] = dict.fromkeys(builds, float("inf"))
    for _ in range(ROUNDS):  # in turn, so that what else the machine does meets both
        for side, build in builds.items():
            start = time.perf_counter()
            build()
            best[side] = min(best[side], (time.perf_counter() - start) * 1e3)
    theirs = best.get("theirs")
    goal = None if theirs is None else GOAL  # of the ratio
    name = f"build of one softmax, {TARGET}"
    return [Row("codegen_build", name, best["ours"], theirs, "ms", goal, peer="apache-tvm")]


def _ours() -> Callable[[], object]:
    import kernpack_compiler as kc
    from kernpack_compiler import ir

    names = (f"codegen_build_{i}" for i in itertools.count())  # a process loads a module of one name once
    return lambda: kc.build(ir.IRModule.parse(SOFTMAX.replace("codegen_bench", next(names))), TARGET)


def _theirs() -> Callable[[], object]:
    """As its users write it: the operator of its library, for any extents, without a schedule."""
    import tvm
    from tvm import te, tirx, topi

    x = te.placeholder((tirx.Var("n", "int64"), tirx.Var("d", "int64")), "float32", "x")
    function = te.create_prim_func([x, topi.nn.softmax(x)]).with_attr("global_symbol", "softmax")
    target = tvm.target.Target({"kind": "llvm", "mcpu": "x86-64-v3"})
    return lambda: tvm.compile(tvm.IRModule({"softmax": function}), target=target)
