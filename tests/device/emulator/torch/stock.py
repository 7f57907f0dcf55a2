"""torch as PyPI has it, with CUDA, on the emulated device: its own operators, a kernel of Triton, torch.compile,
graphs, memory that it maps or shares. Words on the command line choose parts."""

from __future__ import annotations

import sys
from typing import Any

import torch
import triton
import triton.language as tl
from torch.nn.functional import scaled_dot_product_attention


@triton.jit
def double(x, out, n, BLOCK: tl.constexpr):  # noqa: N803
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


def operators() -> None:
    assert torch.equal((torch.ones(3, device="cuda") + 1).cpu(), torch.full((3,), 2.0))
    x = torch.randn(4, 5, device="cuda")
    x[1].zero_()
    x.mul_(2)
    assert not x.cpu()[1].any()
    assert torch.equal(x.t().contiguous().cpu(), x.cpu().t())
    total = torch.empty(4, device="cuda")
    torch.sum(x, dim=1, out=total)
    assert torch.allclose(total.cpu(), x.cpu().sum(1))
    resized = torch.empty(0, device="cuda")
    torch.add(x, x, out=resized)
    assert torch.equal(resized.cpu(), x.cpu() * 2)
    assert x.to(torch.bfloat16).device.type == "cuda"
    assert "device='cuda:0'" in repr(total)


def training() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.GELU(), torch.nn.LayerNorm(8), torch.nn.Linear(8, 1))
    x, step = torch.randn(16, 5), torch.optim.AdamW
    results = []
    for device in ("cpu", "cuda"):
        torch.manual_seed(1)
        here = [p.detach().clone().to(device).requires_grad_() for p in model.parameters()]
        names = dict(zip([name for name, _ in model.named_parameters()], here, strict=True))
        optimizer = step(here, lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            torch.func.functional_call(model, names, (x.to(device),)).square().mean().backward()
            optimizer.step()
        results.append([p.detach().cpu() for p in here])
    for on_cpu, on_device in zip(*results, strict=True):
        assert torch.allclose(on_cpu, on_device, atol=1e-6)


def attention() -> None:
    q = torch.randn(1, 2, 8, 16, device="cuda")
    expected = scaled_dot_product_attention(q.cpu(), q.cpu(), q.cpu())
    assert torch.allclose(scaled_dot_product_attention(q, q, q).cpu(), expected, atol=1e-6)


def kernels() -> None:
    x = torch.arange(100, device="cuda", dtype=torch.float32)
    out = torch.empty_like(x)
    double[(4,)](x, out, 100, BLOCK=32)
    assert torch.equal(out.cpu(), x.cpu() * 2)


def compiled() -> None:
    @torch.compile
    def scaled(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.softmax(a * b + 1, dim=-1)

    a, b = torch.randn(8, 40, device="cuda"), torch.randn(8, 40, device="cuda")
    expected = torch.softmax(a.cpu() * b.cpu() + 1, dim=-1)
    assert torch.allclose(scaled(a, b).cpu(), expected, atol=1e-6)


def graphs() -> None:
    """Captured kernels and operators read what their inputs have when the graph is replayed."""
    x = torch.zeros(100, device="cuda")
    once, twice = torch.empty_like(x), torch.empty_like(x)

    def work() -> None:
        double[(4,)](x, once, 100, BLOCK=32)
        double[(4,)](once, twice, 100, BLOCK=32)

    work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
        more = torch.empty_like(x)
        double[(4,)](twice, more, 100, BLOCK=32)
    for first in (0, 7):
        x.copy_(torch.arange(first, first + 100, dtype=torch.float32))
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(twice.cpu(), x.cpu() * 4)
        assert torch.equal(more.cpu(), x.cpu() * 8)


def captured_operators() -> None:
    """torch's own operators in a graph: they make tensors, write into arguments, and read what the CPU has."""
    model = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.GELU(), torch.nn.LayerNorm(8)).cuda()
    x, count, picked = (
        torch.randn(4, 5, device="cuda"),
        torch.zeros(3, device="cuda"),
        torch.tensor([3, 1], device="cuda"),
    )
    model(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), torch.no_grad():
        y = model(x)
        count.add_(1)
        largest, where = y.max(dim=1)
        rows = y.t()[:, picked]
    for round_ in (1, 2):
        x.copy_(torch.randn(4, 5))
        graph.replay()
        torch.cuda.synchronize()  # the operators run here, outside of any other
        with torch.no_grad():
            expected = model(x)
        assert torch.equal(y, expected)
        assert torch.equal(largest, expected.max(dim=1).values)
        assert torch.equal(where, expected.max(dim=1).indices)
        assert torch.equal(rows, expected.t()[:, picked])
        assert torch.equal(count.cpu(), torch.full((3,), float(round_)))


def segments() -> None:
    """Memory that torch maps itself, piece by piece (PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True)."""
    assert torch.cuda.memory.memory_snapshot() == []
    kept = [torch.arange(n, device="cuda", dtype=torch.float32) for n in (100, 1 << 20, 5 << 20)]
    assert all(segment["is_expandable"] for segment in torch.cuda.memory.memory_snapshot())
    for x in kept:
        out = torch.empty_like(x)
        double[(-(-x.numel() // 1024),)](x, out, x.numel(), BLOCK=1024)
        assert torch.equal(out.cpu(), x.cpu() * 2)
    before = torch.cuda.memory_reserved()
    del kept, x, out
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() < before
    assert torch.equal((torch.ones(9 << 20, device="cuda") + 1).cpu(), torch.full((9 << 20,), 2.0))


def _negate(x: torch.Tensor, done: Any) -> None:
    x.neg_()
    torch.cuda.synchronize()
    done.set()


def processes() -> None:
    """A tensor's memory is shared with another process."""
    spawn = torch.multiprocessing.get_context("spawn")
    x, done = torch.arange(100, device="cuda", dtype=torch.float32), spawn.Event()
    other = spawn.Process(target=_negate, args=(x, done))
    other.start()
    assert done.wait(300)
    assert torch.equal(x.cpu(), -torch.arange(100, dtype=torch.float32))
    other.join()


if __name__ == "__main__":
    parts = (operators, training, attention, kernels, compiled, graphs, captured_operators, processes)
    for part in [globals()[word] for word in sys.argv[1:]] or parts:
        part()
        print(f"{part.__name__}: right", flush=True)
