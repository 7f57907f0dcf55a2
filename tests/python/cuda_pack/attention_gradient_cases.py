"""Run by test_cuda_gradients.py in processes of their own, with an emulated device: attention's gradient against torch's in float64."""

import kernpack
import numpy as np
import pytest
import torch
from arrays import make
from on_device import K, View, only, run, to_device, to_host

TOLERANCE = {"f32": 5e-6, "f16": 4e-3, "bf16": 3e-2}
# batch, queries, heads, keys, groups, width: blocks are 4 queries or keys, beside 32 of the others; by tensor cores, where a width of
# 16 bits is a multiple of 8 to 128, blocks are 64 rows or keys, beside 64, at widths above 64 beside 32 rows.
BORDERS = (
    (1, 1, 1, 1, 1, 64),
    (2, 5, 4, 9, 2, 20),
    (1, 33, 3, 70, 1, 64),
    (1, 40, 2, 5, 2, 64),  # queries without keys where it is causal
    (2, 3, 2, 35, 1, 130),
    (1, 2, 2, 6, 2, 100),
    (1, 70, 4, 140, 2, 32),
    (1, 100, 2, 130, 1, 128),
    (2, 130, 1, 70, 1, 72),  # with `causal`, the first queries have no keys
)
OPTIONS = ({}, {"causal": True}, {"causal": True, "window": 7}, {"soft_cap": 2.0, "scale": 0.3})


def expected(d, q, k, v, causal=False, window=0, scale=None, soft_cap=0.0, lengths=None, mask=None):
    """context, lse and the gradients of q, k, v and an additive mask, in float64."""
    q, k, v = (torch.tensor(x, requires_grad=True) for x in (q, k, v))
    inputs = [q, k, v]
    shared = q.shape[2] // k.shape[2]
    keys, values = (x.repeat_interleave(shared, 2) for x in (k, v))
    scores = torch.einsum("bshd,blhd->bhsl", q, keys) * (q.shape[3] ** -0.5 if scale is None else scale)
    if soft_cap:
        scores = torch.tanh(scores / soft_cap) * soft_cap
    count = torch.full((q.shape[0],), k.shape[1]) if lengths is None else torch.tensor(lengths)
    count = count.reshape(-1, 1, 1, 1)
    key, query = torch.arange(k.shape[1]), torch.arange(q.shape[1]).reshape(-1, 1)
    last = query + count - q.shape[1] if causal else (count - 1).expand(-1, 1, q.shape[1], 1)
    seen = (key <= last) & (key < count)
    if window:
        seen &= key > last - window
    if mask is not None and mask.dtype == bool:
        seen = seen & torch.tensor(mask)
    elif mask is not None:
        inputs.append(torch.tensor(mask, requires_grad=True))
        scores = scores + inputs[-1]
    scores = torch.where(seen, scores, -torch.inf)
    lse = torch.logsumexp(scores, -1)
    nothing = torch.isinf(lse)
    probs = torch.exp(scores - torch.where(nothing, 0.0, lse)[..., None]).masked_fill(~seen, 0.0)
    context = torch.einsum("bhsl,blhd->bshd", probs, values)
    context.backward(torch.tensor(d))
    return context.detach().numpy(), np.where(nothing, np.inf, lse.detach()), [x.grad.numpy() for x in inputs]


def inputs(shape, dtype, seed=0):
    """d_context, q, k and v on the host, and the float64 values that they hold."""
    b, s, h, n, g, d = shape
    rng = np.random.default_rng(seed)
    sizes = ((b, s, h, d), (b, s, h, d), (b, n, g, d), (b, n, g, d))
    pairs = [make(rng.normal(size=size), dtype) for size in sizes]
    return [p[0] for p in pairs], [p[1] for p in pairs]


