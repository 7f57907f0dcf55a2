"""softmax's additive mask is trained as torch's own is: T5's and Swin's position biases are such masks."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

SHAPES = [(2, 3, 4, 5), (1, 3, 4, 5), (2, 1, 1, 5), (1, 1, 4, 5), (1, 1, 1, 5)]


def close(found, expected, **tolerance):
    torch.testing.assert_close(found, expected, **tolerance)


def inputs(shape, dtype=torch.float64, mask_dtype=None, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(2, 3, 4, 5, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()
    mask = torch.randn(shape, generator=generator, dtype=torch.float64).to(mask_dtype or dtype).requires_grad_()
    return x, mask, torch.randn(2, 3, 4, 5, generator=generator, dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients_of_added_masks_agree_with_torch(k, shape):
    x, mask, d = inputs(shape)
    found = torch.autograd.grad((k.softmax(x, mask) * d).sum(), (x, mask))
    close(found, torch.autograd.grad((torch.softmax(x + mask, -1) * d).sum(), (x, mask)))
    assert torch.autograd.gradcheck(k.softmax, (x, mask))


@pytest.mark.parametrize("mask_dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_the_gradient_has_the_masks_dtype(k, dtype, mask_dtype):
    x, mask, d = inputs((1, 3, 4, 5), dtype, mask_dtype)
    (found,) = torch.autograd.grad((k.softmax(x, mask) * d).sum(), mask)
    wide = mask.detach().double().requires_grad_()
    (expected,) = torch.autograd.grad((torch.softmax(x.double() + wide, -1) * d.double()).sum(), wide)
    assert found.dtype == mask_dtype
    close(found.double(), expected, rtol=2e-2, atol=1e-5 if torch.float32 == dtype == mask_dtype else 6e-3)


def test_only_the_mask(k):
    """x frozen, as where a bias alone is tuned; and the mask frozen, or boolean, beside an x that is trained."""
    x, mask, d = inputs((1, 3, 4, 5))
    (k.softmax(x.detach(), mask) * d).sum().backward()
    assert x.grad is None
    assert mask.grad is not None
    (k.softmax(x, mask.detach()) * d).sum().backward()
    (k.softmax(x, torch.ones(1, 1, 4, 5, dtype=torch.bool)) * d).sum().backward()
    assert x.grad is not None


def test_minus_infinity_hides_and_gets_no_gradient(k):
    x, mask, d = inputs((1, 1, 4, 5))
    with torch.no_grad():
        mask[..., 3:] = -torch.inf
        mask[0, 0, 1] = -torch.inf  # a row with nothing kept
    found = torch.autograd.grad((k.softmax(x, mask) * d).sum(), (x, mask))
    kept = mask > -torch.inf
    for f, b in zip(found, (kept.expand_as(x), kept), strict=True):
        assert torch.isfinite(f).all()
        assert not f[~b].any()
        assert f[b].any()
    with torch.no_grad():
        mask[0, 0, 1, :3] = 0
    found = torch.autograd.grad((k.softmax(x, mask) * d).sum(), (x, mask))
    close(found, torch.autograd.grad((torch.softmax(x + mask, -1) * d).sum(), (x, mask)))


@pytest.mark.parametrize("shape", SHAPES[:3], ids=str)
def test_second_order(k, shape):
    x, mask, _ = inputs(shape)
    assert torch.autograd.gradgradcheck(k.softmax, (x, mask))


@pytest.mark.parametrize("mapped", [(0, None), (None, 0), (0, 0)], ids=str)
def test_torch_func(k, mapped):
    """Per-sample gradients: each is summed over its own item's rows only."""
    xs, masks, ds = (
        torch.stack(items) for items in zip(*(inputs((1, 3, 1, 5), seed=s) for s in range(2)), strict=True)
    )
    x, mask = (v.detach() if at == 0 else v[0].detach() for v, at in zip((xs, masks), mapped, strict=True))

    def gradients(softmax):
        grad = torch.func.grad(lambda x, m, d: (softmax(x, m) * d).sum(), (0, 1))
        return torch.func.vmap(grad, (*mapped, 0))(x, mask, ds)

    close(gradients(k.softmax), gradients(lambda x, m: torch.softmax(x + m, -1)))


def test_compile_keeps_the_gradient_of_masks(k):
    x, mask, d = inputs((1, 3, 4, 5))
    torch._dynamo.reset()
    run = torch.compile(lambda x, m: (k.softmax(x, m) * d).sum(), fullgraph=True, backend="aot_eager")
    close(torch.autograd.grad(run(x, mask), (x, mask)), torch.autograd.grad((k.softmax(x, mask) * d).sum(), (x, mask)))


def test_a_position_bias_is_learned(k):
    """A few steps of training find the bias that a teacher's rows were made with."""
    generator = torch.Generator().manual_seed(1)
    teacher = torch.randn(1, 2, 6, 6, generator=generator)
    bias = torch.zeros(1, 2, 6, 6, requires_grad=True)
    optimizer = torch.optim.Adam([bias], 0.1)
    for _ in range(60):
        x = torch.randn(8, 2, 6, 6, generator=generator)
        loss = -(torch.softmax(x + teacher, -1) * k.softmax(x, bias).log()).sum(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    close(torch.softmax(bias.detach(), -1), torch.softmax(teacher, -1), rtol=0, atol=0.05)
