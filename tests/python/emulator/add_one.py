"""Run by test_emulated.py in a process of its own: KERNPACK_EMULATOR counts when the CUDA backend is opened.

`add_one.py N [unset]`: a kernel for CUDA on N elements, of which nothing was written where the second argument is there.
"""

import sys

import kernpack
import kernpack_compiler as kc
import numpy as np

TEXT = """module "emulated_rows" func add_one(x: f32[N]) -> (o: f32[N]) {
  parallel i in 0..N { o[i] = x[i] + 1.0 }
}"""

size, unset = int(sys.argv[1]), len(sys.argv) > 2
device = kernpack.device("cuda", 0)
add_one = kc.build(TEXT, "cuda -arch=compute_80").add_one
given = np.arange(size, dtype=np.float32)
x = kernpack.empty((size,), "f32", device) if unset else kernpack.from_dlpack(given).to(device)
result = np.from_dlpack(add_one(x).to("cpu"))
np.testing.assert_array_equal(result, given + 1)
print("equal")
