"""Dense products against float64: plain and packed weights, strides, activations, gradients, every border of the panels."""

import ml_dtypes
import numpy as np
import pytest
import torch
from arrays import get_values, make
from reference import gelu

ACTIVATIONS = {
    "none": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "gelu": lambda x: gelu(x).astype(np.float64),
    "gelu_tanh": lambda x: gelu(x, "tanh").astype(np.float64),
}
DTYPES = ("f32", "f16", "bf16")  # f64: tests/python/matrix, by finite differences, and here once
# One rounding of the result, in parts of the size of the sum; f32: that of the sum.
TOLERANCE = {"f32": 5e-6, "f16": 1.2e-3, "bf16": 1e-2, "rounded to bf16": 2e-2}  # the last: x and the weight, too
SHAPES = (
    (1, 1),
    (3, 2),
    (16, 33),
    (64, 64),
    (65, 31),
    (130, 1025),
)  # rows and columns of the weight: panels are 64 by 512
ROWS = (1, 2, 4, 5, 7, 13, 64, 257)  # bands are 256, and up to 4 take another way


def assert_close(found, expected, dtype, x, w):
    size = np.abs(x) @ np.abs(w).T / np.sqrt(max(1, x.shape[-1])) + np.abs(expected)
    error = np.abs(get_values(found) - expected)
    assert (error <= TOLERANCE[dtype] * np.maximum(size, 1e-3)).all(), (error / size).max()


