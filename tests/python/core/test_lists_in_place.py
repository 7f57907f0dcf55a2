"""A list of tensors that is written in place (`p!: list[...]`), as optimizers over many parameters and caches per layer want."""

from __future__ import annotations

import functools
from typing import Any

import kernpack
import kernpack.torch
import numpy as np
import pytest
import torch
from support.optional import optional
from torch.func import vmap

jax, jnp = optional("jax"), optional("jax.numpy")
SOURCE = r"""
// p -= lr * g, item by item; counts what it wrote.
void sgd(kp::ListView<kp::MutTensorView> p, kp::ListView<kp::TensorView> g, double lr, kp::MutTensorView count) {
  KP_CHECK(p.size() == g.size(), ValueError) << "sgd: expected as many tensors in g as in p";
  int64_t n = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const kp::MutTensorView to = p[i];
    KP_CHECK(g[i].numel() == to.numel(), ValueError) << "sgd: g[" << i << "]: expected the size of p[" << i << "]";
    for (int64_t j = 0; j < to.numel(); ++j, ++n) {
      to.data_ptr<float>()[j] -= static_cast<float>(lr) * g[i].data_ptr<float>()[j];
    }
  }
  *count.data_ptr<int32_t>() = static_cast<int32_t>(n);
}
void add_rows(kp::ListView<kp::MutTensorView> caches, kp::TensorView row) {
  for (const kp::MutTensorView cache : caches) {
    for (int64_t i = 0; i < cache.numel(); ++i) cache.data_ptr<float>()[i] += row.data_ptr<float>()[i % row.numel()];
  }
}
"""
FUNCTIONS = {
    "sgd": "(p!: list[f32[_]], g: list[f32[_]], *, lr: float = 0.5) -> (count: i32[])",
    "add_rows": "(caches!: list[f32[_, D]], row: f32[D]) -> ()",
}


@pytest.fixture(scope="module")
def k() -> Any:
    return kernpack.load_inline(SOURCE, FUNCTIONS, name="lists_in_place")


def _pair(n: int = 3) -> tuple[list[np.ndarray], list[np.ndarray]]:
    return [np.full(4, i, np.float32) for i in range(n)], [np.ones(4, np.float32) for _ in range(n)]


def test_numpy_arrays_are_written(k: Any) -> None:
    p, g = _pair()
    assert k.sgd(p, g) == 12
    np.testing.assert_array_equal(np.stack(p), np.repeat(np.arange(3, dtype=np.float32) - 0.5, 4).reshape(3, 4))


def test_an_empty_list_writes_nothing(k: Any) -> None:
    assert int(k.sgd([], []).numpy()) == 0


def test_a_read_only_item_is_refused_by_its_place(k: Any) -> None:
    p, g = _pair()
    p[1].flags.writeable = False
    with pytest.raises(ValueError, match=r"sgd: p.*read-only"):
        k.sgd(p, g)
    np.testing.assert_array_equal(p[0], np.zeros(4, np.float32))


@pytest.mark.parametrize("count", [2, 100])
def test_items_that_share_memory_are_refused(k: Any, count: int) -> None:
    p, g = _pair(count)
    p[-1] = p[0]
    with pytest.raises(ValueError, match=rf"sgd: p\[(0|{count - 1})\]: expected memory of its own .* overlaps p\["):
        k.sgd(p, g)
    p[-1] = p[0][1:]
    with pytest.raises(ValueError, match=r"expected memory of its own"):
        k.sgd(p, g)
    whole = np.zeros(4 * count + 1, np.float32)
    p = [whole[4 * i : 4 * i + 4] for i in range(count)]
    k.sgd(p, g)
    p[-1] = whole[4 * count - 5 : 4 * count - 1]
    with pytest.raises(ValueError, match=rf"overlaps p\[({count - 1}|{count - 2})\]"):
        k.sgd(p, g)


def test_a_list_that_is_read_may_not_share_memory_with_what_is_written(k: Any) -> None:
    p, g = _pair(40)
    g[7] = p[9]
    with pytest.raises(ValueError, match=r"sgd: p\[9\]: expected memory of its own to write to, .* overlaps g\[7\]"):
        k.sgd(p, g)
    g[7] = g[8]
    assert k.sgd(p, g) == 160, "what is only read may be given twice"


