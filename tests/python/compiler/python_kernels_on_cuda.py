"""Run with KERNPACK_EMULATOR set: kernels in plain Python, on the device."""

from __future__ import annotations

import kernpack
import numpy as np
from python_kernels import CASES, block_sums, expected_block_sums, normal

x = normal(150)
found = block_sums(kernpack.from_dlpack(x).to("cuda"))
assert found.device.type == "cuda"
np.testing.assert_allclose(found.to("cpu").numpy(), expected_block_sums(x), rtol=1e-4, atol=1e-5)
names = ["softmax", "stencil", "topk"]
for name in names:
    kernel, arguments, reference, tolerance = CASES[name]
    results = kernel(*(kernpack.from_dlpack(argument).to("cuda") for argument in arguments))
    expected = reference(*arguments)
    pairs = zip(results, expected, strict=True) if isinstance(expected, tuple) else [(results, expected)]
    for result, wanted in pairs:
        np.testing.assert_allclose(result.to("cpu").numpy(), wanted, rtol=max(tolerance, 1e-6), atol=tolerance)
print("block_sums", *names)
