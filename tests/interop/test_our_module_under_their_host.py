"""A module built with Kernpack's SDK, unmodified, under tvm_ffi.load_module; and both hosts in one process."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
from pathlib import Path

import kernpack
import numpy as np
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


def call_ours(path: str) -> None:
    module = kernpack.load(path)
    assert module.add(1, 2) == 3
    with pytest.raises(ValueError, match="ours says 5"):
        module.fail(5)
    x = np.arange(3, dtype=np.float32)
    np.testing.assert_array_equal(module.add_one(x), x + 1)


def call_theirs(path: str) -> None:
    module = tvm_ffi.load_module(path)
    assert module.add(3, 4) == 7
    with pytest.raises(ValueError, match="ours says 6"):
        module.fail(6)
    x = torch.arange(3, dtype=torch.float32)
    assert torch.equal(module.add_one(x), x + 1)


@pytest.mark.parametrize("order", ["opo", "pop", "oopp", "ppoo"])
def test_every_order_in_a_fresh_process(order: str, our_path: Path) -> None:
    code = (
        "import sys; sys.path[:0] = sys.argv[3].split(':')\n"
        "import test_our_module_under_their_host as t\n"
        "for host in sys.argv[1]: (t.call_ours if host == 'o' else t.call_theirs)(sys.argv[2])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, order, str(our_path), ":".join([str(Path(__file__).parent), *sys.path])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_8_threads_get_their_own_errors(our_path: Path) -> None:
    ours, theirs = kernpack.load(str(our_path)), tvm_ffi.load_module(str(our_path))
    wrong: list[str] = []

    def work(thread: int) -> None:
        for i in itertools.islice(itertools.count(thread * 1000), 300):
            try:
                (ours if (i + thread) % 2 else theirs).fail(i)
                wrong.append(f"{i}: no error")
            except ValueError as error:
                if f"ours says {i}" not in str(error):
                    wrong.append(f"{i}: {error}")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[:5]
