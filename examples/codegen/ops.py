"""MiniLM's layer norm, GELU, masked softmax and pooling, each written once in the IR."""

from kernpack_compiler import ir

LANES = 16


@ir.func("(x: f32[B, S, D], weight: f32[D], bias: f32[D], eps: f32) -> (out: f32[B, S, D])")
def layer_norm(x, weight, bias, eps, out, B, S, D):
    with ir.parallel(B) as b, ir.serial(S) as s:
        mean = ir.let(ir.sum(D, lambda j: x[b, s, j]) / ir.f32(D), "mean")
        variance = ir.let(ir.sum(D, lambda j: (x[b, s, j] - mean) * (x[b, s, j] - mean)) / ir.f32(D), "variance")
        scale = ir.let(1.0 / ir.sqrt(variance + eps), "scale")
        with ir.vectorized(D, lanes=LANES) as j:
            out[b, s, j] = (x[b, s, j] - mean) * scale * weight[j] + bias[j]


@ir.func("(x: f32[B, S, D]) -> (out: f32[B, S, D])")
def gelu(x, out, B, S, D):
    with ir.parallel(B) as b, ir.serial(S) as s, ir.vectorized(D, lanes=LANES) as j:
        value = ir.let(x[b, s, j], "value")
        out[b, s, j] = 0.5 * value * (1.0 + ir.erf(value * 0.7071067811865476))


@ir.func("(x: f32[B, H, Q, N], mask: bool[B, 1, 1, N]) -> (probs: f32[B, H, Q, N])")
def softmax(x, mask, probs, B, H, Q, N):
    """Where the mask is false, 0; a row that is masked whole is 0."""
    with ir.parallel(B) as b:
        scores = ir.alloc("f32", [N], "workspace", "scores")
        with ir.serial(H) as h, ir.serial(Q) as q:
            with ir.vectorized(N, lanes=LANES) as j:
                scores[j] = ir.select(mask[b, 0, 0, j], x[b, h, q, j], -float("inf"))
            top = ir.let(ir.max(ir.reduce("max", N, lambda j: scores[j]), -3.0e38), "top")
            with ir.vectorized(N, lanes=LANES) as j:
                scores[j] = ir.exp(scores[j] - top)
            total = ir.let(ir.sum(N, lambda j: scores[j]), "total")
            inverse = ir.let(ir.select(total > 0.0, 1.0 / total, 0.0), "inverse")
            with ir.vectorized(N, lanes=LANES) as j:
                probs[b, h, q, j] = scores[j] * inverse


@ir.func("(x: f32[B, S, D], mask: i32[B, S]) -> (out: f32[B, D])")
def mean_pool(x, mask, out, B, S, D):
    with ir.parallel(B) as b:
        count = ir.let(ir.sum(S, lambda s: ir.select(mask[b, s] != 0, ir.f32(1.0), 0.0)), "count")
        with ir.vectorized(D, lanes=LANES) as j:
            out[b, j] = 0.0
        with ir.serial(S) as s, ir.when(mask[b, s] != 0), ir.vectorized(D, lanes=LANES) as j:
            out[b, j] = out[b, j] + x[b, s, j] / count


@ir.func("(x: f32[B, D]) -> (out: f32[B, D])")
def l2_normalize(x, out, B, D):
    with ir.parallel(B) as b:
        norm = ir.let(ir.sqrt(ir.sum(D, lambda j: x[b, j] * x[b, j])), "norm")
        with ir.vectorized(D, lanes=LANES) as j:
            out[b, j] = x[b, j] / ir.maximum(norm, 1e-12)


MODULE = ir.IRModule([layer_norm, gelu, softmax, mean_pool, l2_normalize], "minilm_ops")
