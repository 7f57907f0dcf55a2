import numpy as np
import pytest
import reference
from arrays import DTYPES, assert_close, get_values, make

SHAPES = [(1, 384), (7, 37), (2, 3, 5), (1,), (3, 1), (2, 4099), (300, 384)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_layer_norm(k, shape, dtype):
    rng = np.random.default_rng(1)
    x, x64 = make(rng.normal(2, 3, shape), dtype)
    weight, weight64 = make(rng.normal(size=shape[-1]), dtype)
    bias, bias64 = make(rng.normal(size=shape[-1]), dtype)
    assert_close(k.layer_norm(x, weight, bias), reference.layer_norm(x64, weight64, bias64), dtype)
    assert_close(k.layer_norm(x, weight, eps=0.5), reference.layer_norm(x64, weight64, eps=0.5), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rms_norm(k, shape, dtype):
    rng = np.random.default_rng(2)
    x, x64 = make(rng.normal(size=shape), dtype)
    weight, weight64 = make(rng.normal(size=shape[-1]), dtype)
    assert_close(k.rms_norm(x, weight), reference.rms_norm(x64, weight64), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_l2_normalize(k, dtype):
    x, x64 = make(np.random.default_rng(3).normal(size=(9, 77)), dtype)
    assert_close(k.l2_normalize(x), reference.l2_normalize(x64), dtype)
    assert not get_values(k.l2_normalize(x * 0)).any()


def test_layer_norm_far_from_zero(k):
    """The pivot is the first value; neither an outlier there nor a large mean may cost digits."""
    rng = np.random.default_rng(4)
    x = (rng.normal(size=(8, 1000)) + 1e4).astype(np.float32)
    x[:, 0] = 2e4
    ones = np.ones(1000, np.float32)
    expected = reference.layer_norm(x.astype(np.float64), 1.0)
    np.testing.assert_allclose(k.layer_norm(x, ones), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mean", [1e2, 1e4, 1e6])
def test_the_mean_of_a_row_far_from_zero_has_more_digits_than_an_element(k, mean):
    x = (np.random.default_rng(8).normal(size=(4, 1000)) + mean).astype(np.float32)
    ones = np.ones(1000, np.float32)
    expected = reference.layer_norm(x.astype(np.float64), 1.0)
    np.testing.assert_allclose(k.layer_norm(x, ones), expected, atol=2e-6)
    channels = np.ones(4, np.float32)
    in_groups = k.group_norm(x.reshape(1, 4, 1000), channels, channels * 0, groups=4)
    np.testing.assert_allclose(in_groups.reshape(4, 1000), expected, atol=2e-6)


def test_squares_that_overflow_a_float(k):
    for scale in (1e30, 1e-30):
        x = (np.random.default_rng(5).normal(size=(3, 50)) * scale).astype(np.float32)
        assert_close(k.l2_normalize(x, eps=0.0), reference.l2_normalize(x.astype(np.float64), 0.0), "f32")
    x = np.full((1, 64), 1e30, np.float32)
    assert_close(k.rms_norm(x, np.ones(64, np.float32)), np.ones((1, 64)), "f32")


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0), (2, 0, 3)], ids=str)
def test_no_elements(k, shape):
    x, ones = np.zeros(shape, np.float32), np.ones(shape[-1], np.float32)
    for out in (k.layer_norm(x, ones), k.rms_norm(x, ones), k.l2_normalize(x), k.softmax(x), k.gelu(x)):
        assert out.shape == shape


def test_nan_spoils_its_own_row_only(k):
    x = np.random.default_rng(6).normal(size=(4, 33)).astype(np.float32)
    x[1, 20] = np.nan
    ones = np.ones(33, np.float32)
    for out in (k.layer_norm(x, ones), k.rms_norm(x, ones), k.l2_normalize(x), k.softmax(x)):
        assert np.isnan(out).all(axis=-1).tolist() == [False, True, False, False]
        assert not np.isnan(out[[0, 2, 3]]).any()
