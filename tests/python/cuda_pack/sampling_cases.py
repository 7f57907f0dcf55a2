"""Run by test_cuda_sampling.py in processes of their own, with an emulated device: what is chosen of rows of logits, as on the CPU."""

import itertools
import re

import numpy as np
import pytest
from arrays import get_values, make
from on_device import K, failed_assertion, only, run, to_device, to_host
from support import distributions

# Widths at the borders of a block of threads, of a digit of a selection, and with ties.
ROWS = ((1, 1), (3, 5), (2, 2, 511), (2, 513), (2, 2049), (1, 5000))


def make_rows(dtype):
    rng = np.random.default_rng(1)
    for shape in ROWS:
        yield make(rng.normal(size=shape) * 3, dtype)[0]
        yield make(rng.integers(-2, 3, shape).astype(float), dtype)[0]  # few values, many of each
    yield make(np.array([[-np.inf] * 3, [1, np.inf, np.inf], [np.nan, 7, np.nan], [-0.0, 0.0, -1.0]]), dtype)[0]


def same(name, found, expected):
    np.testing.assert_array_equal(to_host(found), get_values(expected), err_msg=name)


def argmax(dtype):
    for x in make_rows(dtype):
        same(f"{x.shape}", K.argmax(to_device(x)), K.argmax(x))
        yield


def topk(dtype):
    for x in make_rows(dtype):
        for k in {1, 3, 2048, 2049, x.shape[-1] - 1, x.shape[-1]}:
            if not 0 < k <= x.shape[-1]:
                continue
            found, expected = K.topk(to_device(x), k=k), K.topk(x, k=k)
            same(f"{x.shape} {k}: indices", found[1], expected[1])
            same(f"{x.shape} {k}: values", found[0], expected[0])
            d_values = make(np.random.default_rng(2).normal(size=expected[0].shape), dtype)[0]
            d_x = K.topk_backward(to_device(d_values), to_device(x), found[1], k=k)
            same(f"{x.shape} {k}: d_x", d_x, K.topk_backward(d_values, x, expected[1], k=k))
            yield


def sample(dtype):
    """The token that the CPU draws; where the random number falls between two, each device may round to its own: not seen here."""
    options = itertools.product((0.0, 1e-300, 0.7, 1.5), (0, 1, 4, 1000), (1.0, 0.9, 0.05), (0.0, 0.2))
    for (temperature, top_k, top_p, min_p), x in zip(options, itertools.cycle(list(make_rows(dtype))), strict=False):
        by = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
        for seed, step in ((3, 0), (1 << 40, 1 << 33)):
            same(
                f"{x.shape} {by}",
                K.sample(to_device(x), seed=seed, step=step, **by),
                K.sample(x, seed=seed, step=step, **by),
            )
        yield


def rejection(dtype):
    """A choice of one token only is the CPU's, whichever kernel makes it; others have the probabilities that they should have."""
    with only(f"sample_rejection_{dtype}"):
        for x in make_rows(dtype):
            for by in (
                {"temperature": 0.0},
                {"top_k": 1},
                {"top_p": 1e-9},
                {"min_p": 1.0, "top_k": 1},
                {"temperature": 1e-300, "top_k": 1},
            ):
                same(f"{x.shape} {by}", K.sample(to_device(x), seed=1, **by), K.sample(x, seed=1, **by))
                yield
        for logits, by in distributions.CASES if dtype == "f16" else ():  # half a minute
            distributions.check(lambda x, **by: to_host(K.sample(to_device(x), **by)), *make(logits, dtype), by, 500)
            yield


def no_such_kernel():
    """An error of the variable that chooses a kernel."""
    text = "sample: expected the variable KERNPACK_CUDA_SAMPLE to be 'selection' or 'rejection', got 'fast'"
    with pytest.raises(ValueError, match=re.escape(text)):
        K.sample(to_device(np.zeros((1, 4), np.float32)), seed=1)
    yield


def penalty(dtype):
    rng = np.random.default_rng(4)
    for of_rows, count in itertools.product(((7,), (2, 3, 900)), (0, 1, 6, 600)):
        x, wide = make(rng.normal(size=of_rows) * 3, dtype)
        for of_tokens in (np.int32, np.int64):
            tokens = rng.integers(-2, of_rows[-1], (*of_rows[:-1], count)).astype(of_tokens)
            mine, theirs = to_device(x), make(wide, dtype)[0]
            K.apply_repetition_penalty(mine, to_device(tokens), penalty=1.3)
            K.apply_repetition_penalty(theirs, tokens, penalty=1.3)
            same(f"{of_rows} {count}", mine, theirs)
            yield


def outside():
    """A token that isn't in the row fails by name."""
    x = to_device(np.zeros((1, 4), np.float32))
    K.apply_repetition_penalty(x, to_device(np.array([[4]], np.int32)), penalty=2.0)
    with pytest.raises(RuntimeError, match=failed_assertion("penalized_token_has_a_logit")):
        x.to("cpu")
    yield


run(globals())
