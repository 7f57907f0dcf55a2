"""Run by topics/imports.py in processes of their own, each of which prints its figures as JSON.

`imported_kernels.py calls LIBRARY REPETITIONS`: nanoseconds of a call. `wheel FOLDER`: writes the wheel of
examples/ship_triton. `first_call SITE` and `triton`: milliseconds to the first result, and to the first compiled kernel.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
import zlib
from pathlib import Path

import numpy as np

PTX = Path(__file__).parents[1] / "python" / "compiler" / "rows.ptx"  # its kernel `add`: y += x * k
CONTRACT = '(x: f64[N], y!: f64[N], k: float) -> () with on "cuda"'
BATCH = 200


def calls(library: str, repetitions: str) -> dict[str, float]:
    """The emulated device starts nothing before somebody waits for it, so a batch of calls is the host's work alone: nanoseconds
    of this thread."""
    import kernpack
    import kernpack_compiler as kc

    launched = kernpack.load(library).add
    function = kc.import_kernel(PTX, CONTRACT, entry="add", args=["x", "y", "N", "k"], grid="ceildiv(N, 64)", block=64)
    imported = kc.build_imported(function, "imported").add
    x, y = (kernpack.from_dlpack(np.zeros(1)).to("cuda") for _ in range(2))
    samples: dict[str, list[float]] = {"imported": [], "launched": []}
    for _ in range(10 * int(repetitions)):
        for name, function in (("imported", imported), ("launched", launched)):
            begin = time.thread_time_ns()
            for _ in range(BATCH):
                function(x, y, 2.0)
            samples[name].append((time.thread_time_ns() - begin) / BATCH)
            y.to("cpu")  # waits for the device
    return {
        **{name: min(each) for name, each in samples.items()},
        **{f"{name}_median": statistics.median(each) for name, each in samples.items()},
    }


def wheel(folder: str) -> dict[str, object]:
    import kernpack_compiler as kc
    from triton_kernels import imported

    begin = time.perf_counter()
    functions = imported()
    compiled = time.perf_counter() - begin
    codes = {binary.code.data for function in functions for _, binary, _ in function.kernels}
    seconds, of_processor = [], []
    for _ in range(3):
        begin, before = time.perf_counter(), _processor_seconds()
        made = kc.export_wheel(functions, folder, "shipped-triton", "1.0.0", summary="Three Triton kernels")
        seconds.append(time.perf_counter() - begin)
        of_processor.append(_processor_seconds() - before)
    return {
        "wheel": str(made),
        "seconds": min(seconds),
        "of_processor": min(of_processor),
        "compiled": compiled,
        "codes": len(codes),
        "compressed": sum(len(zlib.compress(code)) for code in codes),
    }


def _processor_seconds() -> float:
    """Of this process and of those that it ran."""
    times = os.times()
    return sum(times[:4])


def first_call(site: str) -> dict[str, float]:
    import kernpack

    sys.path.insert(0, site)
    x, w = np.ones((4, 300), np.float32), np.ones(300, np.float32)
    begin = time.perf_counter()
    k = kernpack.load("shipped_triton")
    y = k.rms_norm(*(kernpack.from_dlpack(each).to("cuda") for each in (x, w)))
    result = np.from_dlpack(y.to("cpu"))
    took = time.perf_counter() - begin
    if not np.allclose(result, 1, atol=1e-4):
        raise RuntimeError("wrong result")
    return {"ms": took * 1e3}


def triton() -> dict[str, float]:
    """Its cache is empty. It compiles for the device of the call alone, and nothing is launched."""
    begin = time.perf_counter()
    import triton as compiler
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    imported_in = time.perf_counter() - begin
    from triton_kernels import rms_norm

    begin = time.perf_counter()
    types = {"x": "*fp32", "w": "*fp32", "y": "*fp32", "n": "i32", "eps": "fp32", "D": "constexpr"}
    compiler.compile(ASTSource(rms_norm, types, constexprs={"D": 512}), target=GPUTarget("cuda", 80, 32))
    return {"ms": (imported_in + time.perf_counter() - begin) * 1e3}


if __name__ == "__main__":
    what = {"calls": calls, "wheel": wheel, "first_call": first_call, "triton": triton}
    print(json.dumps(what[sys.argv[1]](*sys.argv[2:])))
