"""One wheel for every CPython: the same files on each version that uv finds here or can download."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Environment

USE = """\
import pickle, sys, threading
import kernpack
import numpy as np
k = kernpack.load("kernpack_kernels")
x = np.random.default_rng(0).normal(size=(4, 64)).astype(np.float32)
e = np.exp(x - x.max(-1, keepdims=True))
results = []
threads = [threading.Thread(target=lambda: results.append(k.softmax(x))) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
for result in results:
    np.testing.assert_allclose(result, e / e.sum(-1, keepdims=True), rtol=1e-5)
norm = pickle.loads(pickle.dumps(k.rms_norm))
np.testing.assert_allclose(norm(x, np.ones(64, np.float32), eps=0.0), x / np.sqrt((x * x).mean(-1, keepdims=True)), rtol=1e-4)
out = np.empty_like(x)
assert k.softmax(x, out=out) is out
try:
    k.softmax(x.astype(np.int32))
except TypeError as error:
    print(str(error).split(",")[0], end=" on ")
print(*sys.version_info[:2], sep=".")
"""


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_wheels_run_on(environment: Callable[..., Environment], built: dict[str, Path], version: str) -> None:
    here = environment("uv", version)
    here.install("numpy==2.4.6")
    here.install("--no-index", built["kernpack"], built["kernpack-kernels"])
    assert here.run("-c", USE).startswith("softmax: x: expected dtype ")
    assert here.run("-c", USE).endswith(f" on {version}\n")
    assert "kernpack_kernels" in here.run("-m", "kernpack", "info")
