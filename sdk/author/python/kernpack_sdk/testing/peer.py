"""The same module, loaded by apache-tvm-ffi: its aliases are called, by position."""

from __future__ import annotations

from typing import Any

import kernpack
import numpy as np
from kernpack._core import dtype_word

from kernpack_sdk.testing.case import Call, Op
from kernpack_sdk.testing.frameworks import Framework, Outcome, as_tuple, mutated


class Peer(Framework):
    """Of the files of one module."""

    name = "apache-tvm-ffi"

    def __init__(self, files: list[str]) -> None:
        import tvm_ffi

        self._tvm_ffi = tvm_ffi
        self._modules = [tvm_ffi.load_module(file) for file in files]

    def function(self, op: Op) -> Any:
        """None: the files have no alias of that name."""
        found = (module.get_function(op.name) for module in self._modules if module.implements_function(op.name))
        return next(found, None)

    def make(self, array: np.ndarray) -> Any:
        return self.shared(super().make(array))

    def sharing(self, values: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call, in the memory of these."""

        def shared(value: Any) -> Any:
            if isinstance(value, list):
                return [shared(item) for item in value]
            return self.shared(value) if isinstance(value, np.ndarray) else value

        return {name: shared(value) for name, value in values.items()}

    def shared(self, array: np.ndarray) -> Any:
        """In the array's memory. NumPy exports no dtype of ml_dtypes; Kernpack's tensors do."""
        return self._tvm_ffi.from_dlpack(array if array.dtype.isbuiltin == 1 else kernpack.from_dlpack(array))

    def read(self, tensor: Any) -> np.ndarray:
        if isinstance(tensor, self._tvm_ffi.Tensor):
            tensor = kernpack.from_dlpack(tensor)
        return super().read(tensor).copy()

    def call_on(self, call: Call, values: dict[str, Any], **keywords: Any) -> Outcome:
        contract = call.op.contract
        kinds = {each.name: each.kind for each in contract.parameters} if contract else {}
        given = [self._dtype(value) if kinds.get(name) == "dtype" else value for name, value in values.items()]
        try:
            result = self.function(call.op)(*given, **keywords)
        except Exception as error:  # whatever a kernel may raise
            return Outcome(error=error)
        if isinstance(result, self._tvm_ffi.Array):  # all of them, those too that a framework's caller doesn't see
            result = tuple(result[i] for i in contract.returned) if contract else tuple(result)
        return Outcome(tuple(map(self.read, (*as_tuple(result), *mutated(call, values)))))

    def _dtype(self, name: Any) -> Any:
        return name if name is None else self._tvm_ffi.dtype(dtype_word(str(name)))
