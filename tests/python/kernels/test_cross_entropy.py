"""cross_entropy and its gradient against PyTorch's own in float64."""

import numpy as np
import pytest
import torch
from torch.nn import functional

TOLERANCE = {torch.float32: 1e-6, torch.float16: 2e-3, torch.bfloat16: 1e-2}
OPTIONS = (
    {},
    {"label_smoothing": 0.1},
    {"z_loss": 0.01},
    {"label_smoothing": 1.0, "z_loss": 0.5},
    {"ignore_index": 2},
)


def reference(logits, targets, ignore_index=-100, label_smoothing=0.0, z_loss=0.0):
    flat = logits.reshape(-1, logits.shape[-1])
    loss = functional.cross_entropy(
        flat,
        targets.long().reshape(-1),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        reduction="none",
    ).reshape(targets.shape)
    return loss + torch.where(targets != ignore_index, z_loss * torch.logsumexp(logits, -1) ** 2, 0.0)


def inputs(shape, dtype=torch.float32, index=torch.int64):
    torch.manual_seed(0)
    logits = (torch.randn(shape) * 3).to(dtype)
    return logits, torch.randint(shape[-1], shape[:-1], dtype=index), torch.randn(shape[:-1])


def gradient(op, logits, targets, d_loss, **options):
    leaf = logits.detach().requires_grad_()
    loss = op(leaf, targets, **options)
    return loss.detach(), torch.autograd.grad(loss, leaf, d_loss)[0]


def compare(k, logits, targets, d_loss, **options):
    loss, found = gradient(k.cross_entropy, logits, targets, d_loss, **options)
    assert loss.dtype == torch.float32
    expected, slope = gradient(reference, logits.double(), targets, d_loss.double(), **options)
    np.testing.assert_allclose(loss.double(), expected, rtol=2e-6, atol=2e-6)
    scale = max(1.0, slope.abs().max().item()) if slope.numel() else 1.0
    np.testing.assert_allclose(found.double(), slope, rtol=0, atol=TOLERANCE[logits.dtype] * scale)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shape", [(3, 5), (1, 1), (7, 16), (2, 3, 33), (4, 9000), (50, 1000)])
def test_agrees_with_the_reference_at_every_shape(k, shape, options):
    compare(k, *inputs(shape), **options)


@pytest.mark.parametrize("index", [torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("dtype", list(TOLERANCE), ids=str)
def test_agrees_with_the_reference_in_every_dtype(k, dtype, index):
    compare(k, *inputs((5, 130), dtype, index), label_smoothing=0.1, z_loss=0.01)


def test_ignored_rows_have_neither_loss_nor_gradient(k):
    logits, targets, d_loss = inputs((6, 40))
    targets[[1, 4]] = -100
    compare(k, logits, targets, d_loss)
    logits[1] = torch.nan  # not read
    loss, found = gradient(k.cross_entropy, logits, targets, d_loss, label_smoothing=0.1)
    assert not loss[[1, 4]].any()
    assert not found[[1, 4]].any()
    assert loss.isfinite().all()
    assert found.isfinite().all()


def test_empty_inputs_have_gradients_of_their_shape(k):
    for shape in ((0, 5), (3, 0, 5), (0, 0)):
        logits, targets, d_loss = torch.ones(shape), torch.zeros(shape[:-1], dtype=torch.int64), torch.ones(shape[:-1])
        loss, found = gradient(k.cross_entropy, logits, targets, d_loss)
        assert loss.shape == targets.shape
        assert found.shape == shape
    ignored = torch.full((2,), -100)
    assert not k.cross_entropy(torch.ones(2, 0), ignored).any()


def test_shifted_logits_are_read_in_place(k):
    """logits[:, :-1] beside targets[:, 1:], as language models have them; and logits of any strides."""
    logits, targets, _ = inputs((2, 5, 33))
    expected = k.cross_entropy(logits[:, :-1].contiguous(), targets[:, 1:].contiguous())
    assert torch.equal(k.cross_entropy(logits[:, :-1], targets[:, 1:].contiguous()), expected)
    turned = logits.transpose(1, 2).contiguous().transpose(1, 2)
    assert torch.equal(k.cross_entropy(turned, targets), k.cross_entropy(logits, targets))


def test_huge_and_special_logits_agree_with_the_formula(k):
    logits = torch.tensor([[1e30, 0.0, -1e30], [-torch.inf, 1.0, 2.0], [300.0, 300.0, 300.0], [torch.nan, 0.0, 0.0]])
    targets, d_loss = torch.tensor([0, 2, 1, 1]), torch.ones(4)
    loss, found = gradient(k.cross_entropy, logits, targets, d_loss)
    expected, slope = gradient(reference, logits.double(), targets, d_loss.double())
    np.testing.assert_allclose(loss, expected, rtol=1e-6, atol=3e-5)  # 3e-5: an f32 of 300
    np.testing.assert_allclose(found, slope, atol=3e-5)
    assert k.cross_entropy(logits[1:2], torch.tensor([0])).item() == torch.inf  # a class that can't be


def test_wrong_targets_and_options_are_refused(k):
    logits, _, _ = inputs((3, 5))
    for wrong in (5, -1):
        with pytest.raises(
            IndexError,
            match=rf"cross_entropy: targets: element 1 is {wrong}, not one of 5 classes "
            r"\(expected 0 to 4, or ignore_index, -100\)",
        ):
            k.cross_entropy(logits, torch.tensor([0, wrong, 0]))
    zeros = torch.zeros(3, dtype=torch.int64)
    with pytest.raises(ValueError, match=r"cross_entropy: label_smoothing: expected a number from 0 to 1, got 1\.5"):
        k.cross_entropy(logits, zeros, label_smoothing=1.5)
    with pytest.raises(ValueError, match="label_smoothing: expected a number from 0 to 1, got nan"):
        k.cross_entropy(logits, zeros, label_smoothing=float("nan"))
    with pytest.raises(ValueError, match="cross_entropy: z_loss: expected a positive number, or 0 for none, got -1"):
        k.cross_entropy(logits, zeros, z_loss=-1.0)
    with pytest.raises(ValueError, match="targets"):
        k.cross_entropy(logits, zeros[:2])


def test_numpy_and_jax_have_the_same(k):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    logits, targets, d_loss = inputs((6, 40), index=torch.int32)
    loss, expected = gradient(k.cross_entropy, logits, targets, d_loss, label_smoothing=0.1)
    x, t, d = logits.numpy(), targets.numpy(), d_loss.numpy()
    np.testing.assert_array_equal(k.cross_entropy(x, t, label_smoothing=0.1), loss)
    found = jax.jit(jax.grad(lambda a: (k.cross_entropy(a, jax.numpy.asarray(t), label_smoothing=0.1) * d).sum()))(x)
    np.testing.assert_array_equal(found, expected)


def test_the_same_bits_on_any_number_of_threads(k):
    before, found = torch.get_num_threads(), None
    logits, targets, d_loss = inputs((50, 5000))
    try:
        for threads in (1, 2, 3, 8):
            torch.set_num_threads(threads)
            results = gradient(k.cross_entropy, logits, targets, d_loss, label_smoothing=0.1)
            bits = [r.numpy().tobytes() for r in results]
            found = found or bits
            assert bits == found, f"{threads} threads"
    finally:
        torch.set_num_threads(before)
