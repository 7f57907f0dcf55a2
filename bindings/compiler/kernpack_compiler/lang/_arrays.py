"""Tensors of a kernel that runs as plain Python: every index is checked."""

from __future__ import annotations

from typing import Any

from kernpack_compiler.lang._dtypes import Dtype, TensorType, numpy_type


class Checked:
    """Elements of an array. IndexError for an index out of range, as a checked build raises it."""

    def __init__(self, function: str, name: str, dtype: Dtype, array: Any, *, written: bool, is_empty: bool) -> None:
        """written: the function may write. is_empty: elements have no value before they are written."""
        import numpy as np

        self._function, self._name, self._dtype, self._written = function, name, dtype, written
        self._array = array
        self._has_value = np.zeros(array.shape, bool) if is_empty else None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(extent) for extent in self._array.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __getitem__(self, index: Any) -> Any:
        place = self._place(index)
        if self._has_value is not None and not self._has_value[place]:
            raise ValueError(f"{self._text(place)}: is read before it is written")
        value = self._array[place]
        if self._dtype.name == "bool":
            return bool(value)
        if self._dtype.is_float and self._dtype.name not in ("f32", "f64"):
            import numpy as np

            return np.float32(value)
        return int(value) if self._dtype.name == "i64" else value

    def __setitem__(self, index: Any, value: Any) -> None:
        place = self._place(index)
        if not self._written:
            raise TypeError(
                f"{self._text(place)}: '{self._name}' is an input; annotate it as inout(...) to write to it"
            )
        self._array[place] = value
        if self._has_value is not None:
            self._has_value[place] = True

    def __iter__(self) -> Any:
        raise TypeError(f"{self._function}: '{self._name}' can't be iterated over; write `for i in range(n):`")

    def __repr__(self) -> str:
        return f"{self._name}: {self._dtype}\n{self._array}"

    def _place(self, index: Any) -> tuple[int, ...]:
        place = tuple(int(each.__index__()) for each in (index if isinstance(index, tuple) else (index,)))
        if len(place) != self.ndim:
            raise IndexError(f"{self._text(place)}: expected {self.ndim} indices, got {len(place)}")
        for axis, (each, extent) in enumerate(zip(place, self.shape, strict=True)):
            if not 0 <= each < extent:
                raise IndexError(
                    f"{self._text(place)}: index {each} is out of range for axis {axis} of extent {extent}"
                )
        return place

    def _text(self, place: tuple[int, ...]) -> str:
        return f"{self._function}: {self._name}[{', '.join(map(str, place))}]"


class Memory(Checked):
    """Made by local(f32[8]) and the like."""

    def __init__(self, word: str, tensor: TensorType) -> None:
        import numpy as np

        shape = tuple(int(dim) for dim in tensor.dims)
        array = np.zeros(shape, numpy_type(tensor.dtype.name))
        super().__init__(word, repr(tensor.dtype), tensor.dtype, array, written=True, is_empty=True)
