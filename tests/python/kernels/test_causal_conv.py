"""causal_conv1d against torch's convolution in float64, its gradient, and sequences that come in pieces."""

import numpy as np
import pytest
import torch
from arrays import assert_close
from torch.nn import functional

TORCH = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16}
# Sequences, rows, channels, taps: fewer rows than taps, borders of vectors and of the gradient's blocks, more rows than it adds up in one go.
SHAPES = ((1, 1, 1, 1), (2, 2, 5, 4), (3, 9, 64, 3), (2, 17, 133, 4), (1, 1100, 7, 2), (2, 6, 70, 7))


def exact(x, weight, bias, state, activation):
    rows = torch.cat([x.new_zeros(len(x), weight.shape[1] - 1, x.shape[2]) if state is None else state, x], 1)
    out = functional.conv1d(rows.transpose(1, 2), weight[:, None], bias, groups=weight.shape[0]).transpose(1, 2)
    return functional.silu(out) if activation == "silu" else out


def inputs(shape, dtype, with_bias=True, with_state=True):
    sequences, rows, channels, taps = shape
    random = torch.Generator().manual_seed(1)

    def leaf(*size):
        return torch.randn(*size, generator=random).to(TORCH[dtype]).requires_grad_()

    x, weight = leaf(sequences, rows, channels), leaf(channels, taps)
    return x, weight, leaf(channels) if with_bias else None, leaf(sequences, taps - 1, channels) if with_state else None


def close(found, expected, dtype):
    assert_close(found.detach(), expected.detach().numpy(), dtype)


@pytest.mark.parametrize("dtype", TORCH)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("activation", ["none", "silu"])
@pytest.mark.parametrize("given", [True, False], ids=["bias and state", "neither"])
def test_rows_and_gradients_are_those_of_a_convolution(k, dtype, shape, activation, given):
    tensors = inputs(shape, dtype, given, given)
    wide = [t if t is None else t.detach().double().requires_grad_() for t in tensors]
    found, expected = k.causal_conv1d(*tensors, activation=activation), exact(*wide, activation)
    close(found, expected, dtype)
    d_out = torch.randn(found.shape, generator=torch.Generator().manual_seed(2)).to(found.dtype)
    mine = torch.autograd.grad(found, [t for t in tensors if t is not None], d_out)
    theirs = torch.autograd.grad(expected, [t for t in wide if t is not None], d_out.double())
    for a, b in zip(mine, theirs, strict=True):
        close(a, b, dtype)


def test_parts_of_wider_rows_and_turned_tensors_are_read_where_they_lie(k):
    weight, bias = torch.randn(8, 4), torch.randn(8)
    wide, turned = torch.randn(2, 5, 24), torch.randn(2, 8, 5)
    for x in (wide[..., 8:16], turned.transpose(1, 2), wide[:, ::2, ::3]):
        expected = exact(x.double(), weight.double(), bias.double(), None, "silu")
        close(k.causal_conv1d(x, weight, bias, activation="silu"), expected, "f32")


@pytest.mark.parametrize("dtype", TORCH)
@pytest.mark.parametrize("piece", [1, 2, 3, 5, 11])
def test_pieces_give_what_the_whole_sequence_gives(k, dtype, piece):
    x, weight, bias, _ = (t.detach() for t in inputs((2, 11, 37, 4), dtype))
    whole = k.causal_conv1d(x, weight, bias, activation="silu")
    state = torch.zeros(2, 3, 37, dtype=x.dtype)
    parts = [k.causal_conv1d_update(part, state, weight, bias, activation="silu") for part in x.split(piece, 1)]
    assert torch.equal(torch.cat(parts, 1), whole)
    assert torch.equal(state, x[:, -3:])


def test_no_rows_leave_the_state_as_it_is(k):
    state, weight = torch.randn(2, 3, 5), torch.randn(5, 4)
    before = state.clone()
    assert k.causal_conv1d_update(torch.zeros(2, 0, 5), state, weight).shape == (2, 0, 5)
    assert torch.equal(state, before)
    x = torch.zeros(0, 4, 5, requires_grad=True)
    (d_weight,) = torch.autograd.grad(k.causal_conv1d(x, weight.requires_grad_()).sum(), weight)
    assert not d_weight.any()


def test_numbers_that_are_none_stay_with_the_rows_that_see_them(k):
    x = np.zeros((6, 2), np.float32)
    x[1, 0] = np.nan
    found = k.causal_conv1d(x, np.ones((2, 3), np.float32))
    np.testing.assert_array_equal(np.isnan(found[:, 0]), [False, True, True, True, False, False])
    assert not found[:, 1].any()


def test_a_state_of_another_length_is_refused(k):
    x, weight = np.ones((2, 5, 3), np.float32), np.ones((3, 4), np.float32)
    with pytest.raises(ValueError, match=r"state: expected .*W - 1"):
        k.causal_conv1d(x, weight, None, np.ones((2, 4, 3), np.float32))
    with pytest.raises(ValueError, match="expected W > 0, got W = 0"):
        k.causal_conv1d(x, np.ones((3, 0), np.float32))


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_the_same_bits_on_any_number_of_threads(k, threads):
    tensors, before = inputs((3, 300, 200, 4), "f32"), torch.get_num_threads()

    def run(count):
        torch.set_num_threads(count)
        out = k.causal_conv1d(*tensors, activation="silu")
        return out, *torch.autograd.grad(out.sum(), tensors)

    try:
        assert all(torch.equal(a, b) for a, b in zip(run(1), run(threads), strict=True))
    finally:
        torch.set_num_threads(before)
