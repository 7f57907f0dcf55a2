"""python export.py KERNELS.py KIND:NEWS:FILE...: the functions of KERNELS.py, exported to each file by the generator of that kind of
the kernpack_compiler that PYTHONPATH names. With NEWS a function's contract has a word that only ABI 1.1 knows.
"""

from __future__ import annotations

import runpy
import sys

from kernpack_compiler import export_library, ir

WORD = "(x: f32[N]) -> (y: f32[N]) with rehearsed"


@ir.func("(x: f32[N]) -> (y: f32[N])", signature=WORD)
def word(x, y):
    with ir.parallel(x.shape[0]) as i:
        y[i] = x[i] + x[i]


def main(kernels: str, *wanted: str) -> None:
    functions = list(runpy.run_path(kernels)["MODULE"].functions)
    for one in wanted:
        kind, news, file = one.split(":", 2)
        module = ir.IRModule([*functions, word] if news else functions)
        export_library(module, file, {"c": "c", "llvm": "llvm -mcpu=x86-64"}[kind])


if __name__ == "__main__":
    main(*sys.argv[1:])