def compare(name, op, given, wide, dtype, more, options, **of_reference):
    """Of a call: given has tensors of the device; more: its argument between v and context, or after lse."""
    context, lse, gradients = expected(*wide, **options, **of_reference)
    saved = to_device(make(context, dtype)[0]), to_device(lse.astype(np.float32))
    defaults = {"scale": None, "causal": False, "window": 0, "soft_cap": 0.0, **options}
    found = list(op(*given, *more(saved), **defaults))
    if len(gradients) == 4:
        found.append(K.masked_attention_mask_backward(*given, *more(saved), **defaults))
    for each, one, wanted in zip(("q", "k", "v", "mask"), found, gradients, strict=len(gradients) == 4):
        stored = "f16" if each == "mask" and dtype == "f32" else dtype
        tolerance = TOLERANCE[stored] * max(1, np.abs(wanted).max(initial=0))
        np.testing.assert_allclose(to_host(one), wanted, rtol=0, atol=tolerance, err_msg=f"d_{each} of {name}")


def borders(dtype):
    for shape in BORDERS:
        given, wide = inputs(shape, dtype)
        given = [to_device(x) for x in given]
        for options in OPTIONS:
            name = f"{shape} {options}"
            compare(name, K.attention_backward, given, wide, dtype, lambda saved: (*saved, None), options)
            yield


# For the kernel of sm_90: blocks are 128 keys, in two groups of 64, past which two stages of 64 queries go.
SM90 = (
    (1, 65, 1, 1, 1, 64),
    (2, 70, 4, 129, 2, 64),
    (1, 128, 1, 128, 1, 128),
    (1, 330, 1, 260, 1, 64),  # more tiles than stages, twice around; three blocks add to one tile
    (1, 43, 3, 300, 1, 128),
    (1, 100, 2, 70, 2, 128),  # queries without keys where it is causal
    (2, 66, 2, 260, 2, 80),
    (1, 200, 1, 40, 1, 40),
)


def sm90(dtype):
    """The kernel for sm_90 runs, beside those that begin and end its work."""
    for shape in SM90:
        given, wide = inputs(shape, dtype)
        given = [to_device(x) for x in given]
        ending = f"{dtype}_{64 if shape[5] <= 64 else 128}"
        kernels = (f"attention_delta_{dtype}", f"attention_backward_sm90_{ending}", f"attention_finish_sm90_{ending}")
        for options in ({}, {"causal": True}, {"causal": True, "window": 7}, {"window": 150, "scale": 0.3}):
            with only(*kernels):
                name = f"{shape} {options}"
                compare(name, K.attention_backward, given, wide, dtype, lambda saved: (*saved, None), options)
            yield
    yield from lengths(dtype, queries=40)
    yield from layouts(dtype, positions=70)
    given, wide = inputs(SM90[3], dtype)
    saved = [*map(to_device, given), to_device(given[1]), to_device(np.ones((1, 1, 330), np.float32)), None]
    more = {"scale": None, "causal": False, "window": 0, "soft_cap": 0.0}
    first, again = ([to_host(x) for x in K.attention_backward(*saved, **more)] for _ in range(2))
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other, "the order of sums is always that of the keys")
    yield


def lengths(dtype, queries=3):
    """Keys beyond a length aren't read, they hold NaN here; their gradient is 0."""
    given, wide = inputs((3, queries, 4, 70, 2, 64), dtype)
    for x, held in zip(given[2:], wide[2:], strict=True):
        x[1, 9:] = float("nan")
        held[1, 9:] = 0
    given = [to_device(x) for x in given]
    of_device = to_device(np.array([70, 9, 0], np.int32))
    for causal in (False, True):
        compare(
            f"{causal}",
            K.attention_backward,
            given,
            wide,
            dtype,
            lambda saved: (*saved, of_device),
            {"causal": causal},
            lengths=[70, 9, 0],
        )
        yield


