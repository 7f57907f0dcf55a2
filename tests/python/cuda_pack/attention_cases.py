"""Run by test_cuda_attention.py in processes of their own, with an emulated device: attention on it against float64.

`attention_cases.py MODULE GROUP`: prints the number of cases that agree, or ends with the first that doesn't.
"""

import sys
from pathlib import Path

import kernpack
import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "kernels"))
from arrays import make, values_of
from reference import attention

TOLERANCE = {"f32": 3e-6, "f16": 3e-3, "bf16": 2e-2}
K = kernpack.load(sys.argv[1])

# batch, queries, heads, keys, groups, width: blocks are 64 rows (a query's heads of a group) by 64 keys.
BORDERS = (
    (1, 1, 1, 1, 1, 64),
    (2, 5, 4, 9, 2, 32),
    (1, 64, 1, 64, 1, 64),
    (1, 65, 2, 129, 1, 64),
    (1, 22, 3, 63, 1, 128),
    (1, 70, 2, 5, 2, 64),  # queries without keys where it is causal
    (3, 2, 6, 130, 2, 128),
    (1, 3, 2, 70, 1, 80),
)
OPTIONS = ({}, {"causal": True}, {"causal": True, "window": 7}, {"window": 3}, {"soft_cap": 2.0, "scale": 0.3})


def to_device(array):
    return kernpack.from_dlpack(array).to(kernpack.device("cuda", 0))


def to_host(tensor):
    """The float64 values of a tensor of the device."""
    return torch.from_dlpack(tensor.to("cpu")).double().numpy()


def inputs(shape, dtype, seed=0):
    """q, k and v on the host, and the float64 values that they hold."""
    b, s, h, n, g, d = shape
    rng = np.random.default_rng(seed)
    pairs = [make(rng.normal(size=size), dtype) for size in ((b, s, h, d), (b, n, g, d), (b, n, g, d))]
    return [p[0] for p in pairs], [p[1] for p in pairs]


def check(name, found, expected, dtype):
    tolerance = TOLERANCE[dtype] * max(1, np.abs(expected).max(initial=0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance, err_msg=name)


def borders(dtype):
    """Lengths of 1 and around the blocks' sizes, more keys than queries and fewer, groups of heads."""
    for shape in BORDERS:
        given, wide = inputs(shape, dtype)
        given = [to_device(x) for x in given]
        for options in OPTIONS:
            check(f"{shape} {options}", to_host(K.attention(*given, **options)), attention(*wide, **options), dtype)
            yield


def main():
    group, *rest = sys.argv[2:]
    print(sum(1 for _ in globals()[group](*rest)), "cases agree")


main()
