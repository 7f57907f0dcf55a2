"""Run by test_foreign_contracts_on_cuda.py in a process with emulated devices. `foreign_cuda.py LIBRARY CONTRACTS`"""

from __future__ import annotations

import sys

import kernpack
import numpy as np

k = kernpack.load(sys.argv[1], contracts=sys.argv[2])
random = np.random.default_rng(0)
for device in kernpack.devices("cuda"):
    x = random.standard_normal((5, 300)).astype(np.float32)
    there = kernpack.from_dlpack(x).to(device)
    y = k.scale(there, k=3.0)
    assert str(y.device) == str(device)
    np.testing.assert_array_equal(np.from_dlpack(y.to("cpu")), x * np.float32(3))
    sums = k.row_sums(k.scale(there))
    np.testing.assert_allclose(np.from_dlpack(sums.to("cpu")), 2 * x.sum(1), rtol=1e-4, atol=1e-4)
    out = kernpack.zeros((5, 300), "f32", device)
    assert k.scale(there, out=out) is out
    np.testing.assert_array_equal(np.from_dlpack(out.to("cpu")), 2 * x)
    stream = kernpack.Stream(device)
    with kernpack.stream(stream):
        on_stream = k.scale(there)
    stream.sync()
    np.testing.assert_array_equal(np.from_dlpack(on_stream.to("cpu")), 2 * x)
print("equal")
doubles = kernpack.from_dlpack(x.astype(np.float64)).to("cuda")
for given in ((x,), (there, 3), (doubles,), (there, 1.0, there)):
    try:
        k.scale(*given)
    except (TypeError, ValueError, RuntimeError) as error:
        print(type(error).__name__, error)