def sinks(dtype):
    """The gradient of sinks, and those of the others, whose weights it makes smaller."""
    for shape in (BORDERS[1], BORDERS[2], BORDERS[6]):
        given, wide = inputs(shape, dtype)
        of_heads = np.random.default_rng(4).normal(size=shape[2]).astype(np.float32)
        sums = torch.tensor(of_heads, dtype=torch.float64, requires_grad=True)
        d, q, k, v = (torch.tensor(x) for x in wide)
        keys, values = (x.repeat_interleave(shape[2] // shape[4], 2) for x in (k, v))
        scores = torch.einsum("bshd,blhd->bhsl", q, keys) * shape[5] ** -0.5
        scores = torch.cat([scores, sums[None, :, None, None].expand(*scores.shape[:3], 1)], -1)
        context = torch.einsum("bhsl,blhd->bshd", torch.softmax(scores, -1)[..., :-1], values)
        context.backward(d)
        saved = to_device(make(context.detach().numpy(), dtype)[0])
        lse = to_device(torch.logsumexp(scores, -1).detach().numpy().astype(np.float32))
        found = to_host(K.attention_sinks_backward(to_device(given[0]), saved, lse, to_device(of_heads)))
        wanted = sums.grad.numpy()
        tolerance = TOLERANCE[dtype] * max(1, np.abs(wanted).max())
        np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance, err_msg=f"d_sinks of {shape}")
        yield


def masks(dtype):
    given, wide = inputs((2, 9, 4, 40, 2, 64), dtype)
    given = [to_device(x) for x in given]
    rng = np.random.default_rng(5)
    for shape in ((2, 4, 9, 40), (1, 1, 9, 40), (2, 1, 1, 40), (1, 4, 1, 40)):
        for mask, held in ((kept := rng.random(shape) < 0.6, kept), make(rng.normal(size=shape), "f16")):
            of_device = to_device(mask)
            for options in ({}, {"causal": True, "soft_cap": 2.0}):
                compare(
                    f"{shape} {held.dtype} {options}",
                    K.masked_attention_backward,
                    given,
                    wide,
                    dtype,
                    lambda saved, m=of_device: (m, *saved),
                    options,
                    mask=held,
                )
                yield


def layouts(dtype, positions=9):
    """q, k and v are views of one tensor."""
    qkv, held = make(np.random.default_rng(1).normal(size=(2, positions, 8, 64)), dtype)
    d, wide = make(np.random.default_rng(2).normal(size=(2, positions, 4, 64)), dtype)
    device, parts, views = to_device(qkv), [], []
    for first, last in ((0, 4), (4, 6), (6, 8)):
        parts.append(np.ascontiguousarray(held[:, :, first:last]))
        views.append(View(device, parts[-1].shape, (positions * 8 * 64, 8 * 64, 64, 1), first * 64, dtype))
    given = [to_device(d), *(kernpack.from_dlpack(v) for v in views)]
    compare("views", K.attention_backward, given, [wide, *parts], dtype, lambda saved: (*saved, None), {"causal": True})
    yield


def empty():
    """No key, no query, no item: zeros of the right shapes."""
    for shape in ((1, 3, 2, 0, 1, 64), (2, 0, 2, 5, 1, 64), (0, 3, 2, 5, 1, 64)):
        given, wide = inputs(shape, "f32")
        given = [to_device(x) for x in given]
        lse = to_device(np.full((shape[0], shape[2], shape[1]), np.inf, np.float32))
        found = K.attention_backward(*given, given[0], lse, None, scale=None, causal=False, window=0, soft_cap=0.0)
        for one, like in zip(found, wide[1:], strict=True):
            np.testing.assert_array_equal(to_host(one), np.zeros_like(like))
        yield


def refusals():
    q = to_device(np.zeros((1, 1, 1, 257), np.float32))
    lse = to_device(np.zeros((1, 1, 1), np.float32))
    with pytest.raises(ValueError, match="q: expected heads of 1 to 256 elements on a CUDA device, got 257"):
        K.attention_backward(q, q, q, q, q, lse, None, scale=None, causal=False, window=0, soft_cap=0.0)
    yield


run(globals())
