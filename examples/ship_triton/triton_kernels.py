"""Three kernels in Triton: RMS norm with its gradient, causal attention that never has all scores in memory, and a product with int8 weights."""

# ruff: noqa: N803 (names of constants in Triton)
import kernpack_compiler as kc
import triton
import triton.language as tl


@triton.jit
def rms_norm(x, w, y, n, eps, D: tl.constexpr):
    row = tl.program_id(0) * n
    i = tl.arange(0, D)
    v = tl.load(x + row + i, mask=i < n, other=0.0)
    scale = 1 / tl.sqrt(tl.sum(v * v, 0) / n + eps)
    tl.store(y + row + i, v * scale * tl.load(w + i, mask=i < n, other=0.0), mask=i < n)


@triton.jit
def rms_norm_backward(d_y, x, w, d_x, d_w, rows, n, eps, D: tl.constexpr):
    # A program for each row of d_x; the last one adds up d_w over all rows, in their order: the sum has the same bits each time.
    i = tl.arange(0, D)
    first = tl.program_id(0)
    last = first + 1
    if first == rows:
        first = 0
        last = rows
    weight = tl.load(w + i, mask=i < n, other=0.0)
    sums = tl.zeros((D,), tl.float32)
    for r in range(first, last):
        v = tl.load(x + r * n + i, mask=i < n, other=0.0)
        g = tl.load(d_y + r * n + i, mask=i < n, other=0.0)
        scale = 1 / tl.sqrt(tl.sum(v * v, 0) / n + eps)
        sums += g * v * scale
        if tl.program_id(0) < rows:
            dot = tl.sum(g * weight * v, 0) / n
            tl.store(d_x + r * n + i, scale * (g * weight - v * scale * scale * dot), mask=i < n)
    if tl.program_id(0) == rows:
        tl.store(d_w + i, sums, mask=i < n)


@triton.jit
def attention(q, k, v, out, n, scale, H: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    # Causal: keys behind the queries of this block aren't read.
    start = tl.program_id(0) * BM
    head = tl.program_id(1) * n * H
    rows = start + tl.arange(0, BM)
    h = tl.arange(0, H)
    queries = tl.load(q + head + rows[:, None] * H + h[None, :], mask=rows[:, None] < n, other=0.0)
    largest = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, H), tl.float32)
    for j in range(0, tl.minimum(start + BM, n), BN):
        columns = j + tl.arange(0, BN)
        keys = tl.load(k + head + columns[None, :] * H + h[:, None], mask=columns[None, :] < n, other=0.0)
        values = tl.load(v + head + columns[:, None] * H + h[None, :], mask=columns[:, None] < n, other=0.0)
        scores = tl.dot(queries, keys) * scale
        scores = tl.where((columns[None, :] <= rows[:, None]) & (columns[None, :] < n), scores, -1e30)
        now = tl.maximum(largest, tl.max(scores, 1))
        shrink = tl.exp(largest - now)
        p = tl.exp(scores - now[:, None])
        total = total * shrink + tl.sum(p, 1)
        sums = sums * shrink[:, None] + tl.dot(p.to(tl.float16), values)
        largest = now
    result = (sums / total[:, None]).to(tl.float16)
    tl.store(out + head + rows[:, None] * H + h[None, :], result, mask=rows[:, None] < n)


@triton.jit
def int8_linear(x, w, scale, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(x + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        b = tl.load(w + rn[None, :] * K + rk[:, None], mask=(rn[None, :] < N) & (rk[:, None] < K), other=0)
        sums += tl.dot(a, b.to(tl.float16))
    sums *= tl.load(scale + rn, mask=rn < N, other=0.0)[None, :]
    tl.store(out + rm[:, None] * N + rn[None, :], sums, mask=(rm[:, None] < M) & (rn[None, :] < N))


# Rows of widths: a program has a whole row in registers.
WIDTHS = [
    {"when": "N <= 512", "constants": {"D": 512}},
    {"when": "N <= 4096", "constants": {"D": 4096}, "num_warps": 8},
]


def imported():
    """The functions of the wheel. Compiles each kernel for sm_80 and sm_90; needs no GPU."""
    return [
        kc.import_triton(
            rms_norm,
            "(x: f32[R, N], w: f32[N], *, eps: float = 1e-5) -> (y: f32[R, N])",
            args={"n": "N"},
            grid="R",
            configs=WIDTHS,
            grad="rms_norm_backward",
        ),
        kc.import_triton(
            rms_norm_backward,
            "(d_y: f32[R, N], x: f32[R, N], w: f32[N], *, eps: float = 1e-5) -> (d_x: f32[R, N], d_w: f32[N])",
            args={"rows": "R", "n": "N"},
            grid="R + 1",
            configs=WIDTHS,
        ),
        kc.import_triton(
            attention,
            "(q: f16[B, N, 64], k: f16[B, N, 64], v: f16[B, N, 64]) -> (out: f16[B, N, 64])",
            args={"n": "N", "scale": 0.125},
            grid=["cdiv(N, BM)", "B"],
            constants={"H": 64, "BM": 64, "BN": 32},
        ),
        kc.import_triton(
            int8_linear,
            "(x: f16[M, K], w: i8[N, K], scale: f32[N]) -> (out: f32[M, N])",
            grid=["cdiv(M, BM)", "cdiv(N, BN)"],
            constants={"BN": 64, "BK": 32},
            configs=[{"when": "M <= 16", "constants": {"BM": 16}}, {"constants": {"BM": 64}}],
        ),
    ]