def operands(rows, n, columns, dtype, seed=0):
    rng = np.random.default_rng(seed)
    return make(rng.normal(size=(rows, columns)), dtype), make(rng.normal(size=(n, columns)), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_linear_agrees_with_the_reference_in_every_dtype(k, dtype, shape):
    for rows in ROWS:
        (x, x64), (w, w64) = operands(rows, *shape, dtype)
        assert_close(k.linear(x, w), x64 @ w64.T, dtype, x64, w64)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_f64_is_exact_with_gradients(k, activation):
    rng = np.random.default_rng(0)
    x, w, bias, residual = (rng.normal(size=s) for s in ((3, 20), (7, 20), (7,), (3, 7)))
    expected = ACTIVATIONS[activation](x @ w.T + bias) + residual
    np.testing.assert_allclose(k.linear(x, w, bias, residual, activation=activation), expected, rtol=1e-12, atol=1e-12)
    tensors = [torch.tensor(a, requires_grad=True) for a in (x, w, bias, residual)]
    assert torch.autograd.gradcheck(lambda *a: k.linear(*a, activation=activation), tensors)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_packed_weights_give_the_same_product(k, dtype, shape):
    for rows in ROWS:
        (x, x64), (w, w64) = operands(rows, *shape, dtype)
        assert_close(k.packed_linear(x, k.pack_linear(w)), x64 @ w64.T, dtype, x64, w64)


@pytest.mark.parametrize("weight", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_of_another_dtype(k, dtype, weight):
    as_torch = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
    torch.manual_seed(0)
    x, w = torch.randn(6, 90).to(as_torch[dtype]), torch.randn(70, 90).to(as_torch[weight])
    packed, x64, w64 = k.pack_linear(w), x.double().numpy(), w.double().numpy()
    assert packed.dtype == w.dtype
    assert_close(k.packed_linear(x, packed), x64 @ w64.T, dtype, x64, w64)
    assert_close(k.packed_linear(x, packed, compute="bf16"), x64 @ w64.T, "rounded to bf16", x64, w64)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [3, 20])
def test_bias_activation_and_residual(k, dtype, activation, rows):
    rng = np.random.default_rng(1)
    (x, x64), (w, w64) = operands(rows, 70, 40, dtype)
    (bias, b64), (residual, r64) = make(rng.normal(size=70), dtype), make(rng.normal(size=(rows, 70)), dtype)
    expected = ACTIVATIONS[activation](x64 @ w64.T + b64) + r64
    for found in (
        k.linear(x, w, bias, residual, activation=activation),
        k.packed_linear(x, k.pack_linear(w), bias, residual, activation=activation),
    ):
        assert_close(found, expected, dtype, x64, w64)


def test_activation_of_quantised_weights(k):
    rng = np.random.default_rng(2)
    values, scales = rng.integers(-8, 8, (40, 64)).astype(np.int8), np.full((40, 1), 0.1, np.float32)
    packed, x = k.pack_int4(values, scales), rng.normal(size=(6, 64)).astype(np.float32)
    product = x.astype(np.float64) @ (values * 0.1).T
    for name, f in ACTIVATIONS.items():
        found = k.packed_linear(x, packed, compute="f32", activation=name)
        np.testing.assert_allclose(found, f(product), atol=1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [2, 30])
def test_strided_weights(k, dtype, rows):
    (x, x64), (w, w64) = operands(rows, 130, 70, dtype)
    transposed = torch.as_tensor(w).t().contiguous()
    found = k.linear(torch.as_tensor(x), transposed.t())
    assert_close(found, x64 @ w64.T, dtype, x64, w64)
    every_second = torch.zeros(260, 140, dtype=transposed.dtype)
    every_second[::2, ::2] = torch.as_tensor(w)
    assert_close(k.linear(torch.as_tensor(x), every_second[::2, ::2]), x64 @ w64.T, dtype, x64, w64)


def test_batch_and_empty(k):
    (x, x64), (w, w64) = operands(6, 20, 8, "f32")
    assert_close(k.linear(x.reshape(2, 3, 8), w).reshape(6, 20), x64 @ w64.T, "f32", x64, w64)
    assert k.linear(x[:0], w).shape == (0, 20)
    assert k.linear(x, w[:0]).shape == (6, 0)
    bias = np.arange(20, dtype=np.float32)
    for rows in (3, 6):
        np.testing.assert_array_equal(k.linear(x[:rows, :0].copy(), w[:, :0].copy(), bias), np.tile(bias, (rows, 1)))
        packed = k.pack_linear(w[:, :0].copy())
        np.testing.assert_array_equal(k.packed_linear(x[:rows, :0].copy(), packed, bias), np.tile(bias, (rows, 1)))


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("shape", [(2, 5, 7), (3, 70, 33), (300, 65, 40)])
def test_gradients_agree_with_those_in_f64(k, activation, shape):
    rows, n, columns = shape
    rng = np.random.default_rng(3)
    given = [rng.normal(size=s) / columns**0.25 for s in ((rows, columns), (n, columns), (n,), (rows, n))]
    d_out = rng.normal(size=(rows, n))
    ours = [torch.tensor(a, dtype=torch.float32, requires_grad=True) for a in given]
    k.linear(*ours, activation=activation).backward(torch.tensor(d_out, dtype=torch.float32))
    theirs = [torch.tensor(a, dtype=torch.float32).double().requires_grad_() for a in given]
    functions = torch.nn.functional
    f = {
        "none": lambda x: x,
        "relu": torch.relu,
        "silu": functions.silu,
        "gelu": functions.gelu,
        "gelu_tanh": lambda x: functions.gelu(x, approximate="tanh"),
    }[activation]
    x, w, bias, residual = theirs
    (f(x @ w.T + bias) + residual).backward(torch.tensor(d_out, dtype=torch.float32).double())
    for name, a, b in zip(("x", "weight", "bias", "residual"), ours, theirs, strict=True):
        size = b.grad.abs().max()
        assert (a.grad.double() - b.grad).abs().max() <= 1e-5 * size, name


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("activation", ["none", "gelu"])
def test_gradients_of_no_rows_and_of_no_columns(k, dtype, activation):
    for rows, n, columns in ((7, 0, 4), (0, 3, 4), (7, 3, 0), (7, 0, 0)):
        torch.full((rows * columns + n * columns + n,), 7.0, dtype=dtype)  # memory that a result may get
        tensors = [
            torch.ones(shape, dtype=dtype, requires_grad=True) for shape in ((rows, columns), (n, columns), (n,))
        ]
        k.linear(*tensors, activation=activation).sum().backward()
        assert (tensors[0].grad == 0).all()
        assert (tensors[1].grad == 0).all()
        if rows == 0:
            assert (tensors[2].grad == 0).all()


def test_gradient_in_bf16(k):
    torch.manual_seed(0)
    x, w = torch.randn(20, 64, dtype=torch.bfloat16), torch.randn(48, 64, dtype=torch.bfloat16)
    d_out = torch.randn(20, 48, dtype=torch.bfloat16)
    a, b = x.clone().requires_grad_(), w.clone().requires_grad_()
    k.linear(a, b).backward(d_out)
    for found, expected in ((a.grad, d_out.double() @ w.double()), (b.grad, d_out.double().T @ x.double())):
        assert found.dtype == torch.bfloat16
        assert (found.double() - expected).abs().max() <= 1e-2 * expected.abs().max()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_stays_in_its_row(k, bad):
    (x, _), (w, _) = operands(7, 40, 31, "f32")
    for call in (lambda a: k.linear(a, w), lambda a: k.packed_linear(a, k.pack_linear(w))):
        clean = call(x)
        dirty = x.copy()
        dirty[3, 30] = bad
        found = call(dirty)
        assert not np.isfinite(found[3]).any()
        np.testing.assert_array_equal(np.delete(found, 3, 0), np.delete(clean, 3, 0))


def test_the_same_bits_on_any_number_of_threads(k):
    before, found = torch.get_num_threads(), {}
    try:
        for threads in (1, 2, 3, 4):
            torch.set_num_threads(threads)
            for dtype in (torch.float32, torch.bfloat16):
                for rows in (1, 5, 300):
                    generator = torch.Generator().manual_seed(rows)
                    x, w = (torch.randn(n, 576, generator=generator).to(dtype) for n in (rows, 1000))
                    for name, out in (("plain", k.linear(x, w)), ("packed", k.packed_linear(x, k.pack_linear(w)))):
                        bits = out.float().numpy().tobytes()
                        assert bits == found.setdefault((dtype, rows, name), bits), f"{name}, {rows}, {threads} threads"
    finally:
        torch.set_num_threads(before)


def test_a_row_does_not_depend_on_the_others(k):
    """Of any number of rows from five on, plain; of any, packed."""
    (x, _), (w, _) = operands(300, 100, 640, "f32")
    packed = k.pack_linear(w)
    plain, whole = k.linear(x, w), k.packed_linear(x, packed)
    np.testing.assert_array_equal(plain, whole)
    for rows in (5, 6, 11, 257):
        np.testing.assert_array_equal(k.linear(x[:rows].copy(), w), plain[:rows])
    for rows in (1, 2, 4, 5):
        np.testing.assert_array_equal(k.packed_linear(x[:rows].copy(), packed), whole[:rows])


def test_a_packed_tensor_can_be_saved(k, tmp_path):
    (x, _), (w, _) = operands(2, 20, 30, "f32")
    np.save(tmp_path / "w.npy", k.pack_linear(w))
    np.testing.assert_array_equal(k.packed_linear(x, np.load(tmp_path / "w.npy")), k.packed_linear(x, k.pack_linear(w)))
    half = w.astype(ml_dtypes.bfloat16)
    assert k.pack_linear(half).dtype == half.dtype


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (20, 30), (131, 7), (64, 0)])
def test_rows_of_a_packed_weight_are_those_of_the_weight(k, dtype, rows, columns):
    w, w64 = make(np.random.default_rng(5).normal(size=(rows, columns)), dtype)
    indices = np.arange(rows)[::-1].copy()
    found = k.packed_embedding(k.pack_linear(w), indices, columns=columns)
    assert str(found.dtype).endswith("float32")
    np.testing.assert_array_equal(get_values(found), w64[indices])


