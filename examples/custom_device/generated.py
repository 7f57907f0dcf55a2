"""A function that nobody wrote for the toy: IR in Python, compiled by target.build.toy, run on the toy."""

import kernpack
import kernpack_compiler
import numpy as np
from kernpack_compiler import ir

kernpack_compiler.add_target_kind("toy", "toy")


@ir.func("(x: f32[N], y: f32[N], a: f32) -> (out: f32[N])")
def blend(x, y, a, out):
    with ir.parallel(x.shape[0]) as i:
        out[i] = a * (x[i] - y[i]) + y[i] * 2.0


@ir.func("(x: f32[N]) -> (out: f32[N])")
def root(x, out):
    with ir.parallel(x.shape[0]) as i:
        out[i] = ir.sqrt(x[i])


k = kernpack_compiler.build(blend, "toy")
x, y = (kernpack.from_dlpack(np.array(v, np.float32)).to("toy") for v in ([1, 2, 3, 4], [10, 20, 30, 40]))
out = k.blend(x, y, 0.5)
print(out.device, *out.to("cpu").numpy())
try:
    kernpack_compiler.build(root, "toy")
except ValueError as error:
    print(error)
