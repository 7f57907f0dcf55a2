"""A C program reads the drawing of the shapes, too: kp_call's error is that of every caller."""

from __future__ import annotations

import ctypes

from support import host
from support.dlpack import DLTensor

TENSOR_POINTER = 7  # KP_TYPE_DLTENSOR_PTR


class Floats:
    """A value of kp_call, with what it borrows."""

    def __init__(self, *shape: int) -> None:
        self._sizes = (ctypes.c_int64 * len(shape))(*shape)
        self._memory = (ctypes.c_float * 64)()
        at = ctypes.addressof(self._memory)
        self._tensor = DLTensor(at, 1, 0, len(shape), 2, 32, 1, self._sizes, None, 0)
        self.value = host.Any(TENSOR_POINTER, 0, ctypes.addressof(self._tensor))


def test_a_call_from_c_draws_the_shapes(k) -> None:
    rows = host.function(host.load(k.path), "rows")
    given = [Floats(4, 8), Floats(5)]
    arguments, result = (host.Any * 2)(*(each.value for each in given)), host.Any()
    assert host.lib().kp_call(ctypes.byref(rows), arguments, 2, ctypes.byref(result)) == -1
    error = host.take_error()
    assert (error.kind, error.message) == (
        "ValueError",
        "rows: w: expected shape [D] with D = 8 (bound by a), got [5]\n"
        "    a: f32[N, D] = [4, 8]\n"
        "    w: f32[D]    = [5]\n"
        "                    ^ D is 8 in a",
    )
