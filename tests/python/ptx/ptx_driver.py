"""PTX on the emulated device by the driver API alone: no code of Kernpack's between a test and the instruction it tries.

KERNPACK_TEST_CUDA_DRIVER=libcuda.so.1: on an NVIDIA GPU instead, as tests/device/run.sh asks for."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np
import pytest

HEADER = ".version 8.6\n.target sm_90\n.address_size 64\n"  # of modules
GPU_DRIVER = os.environ.get("KERNPACK_TEST_CUDA_DRIVER")
emulated_only = pytest.mark.skipif(GPU_DRIVER is not None, reason="asks the emulated device about itself")


def library() -> str:
    if GPU_DRIVER is not None:
        return GPU_DRIVER
    emulator = pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    return str(emulator.LIBRARY)


class _LaunchConfig(ctypes.Structure):
    _fields_ = [
        ("sizes", ctypes.c_uint * 7),  # of the grid, of a block, of dynamic shared memory
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("attribute_count", ctypes.c_uint),
    ]


class Driver:
    """One device, one context, one module at a time."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(library())
        self._entries: dict[str, Any] = {}
        context, device = ctypes.c_void_p(), ctypes.c_int()
        self._call("cuInit", 0)
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._call("cuCtxPushCurrent", context)

    def _call(self, name: str, *arguments: Any) -> None:
        if name not in self._entries:
            entry, status = ctypes.c_void_p(), ctypes.c_int()
            flags = ctypes.c_ulonglong(0)
            found = self._library.cuGetProcAddress_v2(
                name.encode(), ctypes.byref(entry), 13000, flags, ctypes.byref(status)
            )
            assert found == 0, f"{name}: {found}"
            self._entries[name] = ctypes.CFUNCTYPE(ctypes.c_int)(entry.value or 0)
        result = self._entries[name](*arguments)
        if result != 0:
            raise RuntimeError(f"{name} returned {result}")

    def name(self) -> str:
        text, device = ctypes.create_string_buffer(256), ctypes.c_int()
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._call("cuDeviceGetName", text, len(text), device)
        return text.value.decode()

    def use_host_level(self, level: int) -> None:
        """The level on which modules run that are loaded from now on: 1 to 3, x86-64's base, v3 or v4 or the best below that; 0: the best."""
        self._library.kernpack_emulator_set(b"host_level", ctypes.c_long(level))

    def host_level(self) -> int:
        return int(self._library.kernpack_emulator_host_level())

    def rows(self) -> list[str]:
        """The names of the emulator's rows: opcode and types, without modifiers."""
        name = self._library.kernpack_emulator_row
        name.restype = ctypes.c_char_p
        found = []
        while (row := name(len(found))) is not None:
            found.append(row.decode())
        return found

    def load(self, ptx: str) -> ctypes.c_void_p:
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(2000)
        options = (ctypes.c_int * 2)(5, 6)  # the error log's buffer and its size
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        try:
            self._call("cuModuleLoadDataEx", ctypes.byref(module), ptx.encode(), 2, options, values)
        except RuntimeError as error:
            raise RuntimeError(f"{error}: {log.value.decode()}") from None
        return module

    def run(
        self, module: ctypes.c_void_p, kernel: str, grid: int, block: int, inputs: list[np.ndarray], out: np.ndarray
    ) -> np.ndarray:
        """Launches `kernel` with pointers to `inputs`, then to `out`, whose bytes are set before and returned after."""
        function = ctypes.c_void_p()
        self._call("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
        pointers = []
        for array in (*inputs, out):
            pointer = ctypes.c_ulonglong()
            self._call("cuMemAlloc", ctypes.byref(pointer), ctypes.c_size_t(max(array.nbytes, 8)))
            self._copy(pointer, ctypes.c_void_p(np.ascontiguousarray(array).ctypes.data), array.nbytes)
            pointers.append(pointer)
        slots = (ctypes.c_void_p * len(pointers))(*(ctypes.addressof(pointer) for pointer in pointers))
        config = _LaunchConfig(sizes=(grid, 1, 1, block, 1, 1, 0))
        self._call("cuLaunchKernelEx", ctypes.byref(config), function, slots, None)
        got = np.empty_like(out)
        self._copy(ctypes.c_void_p(got.ctypes.data), pointers[-1], out.nbytes)
        for pointer in pointers:
            self._call("cuMemFree", pointer)
        return got

    def _copy(self, to: Any, source: Any, size: int) -> None:
        self._call("cuMemcpyAsync", to, source, ctypes.c_size_t(size), None)
        self._call("cuStreamSynchronize", None)
