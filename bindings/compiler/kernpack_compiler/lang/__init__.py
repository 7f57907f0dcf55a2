"""Kernels in plain Python: types for annotations, and words for loops and memory.

    from math import exp

    import kernpack_compiler as kc
    from kernpack_compiler.lang import f32, parallel

    @kc.kernel
    def softmax(x: f32["N", "D"]) -> f32["N", "D"]:
        for i in parallel(N):
            largest = max(x[i, j] for j in range(D))
            total = sum(exp(x[i, j] - largest) for j in range(D))
            for j in range(D):
                out[i, j] = exp(x[i, j] - largest) / total

    softmax(x)                                   # x: of NumPy, torch or JAX
    softmax.python(x)                            # the function itself, for pdb
    softmax.wheel("my-softmax", "1.0.0", ["llvm", "cuda"])

docs/python_kernels.md says what a kernel can have.
"""

from kernpack_compiler.lang._dtypes import (
    Dtype,
    TensorType,
    bf16,
    bool_,
    f8_e4m3fn,
    f8_e5m2,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    inout,
    u8,
    u16,
    u32,
    u64,
)
from kernpack_compiler.lang._words import (
    argmax,
    argmin,
    barrier,
    bitcast,
    launch,
    local,
    parallel,
    shared,
    sigmoid,
    unrolled,
    vectorized,
    workspace,
)

__all__ = [
    "Dtype",
    "TensorType",
    "argmax",
    "argmin",
    "barrier",
    "bf16",
    "bitcast",
    "bool_",
    "f8_e4m3fn",
    "f8_e5m2",
    "f16",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "inout",
    "launch",
    "local",
    "parallel",
    "shared",
    "sigmoid",
    "u8",
    "u16",
    "u32",
    "u64",
    "unrolled",
    "vectorized",
    "workspace",
]

for _class in (Dtype, TensorType):
    _class.__module__ = __name__  # what pickles and help() say
del _class
