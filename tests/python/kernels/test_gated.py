"""swiglu, geglu and the activations of one tensor against float64, with their gradients: one implementation, one test for all."""

import functools

import numpy as np
import pytest
import torch
from arrays import DTYPES, assert_close, make
from reference import gelu, silu
from support.row_activations import ROW_ACTIVATIONS
from test_gradients import check, slope

RNG = np.random.default_rng(0)
ACTIVATIONS = {
    "swiglu": silu,
    "geglu": gelu,
    "geglu tanh": functools.partial(gelu, approximate="tanh"),
    **{name: activation.value for name, activation in ROW_ACTIVATIONS.items()},
}
ENDS = np.array([-np.inf, -1e30, -200, -89, -0.0, 0, 89, 200, 1e18, np.inf, np.nan], np.float32)


def parts(name):
    """The op's name, its keywords, how many arguments it has."""
    op, _, form = name.partition(" ")
    keywords = {"approximate": form or "none"} if op == "geglu" else {}
    return op, keywords, 2 if op.endswith("glu") else 1


def forward(k, name):
    op, keywords, _ = parts(name)
    return functools.partial(getattr(k, op), **keywords)


def backward(k, name, *args):
    op, keywords, _ = parts(name)
    found = getattr(k, f"{op}_backward")(*args, **keywords)
    return found if isinstance(found, tuple) else (found,)


def compute_expected(name, gate, *up):
    return ACTIVATIONS[name](gate) * up[0] if up else ACTIVATIONS[name](gate)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [1, 16, 37])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_values(k, name, dtype, width):
    made = [make(RNG.normal(size=(4, 3, width)) * 3, dtype) for _ in range(parts(name)[2])]
    assert_close(forward(k, name)(*(a for a, _ in made)), compute_expected(name, *(w for _, w in made)), dtype)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_parts_of_a_larger_tensor(k, name):
    both = RNG.normal(size=(5, 3, 64)).astype(np.float32)
    for halves in ((both[..., :32], both[..., 32:]), (both[..., ::2], both[..., 1::2]), (both[:, 1], both[:, 2])):
        given = halves[: parts(name)[2]]
        copies = [np.ascontiguousarray(a) for a in given]
        np.testing.assert_array_equal(forward(k, name)(*given), forward(k, name)(*copies))
        d = RNG.normal(size=copies[0].shape).astype(np.float32)
        for found, expected in zip(backward(k, name, d, *given), backward(k, name, d, *copies), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_ends(k, name):
    """At the infinities it is the limit; a NaN stays in its element."""
    ones = [np.ones_like(ENDS)] * (parts(name)[2] - 1)
    found = forward(k, name)(ENDS, *ones)
    ends = np.maximum(ENDS.astype(np.float64), -700)
    with np.errstate(over="ignore", invalid="ignore"):
        largest = ROW_ACTIVATIONS[name].value(ends) if name in ROW_ACTIVATIONS else np.maximum(ends, 0)
        np.testing.assert_allclose(found, largest.astype(np.float32), rtol=1e-6, atol=1e-36)
    slopes, *d_up = backward(k, name, np.ones_like(ENDS), ENDS, *ones)
    gated = [0, 0, 0, 0, 0.5, 0.5, 1, 1, 1, 1, np.nan]
    with np.errstate(invalid="ignore"):
        expected = ROW_ACTIVATIONS[name].slope(ends) if name in ROW_ACTIVATIONS else gated
    np.testing.assert_allclose(slopes, expected, rtol=1e-6, atol=1e-36)
    for d in d_up:
        np.testing.assert_allclose(d, found, rtol=1e-6, atol=1e-36)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_gradient(k, name):
    x, up, d = (RNG.normal(size=(3, 9)) * 3 for _ in "xud")
    given = (x, up)[: parts(name)[2]]
    found = backward(k, name, d, *given)
    check(found[0], slope(lambda v: compute_expected(name, v, *given[1:]), x, d))
    if len(given) == 2:
        check(found[1], d * ACTIVATIONS[name](x))
    if name in ROW_ACTIVATIONS:
        check(d * ROW_ACTIVATIONS[name].slope(x), found[0])
    single = backward(k, name, *(a.astype(np.float32) for a in (d, *given)))
    for a, b in zip(single, found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_gradients_arrive_in_torch(k, name):
    whole = torch.randn(4, 12, dtype=torch.float64, requires_grad=True)
    count = parts(name)[2]
    assert torch.autograd.gradcheck(lambda x: forward(k, name)(*x.chunk(2, -1)[:count]), (whole,))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_the_same_bits_on_any_number_of_threads(k, name):
    before, found = torch.get_num_threads(), set()
    x = [torch.randn(500, 301)] * parts(name)[2]
    try:
        for threads in (1, 2, 8):
            torch.set_num_threads(threads)
            results = forward(k, name)(*x), *backward(k, name, x[0], *x)
            found.add(b"".join(r.numpy().tobytes() for r in results))
    finally:
        torch.set_num_threads(before)
    assert len(found) == 1


def test_no_elements(k):
    for name in ACTIVATIONS:
        assert forward(k, name)(*[np.zeros((3, 0), np.float32)] * parts(name)[2]).shape == (3, 0)
