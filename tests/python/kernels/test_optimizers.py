"""adamw, lion, sgd and clip_grad_norm against float64, over several steps and tensors."""

import numpy as np
import pytest
import torch

SIZES = (5, 0, 1, 40000, 16384)
TOLERANCE = {torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def tensors(dtype=torch.float32, seed=0, sizes=SIZES):
    torch.manual_seed(seed)
    return [torch.randn(n).to(dtype) for n in sizes]


def zeros(sizes=SIZES):
    return [torch.zeros(n) for n in sizes]


def close(found, expected, tolerance):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.double(), b, rtol=tolerance, atol=tolerance)


def with_torch(optimizer, params, steps, **options):
    """The result of PyTorch's optimizer on float64 copies."""
    leaves = [p.double().requires_grad_() for p in params]
    made = optimizer(leaves, **options)
    for grads in steps:
        for leaf, grad in zip(leaves, grads, strict=True):
            leaf.grad = grad.double()
        made.step()
    return [leaf.detach() for leaf in leaves]


@pytest.mark.parametrize("dtype", list(TOLERANCE), ids=str)
@pytest.mark.parametrize("options", [{}, {"weight_decay": 0.3, "eps": 1e-3, "beta1": 0.5, "beta2": 0.8}], ids=str)
def test_adamw_steps_as_torch_does(k, dtype, options):
    params, steps = tensors(dtype), [tensors(dtype, seed) for seed in (1, 2, 3)]
    betas = {"betas": (options.get("beta1", 0.9), options.get("beta2", 0.999))}
    theirs = {name: v for name, v in options.items() if not name.startswith("beta")}
    expected = with_torch(torch.optim.AdamW, params, steps, lr=0.02, **betas, **theirs)
    mean, square = zeros(), zeros()
    for n, grads in enumerate(steps):
        k.adamw(params, grads, mean, square, n + 1, 0.02, **options)
    close(params, expected, TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", list(TOLERANCE), ids=str)
@pytest.mark.parametrize("nesterov", [False, True])
def test_sgd_steps_as_torch_does(k, dtype, nesterov):
    params, steps = tensors(dtype), [tensors(dtype, seed) for seed in (1, 2, 3)]
    options = {"momentum": 0.9, "weight_decay": 0.1, "nesterov": nesterov}
    expected, momenta = with_torch(torch.optim.SGD, params, steps, lr=0.02, **options), zeros()
    for grads in steps:
        k.sgd(params, grads, momenta, 0.02, **options)
    close(params, expected, TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", list(TOLERANCE), ids=str)
def test_lion_steps_as_its_formula(k, dtype):
    params, steps = tensors(dtype), [tensors(dtype, seed) for seed in (1, 2, 3)]
    expected, mean = [p.double() for p in params], [m.double() for m in zeros()]
    found, certain = zeros(), [torch.ones(n, dtype=torch.bool) for n in SIZES]
    for grads in steps:
        k.lion(params, grads, found, 0.02, beta1=0.8, beta2=0.95, weight_decay=0.1)
        for p, m, g, c in zip(expected, mean, grads, certain, strict=True):
            direction = 0.8 * m + 0.2 * g.double()
            c &= direction.abs() > 1e-6  # nearer to zero its sign is a matter of rounding
            p.mul_(1 - 0.02 * 0.1).sub_(0.02 * torch.sign(direction))
            m.mul_(0.95).add_(g.double(), alpha=0.05)
    close(found, mean, 2e-6)
    assert sum((~c).sum() for c in certain) < 100
    close(
        [p[c] for p, c in zip(params, certain, strict=True)],
        [p[c] for p, c in zip(expected, certain, strict=True)],
        TOLERANCE[dtype],
    )
    zero = [torch.ones(3)]
    k.lion(zero, [torch.zeros(3)], [torch.zeros(3)], 0.1)
    assert (zero[0] == 1).all()  # no direction, no step


@pytest.mark.parametrize("dtype", list(TOLERANCE), ids=str)
@pytest.mark.parametrize("max_norm", [0.5, 1e6, 0.0])
def test_clip_grad_norm(k, dtype, max_norm):
    grads = tensors(dtype)
    wide = [g.double() for g in grads]
    length = torch.cat(wide).norm().item()
    norm = k.clip_grad_norm(grads, max_norm=max_norm)
    assert norm.item() == pytest.approx(length, rel=1e-6)
    factor = min(1.0, max_norm / (length + 1e-6))
    for a, b in zip(grads, wide, strict=True):
        np.testing.assert_allclose(a.double(), b * factor, rtol=1e-2 if dtype != torch.float32 else 1e-6, atol=1e-7)


def test_what_is_not_finite(k):
    grads = [torch.tensor([1.0, torch.nan]), torch.tensor([2.0])]
    assert k.clip_grad_norm(grads, max_norm=1.0).isnan()
    assert all(g.isnan().all() for g in grads)  # as torch's clip_grad_norm_ does
    params, mean, square = [torch.ones(2)], [torch.zeros(2)], [torch.zeros(2)]
    k.adamw(params, [torch.tensor([1.0, torch.nan])], mean, square, 1, 0.1)
    assert params[0][0].isfinite()
    assert params[0][1].isnan()


def test_large_gradients_have_a_length(k):
    assert k.clip_grad_norm([torch.full((4,), 1e18)], max_norm=1e30).item() == pytest.approx(2e18)


def test_numpy_and_jax_have_the_same(k):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    params, grads, mean, square = (
        tensors(sizes=(5, 33)),
        tensors(seed=1, sizes=(5, 33)),
        zeros((5, 33)),
        zeros((5, 33)),
    )
    copies = [[x.numpy().copy() for x in some] for some in (params, grads, mean, square)]
    in_jax = [[jax.numpy.asarray(x) for x in some] for some in copies]
    k.adamw(params, grads, mean, square, 1, 0.02)
    k.adamw(*copies, 1, 0.02)
    step = jax.jit(lambda p, g, m, s, n, lr: k.adamw(p, g, m, s, n, lr))
    found = step(*in_jax, np.int32(1), np.float32(0.02))
    for a, b, c in zip(params, copies[0], found[0], strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


def test_under_torch_compile(k):
    params, grads, mean, square = (tensors(sizes=(5, 33), seed=s) for s in range(4))
    again = [[x.clone() for x in some] for some in (params, grads, [m.abs() for m in mean], [s.abs() for s in square])]
    number = torch.tensor(1, dtype=torch.int32)
    k.adamw(params, grads, [m.abs_() for m in mean], [s.abs_() for s in square], number, torch.tensor(0.02))
    step = torch.compile(lambda *a: k.adamw(*a), fullgraph=True, backend="aot_eager")
    step(*again, number, torch.tensor(0.02))
    for a, b in zip(params, again[0], strict=True):
        assert torch.equal(a, b)


def test_the_same_bits_on_any_number_of_threads(k):
    before, found = torch.get_num_threads(), None
    try:
        for threads in (1, 2, 3, 8):
            torch.set_num_threads(threads)
            params, grads, mean, square = tensors(), tensors(seed=1), zeros(), zeros()
            norm = k.clip_grad_norm(grads, max_norm=3.0)
            k.adamw(params, grads, mean, square, 1, 0.02)
            bits = [x.numpy().tobytes() for x in (norm, *params, *grads, *mean, *square)]
            found = found or bits
            assert bits == found, f"{threads} threads"
    finally:
        torch.set_num_threads(before)


def test_lists_and_numbers_that_do_not_fit_are_refused(k):
    p, g, m, s = ([torch.ones(3), torch.ones(2)] for _ in range(4))
    with pytest.raises(ValueError, match="adamw: grads: expected as many tensors as params has, 2, got 1"):
        k.adamw(p, g[:1], m, s, 1, 0.1)
    with pytest.raises(ValueError, match="adamw: exp_avg: item 1: expected 2 numbers, as item 1 of params has, got 3"):
        k.adamw(p, g, [torch.ones(3), torch.ones(3)], s, 1, 0.1)
    with pytest.raises(ValueError, match="adamw: step: expected the number of this step, from 1 on, got 0"):
        k.adamw(p, g, m, s, 0, 0.1)
    with pytest.raises(ValueError, match="adamw: beta2: expected a number from 0 to below 1, got 1"):
        k.adamw(p, g, m, s, 1, 0.1, beta2=1.0)
    with pytest.raises(ValueError, match="momentum: expected a number from 0 to below 1, got -1"):
        k.sgd(p, g, m, 0.1, momentum=-1.0)
    with pytest.raises(ValueError, match="clip_grad_norm: max_norm: expected a number of at least 0, got -1"):
        k.clip_grad_norm(g, max_norm=-1.0)
    with pytest.raises(ValueError, match="shape"):
        k.adamw([torch.ones(2, 2)], [torch.ones(2, 2)], [torch.ones(2, 2)], [torch.ones(2, 2)], 1, 0.1)
    assert all((x == 1).all() for x in (*p, *g, *m, *s))
    assert np.asarray(k.clip_grad_norm([], max_norm=1.0)) == 0
    assert k.adamw([], [], [], [], 1, 0.1) is None
