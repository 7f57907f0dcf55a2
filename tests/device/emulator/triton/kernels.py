"""Kernels as Triton's compiler makes them for sm_80, which needs no GPU: writes softmax.ptx and matmul.ptx into a folder, and prints
the bytes of shared memory of each.

`kernels.py FOLDER`
"""

# ruff: noqa: N803 (Triton's names of constants)
import json
import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def softmax(x, o, n, D: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, D)
    v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
    v = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * n + c, v / tl.sum(v, 0), mask=c < n)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    rn = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    rk = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm * K + (k + rk)[None, :], mask=(rm < M) & ((k + rk)[None, :] < K), other=0.0)
        y = tl.load(b + (k + rk)[:, None] * N + rn, mask=((k + rk)[:, None] < K) & (rn < N), other=0.0)
        sums += tl.dot(x, y)
    tl.store(c + rm * N + rn, sums, mask=(rm < M) & (rn < N))


# Parameters at multiples of 16 make pipelines of cp.async.
SOURCES = {
    "softmax": (softmax, {"x": "*fp32", "o": "*fp32", "n": "i32"}, {"D": 256}, ()),
    "matmul": (
        matmul,
        {"a": "*fp16", "b": "*fp16", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32"},
        {"BM": 64, "BN": 64, "BK": 32},
        (0, 1, 2, 4, 5),
    ),
}
shared = {}
for name, (function, types, constants, aligned) in SOURCES.items():
    source = ASTSource(
        function,
        {**types, **dict.fromkeys(constants, "constexpr")},
        constexprs=constants,
        attrs={(i,): [["tt.divisibility", 16]] for i in aligned},
    )
    made = triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 4, "num_stages": 3})
    (Path(sys.argv[1]) / f"{name}.ptx").write_text(made.asm["ptx"])
    shared[name] = made.metadata.shared
print(json.dumps(shared))