def damaged(packed, at, value):
    copy = packed.copy()
    copy.reshape(-1).view(np.uint8)[at : at + len(value)] = np.frombuffer(value, np.uint8)
    return copy


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: damaged(p, 0, b"x"), "expected a tensor that pack_linear has made, got one that has no such header"),
        (lambda p: damaged(p, 8, b"\2"), "expected version 1 of the packed layout, got version 2"),
        (lambda p: damaged(p, 12, b"\x63"), "pack_linear has made of f32, got one of another dtype"),
        (lambda p: p[:-1].copy(), "its header says 20 rows, its shape 19: a packed tensor can't be cut or reshaped"),
        (lambda p: p[:, :40].copy(), "bytes don't hold: the tensor is damaged"),
        (lambda p: damaged(p, 24, b"\xff" * 8), "its header says -1 columns"),
        (lambda p: damaged(p, 24, b"\xfe" + b"\xff" * 6 + b"\x7f"), "the tensor is damaged"),
        (lambda p: p[:1, :10].copy(), "got 40 bytes, less than their header"),
        (lambda p: p.astype(np.float16), "expected a tensor that pack_linear has made"),
    ],
)
def test_damaged_packed_weights_are_refused(k, change, message):
    (x, _), (w, _) = operands(1, 20, 30, "f32")
    with np.errstate(all="ignore"):
        packed = change(k.pack_linear(w))
    with pytest.raises(ValueError, match=message):
        k.packed_linear(x, packed)
    with pytest.raises(ValueError, match=message):
        k.packed_embedding(packed, np.zeros(1, np.int32), columns=30)


def test_other_mistakes(k):
    (x, _), (w, _) = operands(1, 20, 30, "f32")
    packed = k.pack_linear(w)
    with pytest.raises(ValueError, match='compute: expected "auto", "bf16" or "f32" for a weight of pack_linear'):
        k.packed_linear(x, packed, compute="i8")
    with pytest.raises(ValueError, match="x: expected a last dimension of 30, the columns of the weight, got 29"):
        k.packed_linear(x[:, :29].copy(), packed)
    with pytest.raises(
        ValueError, match=r"linear: weight: expected shape \[N, K\] with K = 29 \(bound by x\), got \[20, 30\]"
    ):
        k.linear(x[:, :29].copy(), w)
    with pytest.raises(ValueError, match="activation"):
        k.linear(x, w, activation="tanh")
