"""Calls ops of cub_kernels.cu on each device, with all checks of the emulated device; a line for each that agrees with NumPy."""

from pathlib import Path

import kernpack
import numpy as np

K = kernpack.load(Path(__file__).with_name("cub_kernels.cu"))


def of_blocks(x):
    rows = x.reshape(-1, 512)
    return rows.sum(1), rows.cumsum(1).ravel(), np.sort(rows, 1).ravel()


def of_device(x):
    return x.sum(keepdims=True), x.cumsum(), np.sort(x)


for device in kernpack.devices("cuda"):
    for expected, size in ((of_blocks, 2048), (of_device, 1), (of_device, 1000), (of_device, 20000)):
        x = np.random.default_rng(0).integers(-1000, 1000, size).astype(np.int32)
        found = K.functions[expected.__name__](kernpack.from_dlpack(x).to(device))
        for name, values, right in zip(("sum", "scan", "sort"), found, expected(x), strict=True):
            np.testing.assert_array_equal(np.from_dlpack(values.to("cpu")), right, err_msg=name)
        print(device, expected.__name__, size)
