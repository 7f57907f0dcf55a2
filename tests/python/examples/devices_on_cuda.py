"""Run by test_devices_example.py in a process of its own: the functions of examples/devices on a CUDA device."""

from __future__ import annotations

import math

import kernpack
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
rows = kernpack.load("device_rows")
device = kernpack.device("cuda", 0)
random = np.random.default_rng(3)


def there(array: npt.NDArray[np.generic]) -> kernpack.Tensor:
    return kernpack.from_dlpack(np.ascontiguousarray(array)).to(device)


def near(got: kernpack.Tensor, want: Array) -> None:
    np.testing.assert_allclose(np.from_dlpack(got.to("cpu")), want, rtol=2e-5, atol=2e-6)


def normal(*shape: int) -> Array:
    return random.standard_normal(shape).astype(np.float32)


x, weight, bias = normal(7, 100), normal(100), normal(100)
centred = x - x.mean(-1, keepdims=True)
near(
    rows.layer_norm(there(x), there(weight), there(bias), eps=1e-5),
    centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * weight + bias,
)

scores, keep = normal(2, 3, 5, 70), random.random((2, 70)) < 0.5
keep[1] = False  # nothing is kept: no weights
exact = np.exp(scores - scores.max(-1, keepdims=True)) * keep[:, None, None, :]
near(rows.softmax(there(scores), there(keep)), exact / np.maximum(exact.sum(-1, keepdims=True), 1e-30))

line = normal(1009)  # a prime count: threads of the last block have no element
near(rows.gelu(there(line)), np.array([0.5 * v * (1 + math.erf(v * 0.70710678)) for v in line], np.float32))
print("equal")
