"""Run by topics/emulator.py in a process of its own: KERNPACK_EMULATOR counts when the CUDA backend is opened. Prints for each
kernel the least nanoseconds of the processor that 1,000 instructions of its threads took."""

from __future__ import annotations

import ctypes
import json
import sys
import time
from collections.abc import Callable

import kernpack
import kernpack_compiler as kc
import kernpack_cuda_emulator
import numpy as np

# A block of 256 threads per row; the threads join their parts through shared memory.
JOIN = """
    for step in 0..8 {
      let half = i32(128) >> i32(step)
      barrier
      if thread.x < half { part[thread.x] = JOINED }
    }
    barrier
"""


def _row(name: str, parameters: str, first: str, last: str) -> str:
    return f"""func {name}({parameters}) -> (o: f32[N, D]) {{
  launch grid(N) block(256) {{
    alloc part: f32[256] shared
    let t = i64(thread.x)
    {first}
    {last}
  }}
}}
"""


SUM = JOIN.replace("JOINED", "part[thread.x] + part[thread.x + half]")
MAX = JOIN.replace("JOINED", "max(part[thread.x], part[thread.x + half])")
LOOP = "for j in 0..floordiv(D, 256) { let c = j * 256 + t"
TEXT = (
    'module "emulated"\n'
    + _row(
        "softmax",
        "x: f32[N, D]",
        f"""part[t] = x[block.x, t]
    {LOOP} part[t] = max(part[t], x[block.x, c]) }}
    {MAX}
    let largest = part[0]
    barrier
    part[t] = 0.0
    {LOOP} part[t] = part[t] + exp(x[block.x, c] - largest) }}
    {SUM}""",
        f"let sum = part[0] {LOOP} o[block.x, c] = exp(x[block.x, c] - largest) / sum }}",
    )
    + _row(
        "rms_norm",
        "x: f32[N, D], w: f32[D]",
        f"""part[t] = 0.0
    {LOOP} part[t] = part[t] + x[block.x, c] * x[block.x, c] }}
    {SUM}""",
        f"let scale = 1.0 / sqrt(part[0] / f32(D) + 0.00001) {LOOP} o[block.x, c] = x[block.x, c] * scale * w[c] }}",
    )
    + """func gemv(a: f32[D, N], x: f32[D]) -> (o: f32[N]) {
  parallel i in 0..N { o[i] = reduce(+, j in 0..D, any 8, a[j, i] * x[j]) }
}
func one_thread(x: f32[N, D]) -> (o: f32[N]) {
  launch grid(N) block(1) {
    o[block.x] = 0.0
    for j in 0..D { o[block.x] = o[block.x] + x[block.x, j] * x[block.x, j] }
  }
}
"""
)


def main(repetitions: int) -> None:
    device = kernpack.device("cuda", 0)
    count = ctypes.CDLL(str(kernpack_cuda_emulator.LIBRARY)).kernpack_emulator_thread_instructions
    count.restype = ctypes.c_long
    module = kc.build(TEXT, "cuda -arch=compute_80")
    random = np.random.default_rng(1)

    def there(*shape: int) -> kernpack.Tensor:
        return kernpack.from_dlpack(random.standard_normal(shape).astype(np.float32)).to(device)

    x, w, a = there(512, 2048), there(2048), there(2048, 512)
    calls: dict[str, Callable[[], kernpack.Tensor]] = {
        "softmax": lambda: module.softmax(x),
        "rms_norm": lambda: module.rms_norm(x, w),
        "gemv": lambda: module.gemv(a, w),
        "one_thread": lambda: module.one_thread(x),
    }
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(repetitions):
        for name, call in calls.items():
            instructions, begin = count(), time.thread_time_ns()
            call().to("cpu")  # which runs the kernel, in this thread
            took = time.thread_time_ns() - begin
            best[name] = min(best[name], 1000 * took / (count() - instructions))
    print(json.dumps(best))


main(int(sys.argv[1]))
