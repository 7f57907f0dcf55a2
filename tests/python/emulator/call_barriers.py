"""Calls ops of barriers.cu, compiled for the compute capability that is given; a line for each: "right"."""

import sys
from pathlib import Path

import kernpack
import numpy as np

K = kernpack.load(Path(__file__).with_name("barriers.cu"), extra_cuda_cflags=[f"-arch=compute_{sys.argv[1]}"])
X = np.random.default_rng(0).integers(-1000, 1000, 5 * 128).astype(np.int32)
for op in ("barrier", "pipeline"):
    out = K.functions[op](kernpack.from_dlpack(X).to(kernpack.device("cuda", 0))).to("cpu")
    np.testing.assert_array_equal(np.from_dlpack(out), X.reshape(5, 128)[:, ::-1].ravel())
    print("right")
