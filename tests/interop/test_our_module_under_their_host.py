"""A module built with Kernpack's SDK, unmodified, under tvm_ffi.load_module."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import tvm_ffi


@pytest.fixture(scope="module")
def under_peer(our_path: Path) -> tvm_ffi.Module:
    return tvm_ffi.load_module(str(our_path))


def test_their_host_runs_our_functions(under_peer: tvm_ffi.Module) -> None:
    assert under_peer.add(40, 2) == 42
    x = torch.arange(4, dtype=torch.float32)
    out = torch.zeros(4)
    under_peer.add_one(x, out)
    assert torch.equal(out, x + 1)
    assert torch.equal(under_peer.add_one(x), x + 1)  # the alias allocates the result


def test_the_contract_is_checked_under_their_host(under_peer: tvm_ffi.Module) -> None:
    with pytest.raises(TypeError, match=r"add_one: x: expected"):
        under_peer.add_one(torch.zeros(4, dtype=torch.float64))


def test_errors_come_out_as_theirs(under_peer: tvm_ffi.Module) -> None:
    with pytest.raises(ValueError, match="ours says 7"):
        under_peer.fail(7)
    with pytest.raises(Exception, match="throw_number"):
        under_peer.throw_number()
    assert under_peer.add(1, 1) == 2
