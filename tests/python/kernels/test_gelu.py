import numpy as np
import pytest
import reference
import torch
from arrays import assert_close

KINDS = ("none", "tanh")


def expected(x, kind):
    with np.errstate(over="ignore", invalid="ignore"):
        return reference.gelu(x, kind)


def every_value(dtype):
    """All finite values of a 16-bit type, as a torch tensor."""
    x = torch.arange(-(2**15), 2**15, dtype=torch.int16).view(dtype)
    return x[torch.isfinite(x)].contiguous()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_every_16_bit_value(k, dtype, kind):
    x = every_value(dtype)
    out = k.gelu(x, approximate=kind).double().numpy()
    exact = expected(x.double().numpy().clip(-1e4, None), kind)
    resolution = 2.0**-8 if dtype == torch.bfloat16 else 2.0**-11
    np.testing.assert_allclose(out, exact, rtol=1.2 * resolution, atol=1e-5)


def float_samples():
    bits = np.arange(0, 2**32, 20011, dtype=np.uint64).astype(np.uint32)
    x = bits.view(np.float32)
    return x[np.isfinite(x) & (np.abs(x) < 1e30)]


@pytest.mark.parametrize("kind", KINDS)
def test_floats_of_every_exponent(k, kind):
    """8 ulp from -1 up; below, an absolute error under 1.2e-7."""
    x = float_samples()
    out = k.gelu(x, approximate=kind)
    exact = expected(x.astype(np.float64), kind)
    error = np.abs(out - exact)
    ulp = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
    assert (error / ulp)[x >= -1].max() <= 8
    assert error[x < -1].max() < 1.2e-7


@pytest.mark.parametrize("kind", KINDS)
def test_special_values(k, kind):
    x = np.array([0, -0.0, np.inf, -np.inf, np.nan, -100, 100], np.float32)
    out = k.gelu(x, approximate=kind)
    np.testing.assert_array_equal(out, np.array([0, 0, np.inf, 0, np.nan, 0, 100], np.float32))


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 1023, 1025, 70001])
def test_agrees_with_the_reference_at_every_size(k, size):
    x = np.random.default_rng(size).normal(size=size).astype(np.float32)
    assert_close(k.gelu(x), reference.gelu(x.astype(np.float64)) if size else np.zeros(0), "f32")


def test_an_unknown_form_is_refused(k):
    with pytest.raises(ValueError, match="approximate"):
        k.gelu(np.zeros(3, np.float32), approximate="sigmoid")


def test_exp_within_3_ulp(k):
    """exp through softmax([0, x]): the quotient of its two results, each rounded once more."""
    x = -np.linspace(0, 86, 400_001, dtype=np.float32)
    out = k.softmax(np.stack([np.zeros_like(x), x], -1)).astype(np.float64)
    exact = np.exp(x.astype(np.float64))
    error = np.abs(out[:, 1] / out[:, 0] - exact) / np.spacing(exact.astype(np.float32))
    assert error.max() <= 5
