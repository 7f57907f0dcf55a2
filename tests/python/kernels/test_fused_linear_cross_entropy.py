"""fused_linear_cross_entropy against PyTorch's linear and cross_entropy in float64."""

import numpy as np
import pytest
import torch
from test_cross_entropy import OPTIONS, reference

TOLERANCE = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}
# tokens, width, classes: blocks are 64 tokens by 120 classes, 192 steps deep.
SHAPES = ((1, 1, 1), (3, 5, 7), (64, 16, 120), (65, 200, 121), (130, 33, 1000))


def inputs(shape, dtype=torch.float32, index=torch.int64):
    """x, weight, targets and the gradient that arrives."""
    tokens, width, classes = shape
    torch.manual_seed(0)
    x, weight = torch.randn(tokens, width), torch.randn(classes, width) * (2 / max(width, 1) ** 0.5)
    targets = torch.randint(classes, (tokens,), dtype=index)
    return x.to(dtype), weight.to(dtype), targets, torch.randn(tokens)


def gradients(op, x, weight, targets, d_loss, **options):
    leaves = [x.detach().requires_grad_(), weight.detach().requires_grad_()]
    loss = op(*leaves, targets, **options)
    return loss.detach(), *torch.autograd.grad(loss, leaves, d_loss)


def in_torch(x, weight, targets, **options):
    return reference(x @ weight.T, targets, **options)


def compare(k, x, weight, targets, d_loss, **options):
    found = gradients(k.fused_linear_cross_entropy, x, weight, targets, d_loss, **options)
    expected = gradients(in_torch, x.double(), weight.double(), targets, d_loss.double(), **options)
    np.testing.assert_allclose(found[0].double(), expected[0], rtol=1e-5, atol=1e-5)
    for a, b in zip(found[1:], expected[1:], strict=True):
        scale = max(1.0, b.abs().max().item())
        np.testing.assert_allclose(a.double(), b, rtol=0, atol=TOLERANCE[x.dtype] * scale)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_the_reference_at_every_shape(k, shape, options):
    compare(k, *inputs(shape), **options)


@pytest.mark.parametrize("index", [torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("dtype", list(TOLERANCE), ids=str)
def test_agrees_with_the_reference_in_every_dtype(k, dtype, index):
    compare(k, *inputs((70, 40, 250), dtype, index), label_smoothing=0.1, z_loss=0.01)


def test_rows_without_a_target_are_not_read(k):
    x, weight, targets, d_loss = inputs((150, 20, 300))
    targets[::3] = -100
    compare(k, x, weight, targets, d_loss)
    clean = gradients(k.fused_linear_cross_entropy, x, weight, targets, d_loss)
    x[::3] = torch.nan
    found = gradients(k.fused_linear_cross_entropy, x, weight, targets, d_loss)
    for a, b in zip(found, clean, strict=True):
        assert torch.equal(a, b)
    assert not found[0][::3].any()
    assert not found[1][::3].any()


def test_empty_inputs_have_gradients_of_their_shape(k):
    for shape in ((0, 5, 7), (3, 0, 7), (0, 0, 0)):
        x, weight, _, d_loss = *inputs((shape[0], shape[1], max(shape[2], 1)))[:3], torch.ones(shape[0])
        targets = torch.zeros(shape[0], dtype=torch.int64)
        loss, d_x, d_weight = gradients(k.fused_linear_cross_entropy, x, weight, targets, d_loss)
        np.testing.assert_allclose(loss, np.full(shape[0], np.log(weight.shape[0])), rtol=1e-6)
        assert d_x.shape == x.shape
        assert d_weight.shape == weight.shape
        assert not d_weight.any()
    x, weight, targets, d_loss = inputs((5, 8, 9))
    targets[:] = -100
    assert not any(r.any() for r in gradients(k.fused_linear_cross_entropy, x, weight, targets, d_loss))


def test_large_logits_do_not_overflow(k):
    x, weight, targets, d_loss = inputs((5, 8, 300))
    compare(k, x * 300, weight, targets, d_loss)


def test_a_nan_stays_in_its_row(k):
    x, weight, targets, d_loss = inputs((70, 8, 300))
    clean = gradients(k.fused_linear_cross_entropy, x, weight, targets, d_loss)
    x[66, 3] = torch.nan
    loss, d_x, _ = gradients(k.fused_linear_cross_entropy, x, weight, targets, d_loss)
    assert loss[66].isnan()
    assert d_x[66].isnan().all()
    loss[66], d_x[66] = clean[0][66], clean[1][66]
    assert torch.equal(loss, clean[0])
    assert torch.equal(d_x, clean[1])


def test_batches_numpy_and_jax_have_the_same(k):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    x, weight, targets, d_loss = inputs((70, 20, 300), index=torch.int32)
    expected = gradients(k.fused_linear_cross_entropy, x, weight, targets, d_loss)
    batches = gradients(
        k.fused_linear_cross_entropy, x.reshape(7, 10, 20), weight, targets.reshape(7, 10), d_loss.reshape(7, 10)
    )
    for a, b in zip(batches, expected, strict=True):
        assert torch.equal(a.reshape(b.shape), b)
    a, w, t, d = (v.numpy() for v in (x, weight, targets, d_loss))
    np.testing.assert_array_equal(k.fused_linear_cross_entropy(a, w, t), expected[0])
    run = jax.jit(jax.grad(lambda x, w: (k.fused_linear_cross_entropy(x, w, jax.numpy.asarray(t)) * d).sum(), (0, 1)))
    for found, b in zip(run(a, w), expected[1:], strict=True):
        np.testing.assert_array_equal(found, b)


def test_the_same_bits_on_any_number_of_threads(k):
    before, found = torch.get_num_threads(), None
    given = inputs((130, 48, 2500))
    try:
        for threads in (1, 2, 3, 8):
            torch.set_num_threads(threads)
            results = gradients(k.fused_linear_cross_entropy, *given, label_smoothing=0.1)
            bits = [r.numpy().tobytes() for r in results]
            found = found or bits
            assert bits == found, f"{threads} threads"
    finally:
        torch.set_num_threads(before)


def test_no_memory_for_logits(k):
    """512 tokens beside 65,536 classes: their logits would be 128 MiB."""
    resource = pytest.importorskip("resource", reason="Windows has no getrusage()")

    x, weight, targets, d_loss = inputs((512, 8, 1 << 16))
    gradients(k.fused_linear_cross_entropy, x[:1], weight, targets[:1], d_loss[:1])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    gradients(k.fused_linear_cross_entropy, x, weight, targets, d_loss)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 24 << 10  # KiB


def test_wrong_targets_and_options_are_refused(k):
    x, weight, targets, _ = inputs((3, 5, 7))
    with pytest.raises(IndexError, match="fused_linear_cross_entropy: targets: element 1 is 7, not one of 7 classes"):
        k.fused_linear_cross_entropy(x, weight, torch.tensor([0, 7, 0]))
    with pytest.raises(ValueError, match="label_smoothing: expected a number from 0 to 1, got -1"):
        k.fused_linear_cross_entropy(x, weight, targets, label_smoothing=-1.0)
    with pytest.raises(ValueError, match=r"weight: expected shape \[V, D\] with D = 5"):
        k.fused_linear_cross_entropy(x, weight[:, :4].contiguous(), targets)
