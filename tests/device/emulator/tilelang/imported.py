"""TileLang's kernels as functions of a wheel: import_tilelang() makes it, and it is called without TileLang.

`imported.py make FOLDER` writes the wheel, and needs TileLang, but no device. `imported.py call FOLDER` needs KERNPACK_EMULATOR.
"""

# ruff: noqa: N803, N806 (TileLang's names)
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

WIDTH = 128


def make(folder: Path) -> None:
    import kernpack_compiler as kc
    import tilelang.language as T  # noqa: N812

    M = T.dynamic("M")

    @T.prim_func
    def matmul(
        A: T.Tensor((M, WIDTH), "float16"),
        B: T.Tensor((WIDTH, WIDTH), "float16"),
        C: T.Tensor((M, WIDTH), "float32"),
        scale: T.float32,
    ):
        with T.Kernel(T.ceildiv(WIDTH, 64), T.ceildiv(M, 64), threads=128) as (bx, by):
            a = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((32, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for k in T.Pipelined(WIDTH // 32, num_stages=2):
                T.copy(A[by * 64, k * 32], a)
                T.copy(B[k * 32, bx * 64], b)
                T.gemm(a, b, c)
            for i, j in T.Parallel(64, 64):
                c[i, j] *= scale
            T.copy(c, C[by * 64, bx * 64])

    names = {"A": "a", "B": "b", "C": "c", "M": "N"}
    contract = '(a: f16[N, K], b: f16[K, 128], scale: float = 1.0) -> (c: f32[N, 128]) with on "cuda"'
    function = kc.import_tilelang(matmul, contract, args=names)
    # With tensor maps (TMA), and wgmma.
    for_hopper = kc.import_tilelang(matmul, contract, args=names, archs=[90], name="matmul_90")
    said = {
        "'a': TileLang has f16[M, 128], and the contract a contiguous f32 tensor of 2 dims": (
            contract.replace("a: f16", "a: f32"),
            80,
        ),
    }
    for text, (given, arch) in said.items():
        with pytest.raises((ValueError, NotImplementedError), match=re.escape(text)):
            kc.import_tilelang(matmul, given, args=names, archs=[arch])
    wheel = kc.export_wheel([function, for_hopper], folder, "tilelang-ops", "1.0.0")
    zipfile.ZipFile(wheel).extractall(folder / "installed")
    print(wheel.name, wheel.stat().st_size)


def call(folder: Path) -> None:
    sys.path.insert(0, str(folder / "installed"))
    import kernpack

    k = kernpack.load("tilelang_ops")
    on_hopper = kernpack.device("cuda", 0).compute_version == "9.0"
    matmul = k.matmul_90 if on_hopper else k.matmul
    random = np.random.default_rng(5)
    for m in (1, 64, 100):
        a, b = (random.standard_normal((rows, WIDTH)).astype(np.float16) for rows in (m, WIDTH))
        got = matmul(*(kernpack.from_dlpack(t).to("cuda") for t in (a, b)), 2.0)
        want = 2 * (a.astype(np.float32) @ b.astype(np.float32))
        np.testing.assert_allclose(np.from_dlpack(got.to("cpu")), want, rtol=1e-4, atol=1e-3)
    narrow, square = (kernpack.zeros((64, width), "f16", "cuda") for width in (64, WIDTH))
    with pytest.raises(ValueError, match=r"^matmul: a: dim 1: expected 128, got 64$"):
        k.matmul(narrow, square)
    assert not {"tilelang", "kernpack_compiler"} & set(sys.modules)
    print("equal, and no alarm")


{"make": make, "call": call}[sys.argv[1]](Path(sys.argv[2]))
