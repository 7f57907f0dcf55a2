"""Torch tensors that must never be read as plain memory: an untyped function says why, for each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import kernpack
import pytest
import torch
from kernpack._private import is_private_allowed
from torch.autograd import forward_ad


def _fake() -> torch.Tensor:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.ones(3)


class Subclass(torch.Tensor):
    pass


ROWS: dict[str, tuple[Callable[[], torch.Tensor], str]] = {
    "conj": (lambda: torch.ones(4, dtype=torch.complex64).conj(), r"lazily conjugated; pass x.resolve_conj\(\)"),
    "neg": (lambda: torch.ones(4, dtype=torch.complex64).conj().imag, r"lazily negated; pass x.resolve_neg\(\)"),
    "neg, contiguous": (lambda: torch._neg_view(torch.ones(4)), "lazily negated"),
    "neg, int": (lambda: torch._neg_view(torch.ones(4, dtype=torch.int32)), "lazily negated"),
    "requires grad": (lambda: torch.ones(3, requires_grad=True), r"requires a gradient .* x.detach\(\)"),
    "view of one": (lambda: torch.ones(3, requires_grad=True)[1:], "requires a gradient"),
    "fake": (_fake, "subclass of torch.Tensor"),
    "subclass": (lambda: torch.ones(3).as_subclass(Subclass), "subclass of torch.Tensor"),
    "meta": (lambda: torch.ones(3, device="meta"), "ordinary dense tensor|no memory"),
    "sparse": (lambda: torch.ones(3).to_sparse(), "ordinary dense tensor"),
    "mkldnn": (lambda: torch.ones(3).to_mkldnn(), "ordinary dense tensor"),
    "functionalised": (lambda: torch._to_functional_tensor(torch.ones(3)), "no memory of its own|ordinary tensor"),
    "zero": (lambda: torch._efficientzerotensor(3), "no memory of its own"),
}


HOOKS = ("torch.fields", "torch.watchers", "torch.versions", "torch.results")


@pytest.fixture(params=["hooks", "functions"])
def looked_at(k, request) -> Iterator[str]:
    """Both ways to tell: by the hooks into torch, and by torch's public functions."""
    if request.param == "hooks" and not is_private_allowed("torch.fields"):
        pytest.skip("the public functions alone are used here, on Windows or with KERNPACK_PRIVATE=0")
    k.touch(torch.ones(1))
    before = [kernpack._core.use_torch_hook(hook, None) for hook in HOOKS]
    for hook in HOOKS:
        kernpack._core.use_torch_hook(hook, request.param == "hooks")
    yield request.param
    for hook, on in zip(HOOKS, before, strict=True):
        kernpack._core.use_torch_hook(hook, on)


@pytest.mark.parametrize("row", ROWS)
def test_tensors_that_torch_must_see_are_refused(k, looked_at, row):
    make, why = ROWS[row]
    tensor = make()
    with pytest.raises(TypeError, match=f"touch: argument 0: .*({why})"):
        k.touch(tensor)


def test_tangents_of_forward_mode(k, looked_at):
    with forward_ad.dual_level(), torch.no_grad():
        dual = forward_ad.make_dual(torch.ones(3), torch.ones(3))
        with pytest.raises(TypeError, match="forward-mode tangent"):
            k.touch(dual)
        k.touch(torch.ones(3))
        k.touch(torch.nn.Parameter(torch.ones(3)))
    k.touch(torch.ones(3))


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: torch.vmap(f)(torch.ones(2, 3)),
        lambda f: torch.func.grad(f)(torch.ones(3)),
        lambda f: torch.func.jvp(f, (torch.ones(3),), (torch.ones(3),)),
    ],
    ids=["vmap", "grad", "jvp"],
)
def test_levels_of_torch_func(k, looked_at, transform):
    def touched(x: torch.Tensor) -> torch.Tensor:
        k.touch(x)
        return x.sum()

    with pytest.raises(TypeError, match=r"inside vmap or torch\.func\.grad"):
        transform(touched)


def test_modes_that_torch_must_see_are_refused_and_others_pass(k, looked_at):
    from torch._subclasses.fake_tensor import FakeTensorMode

    x = torch.ones(3)
    with FakeTensorMode(), pytest.raises(TypeError, match="dispatch mode is active"):
        k.touch(x)
    with torch.device("cpu"):
        assert torch.equal(k.scale(x), 2 * x)
    with torch.inference_mode():
        assert torch.equal(k.scale(torch.ones(3)), 2 * x)


def test_writes_are_counted(k, looked_at):
    x = torch.ones(3)
    k.bump(x)
    k.scale(x)
    assert x._version == 1
    k.touch(x)  # without a signature it may have written
    assert x._version == 2
    with torch.inference_mode():
        uncounted = torch.ones(3)
        k.bump(uncounted)
    k.bump(uncounted)
    assert torch.equal(uncounted, torch.full((3,), 3.0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.bool, torch.uint16])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0, 3), (2, 3, 4)])
def test_results_look_like_torchs_own(same, dtype, shape):
    x = torch.zeros(shape, dtype=dtype)
    y = same.like(x)
    assert type(y) is torch.Tensor
    assert (y.shape, y.dtype, y.stride(), y.device) == (x.shape, x.dtype, x.stride(), x.device)
    assert not y.requires_grad
    assert y.is_leaf


@pytest.fixture(scope="module")
def same() -> kernpack.Module:
    source = "void like(kp::TensorView x, kp::MutTensorView out) {}"
    return kernpack.load_inline(source, {"like": "(x: T[*S]) -> (out: T[*S]) where T in any"}, name="torch_results")


def test_results_take_part_in_autograd(k):
    y = k.scale(torch.ones(3)).requires_grad_()
    (y * 2).sum().backward()
    assert torch.equal(y.grad, torch.full((3,), 2.0))
