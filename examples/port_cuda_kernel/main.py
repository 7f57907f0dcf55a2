"""A CUDA kernel before the port, called by ctypes, and after it. Compiled wherever there is nvcc."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import kernpack
import numpy as np

HERE = Path(__file__).parent


def before(folder: str) -> ctypes.CDLL:
    command = ["nvcc", "-shared", "-O2", "-Xcompiler", "-fPIC", HERE / "before.cu", "-o", f"{folder}/before.so"]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(f"{folder}/before.so")
    size, address = ctypes.c_longlong, ctypes.c_void_p
    library.row_softmax.argtypes = [address, address, size, size, ctypes.c_int, address]
    return library


def call_before(library: ctypes.CDLL, x):
    import torch

    assert (x.dtype, x.is_contiguous(), x.is_cuda) == (torch.float32, True, True)
    out = torch.empty_like(x)
    stream = torch.cuda.current_stream(x.device).cuda_stream
    columns = x.shape[-1]
    status = library.row_softmax(x.data_ptr(), out.data_ptr(), x.numel() // columns, columns, x.device.index, stream)
    if status:
        raise RuntimeError(f"row_softmax: CUDA error {status}")
    return out


def main() -> None:
    if shutil.which("nvcc") is None:
        print("skipped: there is no nvcc; the CUDA toolkit isn't installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        old = before(folder)
    k = kernpack.load(HERE / "after.cu")
    print("compiled:", *k.functions)
    try:
        k.softmax(np.ones((2, 3), np.float32))
    except ValueError as error:
        print("Refused:", error)
    for device in kernpack.devices("cuda"):
        x = np.random.default_rng(0).standard_normal((4, 1000)).astype(np.float32)
        out = np.from_dlpack(k.softmax(kernpack.from_dlpack(x).to(device)).to("cpu"))
        powers = np.exp(x - x.max(-1, keepdims=True))
        print(
            f"on {device.device_name}, close to NumPy: {np.allclose(out, powers / powers.sum(-1, keepdims=True), atol=1e-6)}"
        )
    try:
        import torch
    except ImportError:
        print("skipped: comparing it with the kernel before needs torch")
        return
    if not torch.cuda.is_available():
        print("skipped: comparing it with the kernel before needs a GPU, and torch finds none")
        return
    x = torch.randn(4, 1000, device="cuda")
    print("the same results:", torch.equal(call_before(old, x), k.softmax(x)))
    print("close to torch:", torch.allclose(k.softmax(x), x.softmax(-1), atol=1e-6))


if __name__ == "__main__":
    main()
