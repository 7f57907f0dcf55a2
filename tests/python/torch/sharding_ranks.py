"""The program of test_torch_distributed.py in each of four processes: operations of DTensor on parameters written in place, dims called
independent, and tensors passed by keyword."""

from __future__ import annotations

import re
import sys

import kernpack
import pytest
import torch
import torch.distributed as dist
from support.ranks import run_cases
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor, init_device_mesh
from torch.distributed.tensor.debug import CommDebugMode

SOURCE = r"""
void bump(kp::MutTensorView x) {
  for (int64_t i = 0; i < x.numel(); ++i) x.data_ptr<float>()[i] += 1;
}
void append(kp::MutTensorView cache, kp::TensorView key, int64_t slot) {
  const int64_t row = cache.size(1) * cache.size(2);
  for (int64_t i = 0; i < key.numel(); ++i) cache.data_ptr<float>()[slot * row + i] = key.data_ptr<float>()[i];
}
void scaled(kp::TensorView x, double by, kp::TensorView w, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i)
    out.data_ptr<float>()[i] = x.data_ptr<float>()[i] * w.data_ptr<float>()[i % w.numel()] * static_cast<float>(by);
}
void per_head(kp::TensorView x, kp::MutTensorView out) {
  const int64_t heads = x.size(1);
  for (int64_t h = 0; h < heads; ++h) out.data_ptr<float>()[h] = 0;
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i % heads] += x.data_ptr<float>()[i];
}
void cube(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) {
    const float v = x.data_ptr<float>()[i];
    out.data_ptr<float>()[i] = v * v * v;
  }
}
void cube_backward(kp::TensorView d_out, kp::TensorView x, kp::MutTensorView d_x) {
  for (int64_t i = 0; i < x.numel(); ++i) {
    const float v = x.data_ptr<float>()[i];
    d_x.data_ptr<float>()[i] = d_out.data_ptr<float>()[i] * 3 * v * v;
  }
}
KP_GRAD(cube, cube_backward);
"""
FUNCTIONS = {
    "cube": "(x: f32[...]) -> (out: f32[...])",
    "cube_backward": "(d_out: f32[...], x: f32[...]) -> (d_x: f32[...])",
    "bump": "(x!: f32[...]) -> ()",
    "append": "(cache!: f32[P, H, D], key: f32[B, H, D], slot: int) -> () where 0 <= slot, slot + B <= P with independent(H)",
    "scaled": "(x: f32[..., D], *, by: float = 2.0, w: f32[D]) -> (out: f32[..., D])",
    "per_head": "(x: f32[N, H]) -> (out: f32[H]) with independent(H)",
}

k = kernpack.load_inline(SOURCE, FUNCTIONS, name="sharding_tests")
dist.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=int(sys.argv[1]), world_size=4)
mesh = init_device_mesh("cpu", (4,))
square = init_device_mesh("cpu", (2, 2))
torch.manual_seed(0)


def split(tensor: torch.Tensor, *placements, over=mesh) -> DTensor:
    return distribute_tensor(tensor.clone(), over, placements)


def same(found: DTensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found.full_tensor(), expected)


def written_in_place() -> None:
    """The caller's own tensor has the new values, however it is laid out, and autograd is told."""
    x = torch.randn(8, 4)
    for layout in (Shard(0), Shard(1), Replicate()):
        xs = split(x, layout)
        with CommDebugMode() as traffic:
            k.bump(xs)
        assert traffic.get_total_counts() == 0
        assert xs.placements == (layout,)
        assert xs._version == 1
        same(xs, x + 1)
    xs = split(x, Shard(0), Replicate(), over=square)
    k.bump(xs)
    same(xs, x + 1)


def independent_dims_are_split() -> None:
    x = torch.randn(3, 8)
    xs = split(x, Shard(1))
    with CommDebugMode() as traffic:
        out = k.per_head(xs)
    assert traffic.get_total_counts() == 0
    assert out.placements == (Shard(0),)
    same(out, k.per_head(x))
    same(k.per_head(split(x, Shard(0))), k.per_head(x))  # not independent: gathered


