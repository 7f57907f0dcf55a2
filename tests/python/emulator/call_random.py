"""Draws numbers on the device and on the CPU; prints how many."""

from pathlib import Path

import kernpack
import numpy as np

K = kernpack.load(Path(__file__).with_name("random_kernels.cu"))
KEY = np.array([7, 11], np.uint32)
expected = K.on_cpu(KEY, 100)
(device,) = kernpack.devices("cuda")
found = np.from_dlpack(K.on_device(kernpack.from_dlpack(KEY).to(device), 100).to("cpu"))
assert (found[:, :2] == expected[:, :2]).all()
np.testing.assert_allclose(found[:, 2:], expected[:, 2:], atol=1e-5)
print(found.size)
