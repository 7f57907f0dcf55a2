"""For files of cases, `CASES.py FILES GROUP[:DTYPE]...`: the kernels of FILES, arrays to the device and back."""

import contextlib
import ctypes
import os
import sys

import kernpack
import torch
from support.dlpack import DLTensor, Managed

EMULATED = bool(os.environ.get("KERNPACK_EMULATOR"))
K = kernpack.load(sys.argv[1].split(os.pathsep))


def failed_assertion(name):
    """The error of a failed assertion: a GPU prints the name to stderr and tells the host the kind of failure only."""
    return name if EMULATED else "CUDA_ERROR_ASSERT"


def to_device(array):
    return kernpack.from_dlpack(array).to(kernpack.device("cuda", 0))


@contextlib.contextmanager
def only(*kernels):
    """Each of the kernels runs in it and no other, as the emulated device says; a GPU doesn't."""
    if not EMULATED:
        yield
        return
    from kernpack_cuda_emulator import counted

    with counted() as ran:
        yield
    assert {each["name"] for each in ran} == set(kernels)


class View:
    """A strided view of a tensor of the device, as a producer of DLPack. It has to outlive what is made of it."""

    def __init__(self, tensor, shape, strides, offset, dtype):
        extents, steps = (ctypes.c_int64 * len(shape))(*shape), (ctypes.c_int64 * len(shape))(*strides)
        bits, code = (32 if dtype == "f32" else 16), (4 if dtype == "bf16" else 2)
        self._kept = tensor, extents, steps
        view = DLTensor(tensor.data_ptr, 2, 0, len(shape), code, bits, 1, extents, steps, offset * bits // 8)
        self._managed = Managed(view, None, None)  # no deleter: nothing to free
        self.tensor = self._managed.tensor

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **_):
        return _new_capsule(ctypes.addressof(self._managed), b"dltensor", None)


_new_capsule = ctypes.PyDLL(None).PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


def to_host(tensor):
    """The float64 values of a tensor of the device."""
    return torch.from_dlpack(tensor.to("cpu")).double().numpy()


def run(groups):
    """Prints how many cases of each group agree, or ends with the first that doesn't."""
    for each in sys.argv[2:]:
        group, *dtype = each.split(":")
        print(each, sum(1 for _ in groups[group](*dtype)))
