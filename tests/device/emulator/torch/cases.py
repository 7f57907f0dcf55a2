"""The tests of a project with torch and Triton, for `pytest -p kernpack_cuda_emulator.pytest`: the one in the middle must fail alone."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def double(x, out, n, LIMIT: tl.constexpr, BLOCK: tl.constexpr):  # noqa: N803
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < LIMIT) * 2, mask=at < n)


def check(limit: int) -> None:
    x = torch.arange(100, device="cuda", dtype=torch.float32)
    out = torch.empty_like(x)
    double[(1,)](x, out, 100, LIMIT=limit, BLOCK=128)
    assert torch.equal(out, x * 2)


def test_before() -> None:
    check(100)


def test_reads_past_the_end() -> None:
    check(128)


def test_after() -> None:
    check(100)
