"""Launches of another kind by functions of import_triton(), as Triton's launcher does them: tensor descriptors that the host
makes, clusters of blocks. Needs Triton and KERNPACK_EMULATOR=sm_80,sm_90.
"""

# ruff: noqa: N803 (Triton's names of constants)
import kernpack
import kernpack_compiler as kc
import numpy as np
import triton
import triton.language as tl


@triton.jit
def scaled(x, y, k, B: tl.constexpr):
    at = [tl.program_id(1), tl.program_id(0) * B]
    y.store(at, x.load(at) * k)


@triton.jit
def sums(x, y, n, D: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, D)
    tl.store(y + row, tl.sum(tl.load(x + row * n + i, mask=i < n, other=0.0), 0))


def main() -> None:
    old, new = kernpack.devices("cuda")
    random = np.random.default_rng(3)
    with_descriptors = kc.import_triton(
        scaled,
        "(x: f32[R, N], k: float) -> (y: f32[R, N])",
        grid=["cdiv(N, B)", "R"],
        constants={"B": 64},
        descriptors={"x": [1, "B"], "y": [1, "B"]},
        archs=[80],
    )
    in_clusters = kc.import_triton(
        sums, "(x: f32[R, N]) -> (y: f32[R])", args={"n": "N"}, grid="R", constants={"D": 1024}, archs=[90], num_ctas=2
    )
    k = kc.build_imported([with_descriptors, in_clusters], "launcher")
    for n in (64, 100, 1000):  # 100: a part of the last block is outside of the tensor
        x = random.standard_normal((5, n), np.float32)
        for device in (old, new):
            got = k.scaled(kernpack.from_dlpack(x).to(device), 2.0)
            np.testing.assert_array_equal(np.from_dlpack(got.to("cpu")), x * 2)
        got = k.sums(kernpack.from_dlpack(x).to(new))
        np.testing.assert_allclose(np.from_dlpack(got.to("cpu")), x.sum(1), rtol=1e-4, atol=1e-4)
    print("descriptors and clusters: equal, and no alarm")


main()
