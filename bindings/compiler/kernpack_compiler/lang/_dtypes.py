"""Types of elements: f32["N", "D"] in an annotation, f32(x) as a cast, local(f32[8]) as memory."""

from __future__ import annotations

import math
from typing import Any

from kernpack_compiler._native import ir as _ir

FLOATS = ("f16", "bf16", "f8_e4m3fn", "f8_e5m2", "f32", "f64")


class TensorType:
    """A dtype with extents: numbers, names of dims, or text such as "2 * E"; in a kernel's body, values."""

    def __init__(self, dtype: Dtype, dims: tuple[Any, ...], written: bool = False) -> None:
        self.dtype, self.dims, self.written = dtype, dims, written

    def __repr__(self) -> str:
        return f"{self.dtype}[{', '.join(repr(dim) for dim in self.dims)}]"


class Dtype:
    """A type of elements. dtype["N", "D"] is a tensor of it; dtype(x) converts a number to it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.type = _ir.Type(name)

    @property
    def is_float(self) -> bool:
        return self.name in FLOATS

    def __getitem__(self, dims: Any) -> TensorType:
        return TensorType(self, dims if isinstance(dims, tuple) else (dims,))

    def __call__(self, value: Any) -> Any:
        """The result of the cast in plain Python, by the IR's rules: integers wrap, floats become the nearest integer toward zero."""
        import numpy as np

        if self.name == "bool":
            return bool(value)
        if self.is_float:
            return rounded(self.name, value)
        kind = np.dtype({"i": "int", "u": "uint"}[self.name[0]] + self.name[1:])
        limits = np.iinfo(kind)
        if isinstance(value, float | np.floating):
            whole = 0 if math.isnan(value) else value if math.isinf(value) else int(value)
            return kind.type(int(max(limits.min, min(limits.max, whole))))
        return kind.type((int(value) - int(limits.min)) % (1 << limits.bits) + int(limits.min))

    def __repr__(self) -> str:
        return "bool_" if self.name == "bool" else self.name

    def __reduce__(self) -> str:
        return repr(self)


def rounded(name: str, value: Any) -> Any:
    """A number as a float type holds it. Those narrower than f32 are stored only: their values are computed with as f32."""
    import numpy as np

    if name == "f64":
        return np.float64(value)
    single = np.float32(value)
    return single if name == "f32" else np.float32(single.astype(numpy_type(name)))


def numpy_type(name: str) -> Any:
    """NumPy's dtype. TypeError for bf16 and the f8 types without ml_dtypes."""
    import numpy as np
    from kernpack._numpy import numpy_dtype

    return np.dtype(numpy_dtype(name))


bool_ = Dtype("bool")
i8, i16, i32, i64 = Dtype("i8"), Dtype("i16"), Dtype("i32"), Dtype("i64")
u8, u16, u32, u64 = Dtype("u8"), Dtype("u16"), Dtype("u32"), Dtype("u64")
f16, bf16 = Dtype("f16"), Dtype("bf16")
f8_e4m3fn, f8_e5m2 = Dtype("f8_e4m3fn"), Dtype("f8_e5m2")
f32, f64 = Dtype("f32"), Dtype("f64")


def inout(tensor: TensorType) -> TensorType:
    """In an annotation: a tensor that the kernel reads and writes, `cache: inout(f32["N"])`."""
    if not isinstance(tensor, TensorType):
        raise TypeError(f'inout: expected a tensor such as f32["N", "D"], got {tensor!r}')
    return TensorType(tensor.dtype, tensor.dims, written=True)
