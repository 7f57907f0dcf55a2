"""Run by test_counts.py in a process of its own: what is launched inside of `counted`, and only that."""

import kernpack
import kernpack_compiler as kc
import kernpack_cuda_emulator
import numpy as np

TEXT = """module "counted_rows" func add_one(x: f32[N]) -> (o: f32[N]) {
  parallel i in 0..N { o[i] = x[i] + 1.0 }
}"""

add_one = kc.build(TEXT, "cuda -arch=compute_80").add_one
x = kernpack.from_dlpack(np.arange(8, dtype=np.float32)).to(kernpack.device("cuda", 0))
with kernpack_cuda_emulator.counted() as kernels:
    pass
print(kernels)
add_one(x)  # not waited for
with kernpack_cuda_emulator.counted() as kernels:
    add_one(x)
    add_one(x)
for kernel in kernels:
    print(kernel["name"], kernel["launches"], kernel["touched"])
add_one(x)
with kernpack_cuda_emulator.counted() as kernels:
    pass
print(kernels)
