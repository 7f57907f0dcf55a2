"""The program of test_torch_distributed.py in each of four processes: gloo, one CPU device each."""

from __future__ import annotations

import sys

import kernpack
import torch
import torch.distributed as dist
from support.ranks import run_cases
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor, init_device_mesh
from torch.distributed.tensor.debug import CommDebugMode

k = kernpack.load("kernpack_kernels")
RANK = int(sys.argv[1])
dist.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=RANK, world_size=4)
mesh = init_device_mesh("cpu", (4,))
torch.manual_seed(0)


def same(found: torch.Tensor, expected: torch.Tensor) -> None:
    whole = found.full_tensor() if isinstance(found, DTensor) else found
    torch.testing.assert_close(whole, expected, rtol=1e-5, atol=1e-5)


def data_parallel() -> None:
    """Split along the batch: no communication forward, weight gradients are partial sums."""
    x, w, b = torch.randn(8, 16), torch.randn(16), torch.randn(16)
    xs = distribute_tensor(x, mesh, [Shard(0)]).requires_grad_()
    ws, bs = (distribute_tensor(t, mesh, [Replicate()]).requires_grad_() for t in (w, b))
    with CommDebugMode() as traffic:
        out = k.gelu(k.layer_norm(xs, ws, bs))
    assert out.placements == (Shard(0),)
    assert traffic.get_total_counts() == 0
    out.square().sum().backward()
    x, w, b = (t.clone().requires_grad_() for t in (x, w, b))
    expected = k.gelu(k.layer_norm(x, w, b))
    expected.square().sum().backward()
    same(out, expected.detach())
    for mine, theirs in ((xs, x), (ws, w), (bs, b)):
        same(mine.grad, theirs.grad)


def partial_sums() -> None:
    x, w, d = torch.randn(8, 16), torch.randn(16), torch.randn(8, 16)
    xs, ds = (distribute_tensor(t, mesh, [Shard(0)]) for t in (x, d))
    d_x, d_w = k.rms_norm_backward(ds, xs, distribute_tensor(w, mesh, [Replicate()]), eps=1e-6)
    assert d_x.placements == (Shard(0),)
    assert d_w.placements == (Partial(),)
    for mine, theirs in zip((d_x, d_w), k.rms_norm_backward(d, x, w, eps=1e-6), strict=True):
        same(mine, theirs)


def other_dims_are_gathered() -> None:
    """Split along the dim that is normalised: the operator gets the whole rows."""
    x = torch.randn(8, 16)
    same(k.softmax(distribute_tensor(x, mesh, [Shard(1)])), k.softmax(x))
    mask = torch.rand(1, 16) > 0.5
    masks = distribute_tensor(mask, mesh, [Replicate()])
    out = k.softmax(distribute_tensor(x, mesh, [Shard(0)]), masks)
    assert out.placements == (Shard(0),)
    same(out, k.softmax(x, mask))


def uneven() -> None:
    x = torch.randn(6, 16)
    same(k.gelu(distribute_tensor(x, mesh, [Shard(0)])), k.gelu(x))


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(16, 32)
        self.outer = torch.nn.Linear(32, 16)
        self.weight = torch.nn.Parameter(torch.ones(16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return k.rms_norm(self.outer(k.gelu(self.inner(x))) + x, self.weight)


def step(net: torch.nn.Module, x: torch.Tensor) -> None:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()


def trained_alike() -> None:
    """DDP and FSDP2 give the weights that one process gives for the whole batch."""
    from torch.distributed.fsdp import fully_shard

    batch = torch.randn(8, 16)
    mine = batch[RANK * 2 : RANK * 2 + 2]
    torch.manual_seed(1)
    alone = Net()
    step(alone, batch)
    torch.manual_seed(1)
    ddp = Net()
    step(torch.nn.parallel.DistributedDataParallel(ddp), mine)
    torch.manual_seed(1)
    fsdp = fully_shard(Net(), mesh=mesh)
    step(fsdp, mine)
    for expected, a, b in zip(alone.parameters(), ddp.parameters(), fsdp.parameters(), strict=True):
        same(a.detach(), expected.detach())
        same(b.detach(), expected.detach())


run_cases(data_parallel, partial_sums, other_dims_are_gathered, uneven, trained_alike)
