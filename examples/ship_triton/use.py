"""Calls the kernels of the installed wheel with tensors of PyTorch and JAX, on a CUDA device; without one, on an emulated one."""

import sys

import jax.numpy as jnp
import kernpack
import numpy as np
import right
import torch

MOST_APART = 2e-2  # attention's results are f16


def main():
    k = kernpack.load("shipped_triton")
    random = np.random.default_rng(0)
    f32 = lambda *shape: random.standard_normal(shape, dtype=np.float32)  # noqa: E731
    q, keys, values = (f32(2, 70, 64).astype(np.float16) for _ in range(3))
    weights = random.integers(-128, 128, (80, 96), dtype=np.int8)
    cases = {
        "rms_norm": (f32(5, 300), f32(300)),
        "rms_norm_backward": (f32(5, 304), f32(5, 304), f32(304)),
        "attention": (q, keys, values),
        "int8_linear": (f32(33, 96).astype(np.float16), weights, f32(80) / 100),
    }
    most = 0.0
    for name, arguments in cases.items():
        for make in (torch.from_numpy, jnp.asarray):
            got = k.functions[name].callable(*(kernpack.from_dlpack(make(each)).to("cuda") for each in arguments))
            want = getattr(right, name)(*arguments)
            pairs = zip(*((each if isinstance(each, tuple) else (each,)) for each in (got, want)), strict=True)
            apart = max(float(np.abs(np.from_dlpack(a.to("cpu")) - b).max()) for a, b in pairs)
            most = max(most, apart)
            print(f"{name:<18} {apart:.1e} from NumPy, with tensors of {make.__module__.split('.')[0]}")
    assert not {"triton", "kernpack_compiler"} & set(sys.modules)
    return 0 if most <= MOST_APART else 1


if __name__ == "__main__":
    sys.exit(main())
