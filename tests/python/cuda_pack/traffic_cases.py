"""Run by test_cuda_traffic.py with an emulated device: what kernels move, as it counts, beside what they have to move."""

import kernpack_cuda_emulator
import numpy as np
from arrays import make
from on_device import K, run, to_device
from support.ggml_blocks import random_blocks

RNG = np.random.default_rng(1)
ROWS, WIDTH = 16, 4096


def array(*shape, dtype="bf16"):
    return to_device(make(RNG.normal(size=shape), dtype)[0])


def integers(high, *shape, dtype=np.int64):
    return to_device(RNG.integers(0, high, shape).astype(dtype))


def heads(length, count, size):
    return array(1, length, count, size)


def calls():
    """Of each operation: its name, the function, its tensors, and its options."""
    x, y, w, b = array(ROWS, WIDTH), array(ROWS, WIDTH), array(WIDTH), array(WIDTH)
    eps = {"eps": 1e-6}
    yield "rms_norm", K.rms_norm, (x, w), {}
    yield "rms_norm_backward", K.rms_norm_backward, (y, x, w), eps
    yield "layer_norm", K.layer_norm, (x, w, b), {}
    yield "layer_norm_backward", K.layer_norm_backward, (y, x, w), eps
    yield "add_rms_norm", K.add_rms_norm, (x, y, w), {}
    yield "add_rms_norm_backward", K.add_rms_norm_backward, (y, y, x, w), eps
    yield "softmax", K.softmax, (x,), {}
    yield "softmax_backward", K.softmax_backward, (y, K.softmax(x)), {}
    yield "gelu", K.gelu, (x,), {}
    yield "gelu_backward", K.gelu_backward, (y, x), {"approximate": "none"}
    yield "swiglu", K.swiglu, (x, y), {}
    yield "swiglu_backward", K.swiglu_backward, (x, x, y), {}
    cos, sin = array(1, 32, 64, dtype="f32"), array(1, 32, 64, dtype="f32")
    yield "rope", K.rope, (array(2, 32, 8, 128), cos, sin), {}
    yield "embedding", K.embedding, (array(64, 1024), integers(64, 64)), {}
    yield "embedding_backward", K.embedding_backward, (array(64, 1024), array(64, 1024), integers(64, 64)), {}
    logits, targets = array(8, 32000), integers(32000, 8)
    lse = array(8, dtype="f32")
    yield "cross_entropy", K.cross_entropy, (logits, targets), {}
    smooth = {"ignore_index": -100, "label_smoothing": 0.0, "z_loss": 0.0}
    yield "cross_entropy_backward", K.cross_entropy_backward, (lse, logits, targets, lse), smooth
    x, weight, of_classes = array(256, 512), array(1024, 512), integers(1024, 256)
    of_rows = array(256, dtype="f32")
    yield "fused_linear_cross_entropy", K.fused_linear_cross_entropy, (x, weight, of_classes), {}
    given = (of_rows, x, weight, of_classes, of_rows)
    yield "fused_linear_cross_entropy_backward", K.fused_linear_cross_entropy_backward, given, smooth
    q, k, v = (heads(256, 2, 64) for _ in range(3))
    yield "attention", K.attention, (q, k, v), {}
    context, lse = K.attention(q, k, v), array(1, 2, 256, dtype="f32")
    options = {"scale": None, "causal": False, "window": 0, "soft_cap": 0.0}
    yield "attention_backward", K.attention_backward, (context, q, k, v, context, lse, None), options
    packed = to_device(K.pack_q4_1(random_blocks(RNG, "q4_1", 1024, 1024)))
    yield "packed_linear", K.packed_linear, (array(1, 1024), packed), {}
    yield "packed_linear of 32 rows", K.packed_linear, (array(32, 1024), packed), {}
    yield "argmax", K.argmax, (array(8, 32000, dtype="f32"),), {}
    yield "topk", K.topk, (array(8, 32000, dtype="f32"),), {"k": 8}
    yield "sample", K.sample, (array(8, 32000, dtype="f32"),), {"seed": 1, "top_k": 50, "top_p": 0.9}


# At most, in parts of the bytes of arguments and results: what is touched, and what threads move in sectors, more of which comes
# from the caches; and passes of shared memory in parts of those without conflicts. The weight of a norm is read for every row; its
# gradient is summed in parts of rows; products of matrices read their factors once for each 128 rows or columns; topk and sample read a row a few times; so does packed_linear with x, for each 16 or 32 rows of the weight.
MOST = {
    "rms_norm": (1.0, 1.46, 1.0),
    "rms_norm_backward": (2.29, 3.3, 1.0),
    "layer_norm": (1.0, 1.89, 1.0),
    "layer_norm_backward": (3.52, 5.1, 1.0),
    "add_rms_norm": (1.0, 1.24, 1.0),
    "add_rms_norm_backward": (1.59, 2.4, 1.0),
    "softmax": (1.0, 1.0, 1.0),
    "softmax_backward": (1.0, 1.0, 1.0),
    "gelu": (1.0, 1.0, 0.0),
    "gelu_backward": (1.0, 1.0, 0.0),
    "swiglu": (1.0, 1.0, 0.0),
    "swiglu_backward": (1.0, 1.0, 0.0),
    "rope": (1.0, 1.42, 0.0),
    "embedding": (1.0, 1.03, 0.0),
    "embedding_backward": (0.9, 1.1, 1.0),
    "cross_entropy": (1.01, 1.01, 1.0),
    "cross_entropy_backward": (1.01, 1.01, 0.0),
    "fused_linear_cross_entropy": (1.02, 3.5, 1.21),
    "fused_linear_cross_entropy_backward": (2.11, 7.3, 1.15),
    "attention": (1.01, 1.6, 1.0),
    "attention_backward": (1.9, 3.3, 1.0),
    "packed_linear": (1.0, 1.8, 1.0),
    "packed_linear of 32 rows": (1.0, 4.0, 1.0),
    "argmax": (1.0, 1.001, 1.0),
    "topk": (1.0, 3.1, 1.6),
    "sample": (1.0, 4.3, 1.6),
}


def size(tensors):
    return sum(t.nbytes for t in tensors if t is not None)


def counted(call, arguments, options):
    with kernpack_cuda_emulator.counted() as kernels:
        result = call(*arguments, **options)
    results = result if isinstance(result, (tuple, list)) else (result,)
    least = size((*arguments, *results))
    touched = sum(sum(kernel["touched"].values()) for kernel in kernels)
    sectors = sum(kind["sectors"] for kernel in kernels for kind in kernel["global"].values())
    shared = [kernel["shared"] for kernel in kernels]
    passes = sum(each["passes"] for each in shared) / max(1, sum(each["least"] for each in shared))
    return touched / least, 32 * sectors / least, passes


def traffic():
    left = dict(MOST)
    for name, call, arguments, options in calls():
        found = counted(call, arguments, options)
        assert all(x <= most + 1e-9 for x, most in zip(found, left.pop(name), strict=True)), f"{name} moves {found}"
        yield
    assert left == {}


run({"traffic": traffic})
