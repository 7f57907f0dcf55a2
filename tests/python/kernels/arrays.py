"""Arrays of every dtype the kernels take: NumPy's where it has the type, PyTorch's for bf16."""

import numpy as np
import torch
from reference import TOLERANCE

DTYPES = tuple(TOLERANCE)
_NUMPY = {"f32": np.float32, "f64": np.float64, "f16": np.float16}


def make(values, dtype):
    """(the array for the kernel, the float64 values it holds)."""
    if dtype == "bf16":
        tensor = torch.from_numpy(np.asarray(values, np.float32)).bfloat16()
        return tensor, tensor.double().numpy()
    array = np.asarray(values).astype(_NUMPY[dtype])
    return array, array.astype(np.float64)


def get_values(array):
    return array.double().numpy() if isinstance(array, torch.Tensor) else np.asarray(array, np.float64)


def assert_close(found, expected, dtype):
    found = get_values(found)
    assert found.shape == expected.shape
    scale = max(np.abs(expected).max(initial=0), 1e-3)
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE[dtype] * scale)
