"""80,012 bytes of shared memory in a generated kernel, more than CUDA's arrays have; argument: the language of the host's half."""

import sys

import kernpack
import kernpack_compiler as kc
import numpy as np

TEXT = """module "large" func backwards(x: f32[N, 20000]) -> (o: f32[N, 20000]) {
  launch grid(N) block(128) {
    alloc row: f32[20000] shared
    alloc added: i32[3] shared
    let t = i64(thread.x)
    for k in 0..157 { let j = i64(k) * 128 + t if j < 20000 { row[j] = x[block.x, j] } }
    if t < 3 { added[t] = i32(t) }
    barrier
    for k in 0..157 {
      let j = i64(k) * 128 + t
      if j < 20000 { o[block.x, j] = row[19999 - j] + f32(added[2]) }
    }
  }
}"""
target = f"cuda -arch=compute_80 -max_shared_memory_per_block=101376 -host={sys.argv[1]}"
x = np.random.default_rng(0).standard_normal((3, 20000)).astype(np.float32)
out = kc.build(TEXT, target).backwards(kernpack.from_dlpack(x).to(kernpack.device("cuda", 0)))
np.testing.assert_array_equal(np.from_dlpack(out.to("cpu")), x[:, ::-1] + 2)
print("equal")
