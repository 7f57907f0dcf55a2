"""DLPack capsules made by hand, with whatever in them, and an object that offers one."""

from __future__ import annotations

import ctypes
from typing import Any

from support.dlpack import DLTensor, Managed


class ManagedVersioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )


# Functions of our own: those of ctypes.pythonapi are shared, and jax.ffi declares them anew.
_python = ctypes.PyDLL("python", handle=ctypes.pythonapi._handle)
_new = _python.PyCapsule_New
_new.restype = ctypes.py_object
_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # a dying capsule: no object to hold
_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, _Destructor)
_name = _python.PyCapsule_GetName
_name.restype = ctypes.c_char_p
_name.argtypes = (ctypes.c_void_p,)

READ_ONLY = 1
PADDED = 4


class Offer:
    """Gives a fresh capsule around eight zeros (f32) at each __dlpack__, with `changes` made to it.

    Changes: the fields of DLTensor, `shape` and `strides` as tuples or None; major, minor, flags; deleter=None: NULL;
    capsule="name" replaces the capsule's name. `alive` counts the capsules' contents that nobody has released.
    """

    def __init__(self, *, versioned: bool = True, device: Any = None, **changes: Any) -> None:
        self.versioned, self.device, self.changes = versioned, device, changes
        self.alive = 0
        self._kept: list[object] = []  # what the capsules point to, for as long as this object lives

    def __dlpack_device__(self) -> Any:
        kind = self.changes.get("device_type", 1), self.changes.get("device_id", 0)
        return kind if self.device is None else self.device

    def __dlpack__(self, **arguments: object) -> object:
        managed = (ManagedVersioned if self.versioned else Managed)()
        memory = (ctypes.c_float * 64)()
        tensor = managed.tensor
        tensor.data = ctypes.addressof(memory)
        tensor.device_type, tensor.code, tensor.bits, tensor.lanes = 1, 2, 32, 1
        if self.versioned:
            managed.major = 1
        deleter = _Deleter(self._release)
        managed.deleter = ctypes.cast(deleter, ctypes.c_void_p).value
        self._kept.append((managed, memory, deleter))
        changes = {"shape": (8,), "strides": None} | self.changes
        name = changes.pop("capsule", "dltensor_versioned" if self.versioned else "dltensor").encode()
        self._kept.append(name)
        tensor.ndim = len(changes["shape"]) if changes["shape"] is not None else 1
        for field, value in changes.items():
            if field in ("shape", "strides"):
                array = None if value is None else (ctypes.c_int64 * max(len(value), 1))(*value)
                self._kept.append(array)
                setattr(tensor, field, None if array is None else ctypes.cast(array, ctypes.POINTER(ctypes.c_int64)))
            else:
                setattr(managed if hasattr(managed, field) else tensor, field, value)
        if managed.deleter:
            self.alive += 1
        destructor = _Destructor(lambda capsule: self._abandon(capsule, name, bool(managed.deleter)))
        self._kept.append(destructor)
        return _new(ctypes.addressof(managed), name, destructor)

    def _abandon(self, capsule: int, name: bytes, counted: bool) -> None:
        """A capsule that ends under its first name was not taken: its content is still the producer's."""
        if counted and _name(capsule) == name:
            self.alive -= 1

    def _release(self, _: int) -> None:
        self.alive -= 1
