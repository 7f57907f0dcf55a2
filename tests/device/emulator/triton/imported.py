"""Triton's kernels as functions of a wheel: import_triton() makes it, and it is called without Triton, from NumPy, torch and JAX.

`imported.py make FOLDER` writes the wheel, and needs Triton, but no device. `imported.py call FOLDER` needs KERNPACK_EMULATOR.
"""

# ruff: noqa: N803 (Triton's names of constants)
import contextlib
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

NORM = '(x: f32[R, N], w: f32[N], eps: float = 1e-5) -> (y: f32[R, N]) with on "cuda"'
MATMUL = '(a: f16[M, K], b: f16[K, N]) -> (c: f32[M, N]) with on "cuda"'


def make(folder: Path) -> None:
    import kernpack_compiler as kc
    import triton
    import triton.language as tl

    @triton.jit
    def norm(x, w, y, n, eps, D: tl.constexpr):
        row = tl.program_id(0)
        i = tl.arange(0, D)
        v = tl.load(x + row * n + i, mask=i < n, other=0.0)
        scale = 1 / tl.sqrt(tl.sum(v * v, 0) / n + eps)
        tl.store(y + row * n + i, v * scale * tl.load(w + i, mask=i < n, other=0.0), mask=i < n)

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

    @triton.jit
    def product(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
        sums = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            sums += tl.dot(a.load([m, k]), b.load([k, n]))
        c.store([m, n], sums)

    functions = [
        # For 9.0 the call encodes tensor maps (TMA).
        kc.import_triton(
            product,
            MATMUL,
            grid=["cdiv(M, BM)", "cdiv(N, BN)"],
            constants={"BM": 64, "BN": 64, "BK": 32},
            descriptors={"a": ["BM", "BK"], "b": ["BK", "BN"], "c": ["BM", "BN"]},
            archs=[80, 90],
            ptx=[80, 90],
        ),
        kc.import_triton(
            norm,
            NORM,
            args={"n": "N"},
            grid="R",
            configs=[
                {"when": "N <= 256", "constants": {"D": 256}},
                {"when": "N <= 2048", "constants": {"D": 2048}, "num_warps": 8},
            ],
        ),
        kc.import_triton(
            matmul,
            MATMUL,
            grid=["cdiv(M, BM)", "cdiv(N, BN)"],
            constants={"BN": 64, "BK": 32},
            configs=[{"when": "M <= 16", "constants": {"BM": 16}}, {"constants": {"BM": 64}}],
        ),
    ]
    on_cpu = kc.build(
        """module "triton_ops"
func twice(x: f32[N]) -> (y: f32[N]) { for i in 0..N { y[i] = x[i] * 2.0 } }""",
        "llvm",
    )
    wheel = kc.export_wheel([*functions, on_cpu], folder, "triton-ops", "1.0.0")
    zipfile.ZipFile(wheel).extractall(folder / "installed")
    print(wheel.name, wheel.stat().st_size)


def call(folder: Path) -> None:
    sys.path.insert(0, str(folder / "installed"))
    import jax.numpy as jnp
    import kernpack
    import torch

    k = kernpack.load("triton_ops")
    random = np.random.default_rng(5)
    for n in (100, 256, 300):
        x, w = random.standard_normal((9, n)).astype(np.float32), random.standard_normal(n).astype(np.float32)
        want = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w
        for kind in (np.asarray, torch.from_numpy, jnp.asarray):
            got = k.norm(*(kernpack.from_dlpack(kind(t)).to("cuda") for t in (x, w)))
            np.testing.assert_allclose(np.from_dlpack(got.to("cpu")), want, rtol=1e-5, atol=1e-6)
    for m, n, kk in ((1, 64, 32), (64, 64, 64), (65, 80, 112), (33, 17, 19)):
        a, b = (random.standard_normal(s).astype(np.float16) for s in ((m, kk), (kk, n)))
        got = k.matmul(*(kernpack.from_dlpack(t).to("cuda") for t in (a, b)))
        want = a.astype(np.float32) @ b.astype(np.float32)
        np.testing.assert_allclose(np.from_dlpack(got.to("cpu")), want, rtol=1e-4, atol=1e-4)
    on_hopper = kernpack.device("cuda", 0).compute_version == "9.0"
    for m, n, kk in ((64, 64, 32), (70, 80, 112), (33, 24, 200)):
        a, b = (random.standard_normal(s).astype(np.float16) for s in ((m, kk), (kk, n)))
        got = k.product(*(kernpack.from_dlpack(t).to("cuda") for t in (a, b)))
        want = a.astype(np.float32) @ b.astype(np.float32)
        np.testing.assert_allclose(np.from_dlpack(got.to("cpu")), want, rtol=1e-4, atol=1e-3)
    # Rows of 72 bytes: code for 8.0 takes them.
    odd = kernpack.zeros((64, 36), "f16", "cuda"), kernpack.zeros((36, 64), "f16", "cuda")
    said = "kernel product: tensor 'a': dim 0: expected a stride that is a multiple of 16 bytes"
    with pytest.raises(ValueError, match=said) if on_hopper else contextlib.nullcontext():
        k.product(*odd)
    wide = kernpack.zeros((1, 5000), "f32", "cuda")
    try:
        k.norm(wide, kernpack.zeros((5000,), "f32", "cuda"))
        raise AssertionError("a width that no configuration has")
    except ValueError as error:
        np.testing.assert_equal(str(error), "norm: none of its configurations is for these sizes")
    np.testing.assert_array_equal(k.twice(np.ones(3, np.float32)), 2)
    assert not {"triton", "kernpack_compiler"} & set(sys.modules)
    print("equal, and no alarm")


{"make": make, "call": call}[sys.argv[1]](Path(sys.argv[2]))
