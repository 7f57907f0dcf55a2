"""How long a build takes, in the process, against apache-tvm where that is installed: of one softmax by the generator of kind llvm,
and of a softmax in plain Python from its source to a callable."""

from __future__ import annotations

import importlib.util
import itertools
import math
import sys
import time
from collections.abc import Callable
from math import exp
from typing import Any

from kernpack_compiler.lang import f32, parallel
from kit import Kit
from report import Row

from topics.codegen import SOFTMAX

GOAL = 2.0
GOAL_PYTHON = 0.5
TARGET = "llvm -mcpu=x86-64-v3"
ROUNDS = 10


def measure(_kit: Kit) -> list[Row]:
    pairs = {
        f"build of one softmax, {TARGET}": (_ours, _theirs, GOAL),
        f"softmax in Python, from source to callable, {TARGET}": (_our_python, _their_python, GOAL_PYTHON),
    }
    if not importlib.util.find_spec("tvm"):
        print("codegen_build: apache-tvm, to compare with, is not installed: pip install apache-tvm", file=sys.stderr)
    return [_row(name, *pair) for name, pair in pairs.items()]


def _row(name: str, ours: Callable[[], Any], theirs: Callable[[], Any], goal: float) -> Row:
    builds = {"ours": ours()}
    if importlib.util.find_spec("tvm"):
        builds["theirs"] = theirs()
    best: dict[str, float] = dict.fromkeys(builds, float("inf"))
    for _ in range(ROUNDS):  # in turn, so that what else the machine does meets both
        for side, build in builds.items():
            start = time.perf_counter()
            build()
            best[side] = min(best[side], (time.perf_counter() - start) * 1e3)
    other = best.get("theirs")
    return Row("codegen_build", name, best["ours"], other, "ms", None if other is None else goal, peer="apache-tvm")


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


def softmax(x: f32["N", "D"]) -> f32["N", "D"]:
    for i in parallel(N):
        largest = -math.inf
        for j in range(D):
            largest = max(largest, x[i, j])
        total = 0.0
        for j in range(D):
            total += exp(x[i, j] - largest)
        for j in range(D):
            out[i, j] = exp(x[i, j] - largest) / total


def _our_python() -> Callable[[], object]:
    import kernpack_compiler as kc
    from kernpack_compiler import ir

    names = (f"codegen_build_python_{i}" for i in itertools.count())
    return lambda: kc.build(ir.IRModule([kc.kernel(softmax).func], next(names)), TARGET).softmax


def _their_python() -> Callable[[], object]:
    """The same loops in its script, without a schedule."""
    import tvm
    from tvm.script import tirx as T  # noqa: N812 (its name in TVM's own documents)

    target = tvm.target.Target({"kind": "llvm", "mcpu": "x86-64-v3"})

    def build() -> object:
        @T.prim_func
        def softmax(x_: T.handle, out_: T.handle):
            n = T.int64()
            d = T.int64()
            x = T.match_buffer(x_, (n, d), "float32")
            out = T.match_buffer(out_, (n, d), "float32")
            for i in T.parallel(n):
                largest = T.alloc_buffer((1,), "float32", scope="local")
                total = T.alloc_buffer((1,), "float32", scope="local")
                largest[0] = T.float32(-3e38)
                for j in range(d):
                    largest[0] = T.max(largest[0], x[i, j])
                total[0] = T.float32(0)
                for j in range(d):
                    total[0] = total[0] + T.exp(x[i, j] - largest[0])
                for j in range(d):
                    out[i, j] = T.exp(x[i, j] - largest[0]) / total[0]

        return tvm.compile(tvm.IRModule({"softmax": softmax}), target=target)["softmax"]

    return build
