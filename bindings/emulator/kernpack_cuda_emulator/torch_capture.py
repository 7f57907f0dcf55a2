"""Operators of torch that a CUDA graph captures. The graph keeps three steps of each: its tensors are copied to the host's memory, a
function of the host computes the operator from these copies, and the results are copied back. So a replay computes with the values
that the tensors then have."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from .torch_operators import Copies

_Function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_kept: list[Any] = []  # memory and functions: nothing says when a graph is gone


class CapturedCopies(Copies):
    """The host's memory for one operator's tensors. It holds zeros until a replay, which shapes of results don't depend on."""

    def __init__(self, torch: Any) -> None:
        super().__init__(torch)
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self._results: list[Any] = []  # for each value that the operator returns: where a replay puts it, or None

    def _call(self, name: str, *arguments: Any) -> None:
        if (result := getattr(self._driver, name)(*arguments)) != 0:
            raise RuntimeError(f"capture of an operator of torch: {name} of the emulated device returned {result}")

    def _pinned(self, elements: int, dtype: Any) -> Any:
        memory = self._torch.zeros(elements, dtype=dtype)
        self._call("cuMemHostRegister_v2", ctypes.c_void_p(memory.data_ptr()), ctypes.c_size_t(memory.nbytes), 0)
        _kept.append(memory)
        return memory

    def _copy(self, to: Any, source: Any) -> None:
        size = ctypes.c_size_t(to.nbytes)
        self._call(
            "cuMemcpyAsync", ctypes.c_uint64(to.data_ptr()), ctypes.c_uint64(source.data_ptr()), size, self._stream
        )

    def read(self, row: Any) -> Any:
        memory = self._pinned(row.numel(), row.dtype)
        self._copy(memory, row)
        return memory

    def write(self, row: Any, values: Any) -> None:
        self._copy(row, values)

    def resize(self, original: Any, copy: Any) -> Any:
        raise RuntimeError(
            f"capture of an operator of torch: it makes a tensor of shape {tuple(original.shape)} one of {tuple(copy.shape)}, "
            "which a graph can't"
        )

    def to_device(self, value: Any, device: Any) -> Any:
        place = None
        if isinstance(value, self._torch.Tensor) and not self.has(value) and value.numel() != 0:
            row = self._pinned(self.flat(value).numel(), value.dtype)
            place = self._torch.as_strided(row, value.shape, value.stride(), 0)
        self._results.append(place)
        return super().to_device(value if place is None else place, device)

    def compute(self, operator: Callable[[], list[Any]]) -> None:
        """At a replay, calls the operator here; `to_device` of each value that it returns has to follow, in order."""
        places = self._results  # not `self`: torch frees the tensors of a graph, and a reference would keep them

        def replayed(_: Any) -> None:
            for place, value in zip(places, operator(), strict=True):
                if place is not None:
                    place.copy_(value)

        function = _Function(replayed)
        _kept.append(function)
        self._call("cuLaunchHostFunc", self._stream, function, None)