def columns_of_a_table_are_split() -> None:
    """An op that works column by column is called on each device's columns, and its gradient needs no other device's columns."""
    kernels = kernpack.load("kernpack_kernels")
    table, x = torch.randn(6, 8), torch.randn(2, 3, 8)
    indices, mask = torch.tensor([[0, 5, 0], [2, 2, 1]]), torch.tensor([[1, 1, 0], [1, 0, 1]])
    for run, whole, columns, other in (
        (kernels.embedding, table, 1, indices),
        (kernels.mean_pool, x, 2, mask),
    ):
        expected = whole.clone().requires_grad_()
        run(expected, other).square().sum().backward()
        parts = split(whole, Shard(columns)).requires_grad_()
        others = split(other, Replicate())
        with CommDebugMode() as traffic:
            out = run(parts, others)
            (gradient,) = torch.autograd.grad(out, parts, 2 * out.detach())
        assert traffic.get_total_counts() == 0
        assert out.placements == (Shard(out.dim() - 1),)
        assert gradient.placements == (Shard(columns),)
        same(out, run(whole, other))
        same(gradient, expected.grad)


def caches_split_by_head() -> None:
    cache, key = torch.zeros(6, 4, 3), torch.randn(2, 4, 3)
    expected = cache.clone()
    expected[3:5] = key
    caches, keys = split(cache, Shard(1)), split(key, Shard(1))
    with CommDebugMode() as traffic:
        k.append(caches, keys, 3)
    assert traffic.get_total_counts() == 0
    same(caches, expected)
    caches = split(cache, Shard(1), Replicate(), over=square)
    k.append(caches, split(key, Replicate(), Shard(1), over=square), 3)  # the key is what is laid out anew
    assert caches.placements == (Shard(1), Replicate())
    same(caches, expected)


def layouts_that_would_lose_the_write_are_refused() -> None:
    cache, key = torch.zeros(8, 4, 3), torch.randn(2, 4, 3)
    for layouts, over in ([(Shard(0),), mesh], [(Shard(1), Shard(0)), square]):
        whole = [Replicate()] * len(layouts)
        start = f"append: cache: is written in place, so its layout stays as it is; expected {tuple(whole)} or "
        end = f", got {layouts}: call redistribute on it first"
        with pytest.raises(RuntimeError, match=f"^{re.escape(start)}.*{re.escape(end)}\n"):
            k.append(split(cache, *layouts, over=over), split(key, *whole, over=over), 3)


def tensors_by_keyword() -> None:
    x, w = torch.randn(8, 4), torch.randn(4)
    out = k.scaled(split(x, Shard(0)), w=split(w, Replicate()))
    assert out.placements == (Shard(0),)
    same(out, k.scaled(x, w=w))
    same(k.scaled(split(x, Shard(1)), by=3.0, w=split(w, Shard(0))), k.scaled(x, by=3.0, w=w))


def gradients_by_any_name() -> None:
    """The operator has one sharding rule and one gradient, however it is called."""
    x = torch.randn(8, 4)
    for op in (k.cube, torch.ops.kernpack_sharding_tests.cube, torch.ops.kernpack_sharding_tests.cube.default):
        xs = split(x, Shard(0)).requires_grad_()
        with CommDebugMode() as traffic:
            op(xs).sum().backward()
        assert traffic.get_comm_counts().get(torch.ops.c10d_functional.all_gather_into_tensor, 0) == 0
        assert xs.grad.placements == (Shard(0),)
        same(xs.grad, 3 * x * x)


def destinations_are_refused() -> None:
    x, w = split(torch.randn(8, 4), Shard(0)), split(torch.randn(4), Replicate())
    with pytest.raises(NotImplementedError, match=r"^scaled: out: a DTensor cannot be a destination; omit out="):
        k.scaled(x, w=w, out=split(torch.zeros(8, 4), Shard(0)))


run_cases(
    written_in_place,
    independent_dims_are_split,
    columns_of_a_table_are_split,
    caches_split_by_head,
    layouts_that_would_lose_the_write_are_refused,
    tensors_by_keyword,
    gradients_by_any_name,
    destinations_are_refused,
)
