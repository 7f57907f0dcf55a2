"""numba-cuda's kernels on the emulated device, with no change to numba: `python -m kernpack_cuda_emulator run -- python kernels.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda


@cuda.jit
def scaled_sum(factor, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = factor * x[i] + y[i]


@cuda.reduce
def total(a, b):
    return a + b


@cuda.jit
def matmul(a, b, out):
    left = cuda.shared.array((8, 8), dtype=np.float32)
    right = cuda.shared.array((8, 8), dtype=np.float32)
    row, column = cuda.grid(2)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    value = np.float32(0)
    for first in range(0, a.shape[1], 8):
        left[i, j] = a[row, first + j]
        right[i, j] = b[first + i, column]
        cuda.syncthreads()
        for k in range(8):
            value += left[i, k] * right[k, j]
        cuda.syncthreads()
    out[row, column] = value


@cuda.jit
def count(out):
    cuda.atomic.add(out, 0, 1)


@cuda.jit
def fill(out):
    out[cuda.grid(1)] = 1


def arrays(random: np.random.Generator) -> None:
    x, y = (random.standard_normal(1000, dtype=np.float32) for _ in range(2))
    out = cuda.device_array(1000, np.float32)
    scaled_sum[8, 128](np.float32(2), cuda.to_device(x), cuda.to_device(y), out)
    np.testing.assert_allclose(out.copy_to_host(), 2 * x + y, rtol=1e-6, atol=1e-6)


def reduction(random: np.random.Generator) -> None:
    x = random.integers(0, 100, 1000)
    assert total(x) == x.sum()


def shared(random: np.random.Generator) -> None:
    a, b = (random.standard_normal((16, 16), dtype=np.float32) for _ in range(2))
    out = np.zeros((16, 16), np.float32)
    matmul[(2, 2), (8, 8)](a, b, out)
    np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-5)


def memory(_: np.random.Generator) -> None:
    """Managed and pinned memory, streams, events, memory that another process could open."""
    managed = cuda.managed_array(1, dtype=np.float32)
    managed[0] = 1
    begin, end = cuda.event(), cuda.event()
    begin.record()
    count[2, 10](managed)
    end.record()
    end.synchronize()
    assert managed[0] == 21
    assert begin.elapsed_time(end) >= 0
    stream, pinned = cuda.stream(), cuda.pinned_array(10, dtype=np.float32)
    pinned[:] = 3
    on_device = cuda.to_device(pinned, stream=stream)
    stream.synchronize()
    assert on_device.copy_to_host().tolist() == [3] * 10
    on_device.get_ipc_handle()


def bounds(_: np.random.Generator) -> None:
    """A write past the end is found, which the report has."""
    said = ""
    try:
        fill[1, 11](cuda.device_array(10, np.float32))
        cuda.synchronize()
    except Exception as error:  # numba's class for errors of the driver has moved between its versions
        said = str(error)
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in said, said


def main() -> None:
    parts: list[Any] = [arrays, reduction, shared, memory, bounds]
    for part in parts:
        part(np.random.default_rng(0))
        print(f"{part.__name__}: right", flush=True)


if __name__ == "__main__":
    main()
