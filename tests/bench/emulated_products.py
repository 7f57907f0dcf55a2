"""Run by topics/emulator.py in Triton's environment, by `python -m kernpack_cuda_emulator run`: products of 256 x 256 matrices by code
of Triton's compiler. Prints for each kernel the least milliseconds of the processor that a launch took, the copy of its result included."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import triton

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "device" / "emulator" / "triton"))
from alone import matmul
from hopper import Matrix, TensorDescriptor, from_brain, matmul_host_maps, to_brain

SIZE = 256


def main(repetitions: int, hopper: bool, *only: str) -> None:
    triton.runtime.driver.active.set_current_device(0)
    random = np.random.default_rng(1)
    bits = [to_brain(random.standard_normal((SIZE, SIZE))) for _ in range(2)]
    a, b = (Matrix(each, "bfloat16") for each in bits)
    b_rows = Matrix(np.ascontiguousarray(bits[1].T), "bfloat16")
    out = Matrix(np.zeros((SIZE, SIZE), np.float32))
    tile = {"BM": 128, "BN": 64, "BK": 64, "num_warps": 4}

    def by_copies() -> Any:
        grid = (SIZE // tile["BM"], SIZE // tile["BN"])
        return matmul[grid](out, a, b, SIZE, SIZE, SIZE, num_stages=3, **tile)

    def by_maps() -> Any:
        def describe(matrix: Matrix, block: list[int]) -> Any:
            return TensorDescriptor(matrix, [SIZE, SIZE], [SIZE, 1], block)

        # Triton 3.9 stores the result through a map too, which takes as much of the device as the loads.
        grid = (SIZE // tile["BM"], SIZE // tile["BN"])
        left, right = describe(a, [tile["BM"], tile["BK"]]), describe(b_rows, [tile["BN"], tile["BK"]])
        to = describe(out, [tile["BM"], tile["BN"]])
        return matmul_host_maps[grid](to, left, right, SIZE, SPECIAL=False, num_stages=3, **tile)

    calls: dict[str, tuple[str, Callable[[], Any]]] = {"mma and cp.async": ("mma.sync", by_copies)}
    if hopper:
        calls = {"wgmma and cp.async": ("wgmma", by_copies), "wgmma and tensor maps": ("cp.async.bulk.tensor", by_maps)}
    expected = from_brain(bits[0]) @ from_brain(bits[1])
    best = {}
    for name, (instruction, call) in calls.items():
        if only and name not in only:
            continue
        if instruction not in call().asm["ptx"]:
            raise RuntimeError(f"{name}: Triton's code has no {instruction}")
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-3, atol=1e-2)
        best[name] = float("inf")
        for _ in range(repetitions):
            begin = time.thread_time()
            call()
            out.numpy()  # which runs the kernel
            best[name] = min(best[name], 1000 * (time.thread_time() - begin))
    print(json.dumps(best))


main(int(sys.argv[1]), sys.argv[2] == "sm_90", *sys.argv[3:])