def test_torch_counts_the_writes(k: Any) -> None:
    p = [torch.zeros(4), torch.ones(4)]
    versions = [t._version for t in p]
    k.sgd(p, [torch.ones(4)] * 2, lr=1.0)
    assert [t._version for t in p] == [v + 1 for v in versions]
    torch.testing.assert_close(p[1], torch.zeros(4))


def test_torch_refuses_a_leaf_that_needs_a_gradient(k: Any) -> None:
    with pytest.raises(RuntimeError, match="sgd: an argument requires a gradient"):
        k.sgd([torch.zeros(4, requires_grad=True)], [torch.ones(4)])
    leaf = torch.zeros(4, requires_grad=True)
    with torch.no_grad():
        k.sgd([leaf], [torch.ones(4)])
    torch.testing.assert_close(leaf.detach(), torch.full((4,), -0.5))


def test_torch_operator_and_opcheck(k: Any) -> None:
    ops = getattr(torch.ops, kernpack.torch.ops(k).namespace)
    assert str(ops.sgd.default._schema).endswith("::sgd(Tensor(m0!)[] p, Tensor[] g, *, float lr=0.5) -> Tensor")
    p = [torch.zeros(4), torch.ones(4)]
    assert int(ops.sgd(p, [torch.ones(4)] * 2)) == 8
    torch.testing.assert_close(p[1], torch.full((4,), 0.5))
    torch.library.opcheck(ops.sgd.default, ([torch.zeros(4)], [torch.ones(4)]))


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_compiled_optimizer_step(k: Any, backend: str) -> None:
    @functools.partial(torch.compile, fullgraph=True, backend=backend)
    def step(p: list[torch.Tensor], g: list[torch.Tensor]) -> torch.Tensor:
        scaled = [2 * item for item in g]
        count = k.sgd(p, scaled, lr=0.25)
        return count + sum(item.sum() for item in p)

    p = [torch.zeros(4), torch.ones(4)]
    total = step(p, [torch.ones(4)] * 2)
    torch.testing.assert_close(p[0], torch.full((4,), -0.5))
    torch.testing.assert_close(p[1], torch.full((4,), 0.5))
    assert float(total) == 8


def test_vmap_writes_each_row(k: Any) -> None:
    caches = [torch.zeros(2, 3, 4), torch.ones(2, 1, 4)]
    rows = torch.arange(8.0).reshape(2, 4)
    vmap(lambda cs, row: (k.add_rows(cs, row), row)[1])(caches, rows)
    torch.testing.assert_close(caches[0], rows[:, None].expand(2, 3, 4))
    torch.testing.assert_close(caches[1], 1 + rows[:, None])


def test_jax_gives_the_new_values_as_a_list(k: Any) -> None:
    k_jax = k

    @functools.partial(jax.jit, donate_argnums=0)
    def step(p: list[jax.Array], g: list[jax.Array]) -> Any:
        return k_jax.sgd(p, g, lr=1.0)

    p = [jnp.zeros(4), jnp.ones(4)]
    new, count = step(p, [jnp.ones(4)] * 2)
    assert isinstance(new, list)
    assert len(new) == 2
    assert int(count) == 8
    np.testing.assert_array_equal(new[0], -np.ones(4, np.float32))
    np.testing.assert_array_equal(new[1], np.zeros(4, np.float32))
    only = jax.jit(k.add_rows)([jnp.zeros((2, 4))], jnp.ones(4))
    assert isinstance(only, list)
    assert only[0].shape == (2, 4)


def test_jax_outside_jit_says_that_arrays_never_change(k: Any) -> None:
    with pytest.raises(TypeError, match="sgd: p: is written in place, and JAX arrays are immutable"):
        k.sgd([jnp.zeros(4)], [jnp.ones(4)])


def test_checked_calls_compare_every_item(k: Any) -> None:
    bad = kernpack.load_inline(
        "void f(kp::ListView<kp::MutTensorView> p, kp::TensorView x) { p[0].data_ptr<float>()[0] = 1; "
        "const_cast<float*>(x.data_ptr<float>())[0] = 7; }",
        {"f": "(p!: list[f32[N]], x: f32[N]) -> ()"},
        name="lists_in_place_bad",
    )
    p, x = [np.zeros(4, np.float32), np.zeros(4, np.float32)], np.zeros(4, np.float32)
    with kernpack.checking(), pytest.raises(Exception, match="f: x"):
        bad.f(p, x)
    p, g = _pair()
    with kernpack.checking():
        assert k.sgd(p, g) == 12
    np.testing.assert_array_equal(p[0], np.full(4, -0.5, np.float32))
