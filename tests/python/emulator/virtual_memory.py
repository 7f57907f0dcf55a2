"""Memory that the program maps itself (cuMemCreate, cuMemAddressReserve, cuMemMap), by ctypes. The word says which part."""

from __future__ import annotations

import ctypes as c
import os
import subprocess
import sys
from collections.abc import Callable

from driver_calls import begin, call, launch, need

PIECE = 2 << 20
_ILLEGAL_ADDRESS = 700


class _Properties(c.Structure):
    _fields_ = (
        ("type", c.c_int),
        ("handle_types", c.c_int),
        ("location", c.c_int * 2),
        ("windows", c.c_void_p),
        ("hints", c.c_uint8 * 8),
    )


class _Access(c.Structure):
    _fields_ = (("location", c.c_int * 2), ("flags", c.c_int))


def properties(device: int = 0, handle_types: int = 0) -> _Properties:
    return _Properties(1, handle_types, (1, device))


def create(bytes_: int = PIECE, handle_types: int = 0) -> int:
    handle = c.c_uint64()
    need("cuMemCreate", c.byref(handle), bytes_, c.byref(properties(0, handle_types)), 0)
    return handle.value


def reserve(bytes_: int) -> int:
    address = c.c_uint64()
    need("cuMemAddressReserve", c.byref(address), bytes_, 0, 0, 0)
    return address.value


def allow(address: int, bytes_: int, device: int = 0, flags: int = 3) -> int:
    return call("cuMemSetAccess", address, bytes_, c.byref(_Access((1, device), flags)), 1)


def words(address: int, count: int) -> list[int]:
    out = (c.c_uint32 * count)()
    need("cuMemcpyDtoH", out, address, 4 * count)
    return list(out)


def said(result: int) -> str:
    text = c.c_char_p()
    need("cuGetErrorString", result, c.byref(text))
    return (text.value or b"").decode()


def grown() -> None:
    """A segment grows by a piece: copies, fills and kernels use both pieces at once, as torch's expandable segments do."""
    kernel, _ = begin()
    free = [c.c_size_t(), c.c_size_t()]
    before = c.c_size_t()
    need("cuMemGetInfo", c.byref(before), c.byref(c.c_size_t()))
    address = reserve(3 * PIECE)
    handles = [create(), create()]
    for i, handle in enumerate(handles):
        need("cuMemMap", address + i * PIECE, PIECE, 0, handle, 0)
        need("cuMemRelease", handle)  # the mapping keeps it
    assert allow(address, 2 * PIECE) == 0
    need("cuMemGetInfo", c.byref(free[0]), c.byref(free[1]))
    assert before.value - free[0].value == 2 * PIECE
    middle = address + PIECE - 64
    assert launch(kernel, middle, 32) == 0
    assert words(middle, 32) == list(range(32))
    need("cuMemsetD32", middle, 7, 32)
    assert words(middle, 32) == [7] * 32
    need("cuStreamWriteValue32", None, middle, 8, 0)
    need("cuStreamWriteValue64", None, middle + 8, 9 << 32, 1)
    assert words(middle, 4) == [8, 7, 0, 9]
    assert call("cuStreamWriteValue32", None, middle + 2, 8, 0) == 1  # not aligned
    need("cuMemUnmap", address, 2 * PIECE)
    need("cuMemGetInfo", c.byref(free[0]), c.byref(free[1]))
    assert before.value == free[0].value
    need("cuMemAddressFree", address, 3 * PIECE)


def twice() -> None:
    """Memory that is mapped at two addresses is one memory, and so is what has been written of it."""
    kernel, _ = begin()
    address, handle = reserve(2 * PIECE), create()
    for at in (address, address + PIECE):
        need("cuMemMap", at, PIECE, 0, handle, 0)
    assert allow(address, 2 * PIECE) == 0
    assert launch(kernel, address, 32) == 0
    assert words(address + PIECE, 32) == list(range(32))
    retained = c.c_uint64()
    need("cuMemRetainAllocationHandle", c.byref(retained), address + PIECE + 5)
    assert retained.value == handle
    facts = _Properties()
    need("cuMemGetAllocationPropertiesFromHandle", c.byref(facts), handle)
    assert (facts.type, list(facts.location)) == (1, [1, 0])


def before_access() -> None:
    kernel, _ = begin()
    address = reserve(PIECE)
    need("cuMemMap", address, PIECE, 0, create(), 0)
    flags = c.c_uint64(9)
    need("cuMemGetAccess", c.byref(flags), c.byref((c.c_int * 2)(1, 0)), address)
    assert flags.value == 0
    assert launch(kernel, address, 32) == _ILLEGAL_ADDRESS
    print(said(_ILLEGAL_ADDRESS))


def after_unmapping() -> None:
    kernel, _ = begin()
    address = reserve(PIECE)
    need("cuMemMap", address, PIECE, 0, create(), 0)
    assert allow(address, PIECE) == 0
    need("cuMemUnmap", address, PIECE)
    assert launch(kernel, address, 32) == _ILLEGAL_ADDRESS
    print(said(_ILLEGAL_ADDRESS))


def wrong() -> None:
    """Each call has one mistake; the results are printed."""
    begin()
    address, handle, out = reserve(4 * PIECE), create(2 * PIECE), c.c_uint64()
    need("cuMemMap", address, 2 * PIECE, 0, handle, 0)
    calls: dict[str, Callable[[], int]] = {
        "no whole pieces": lambda: call("cuMemCreate", c.byref(out), PIECE + 1, c.byref(properties()), 0),
        "more than there is": lambda: call("cuMemCreate", c.byref(out), 1 << 40, c.byref(properties()), 0),
        "no device 9": lambda: call("cuMemCreate", c.byref(out), PIECE, c.byref(properties(9)), 0),
        "fabric": lambda: call("cuMemCreate", c.byref(out), PIECE, c.byref(properties(0, 8)), 0),
        "mapped": lambda: call("cuMemMap", address + PIECE, PIECE, 0, handle, 0),
        "outside": lambda: call("cuMemMap", address + 3 * PIECE, 2 * PIECE, 0, handle, 0),
        "more than the handle": lambda: call("cuMemMap", address + 2 * PIECE, 4 * PIECE, 0, handle, 0),
        "no handle": lambda: call("cuMemMap", address + 2 * PIECE, PIECE, 0, 77, 0),
        "an offset": lambda: call("cuMemMap", address + 2 * PIECE, PIECE, PIECE, handle, 0),
        "between pieces": lambda: call("cuMemMap", address + 2 * PIECE + 512, PIECE, 0, handle, 0),
        "a part of a mapping": lambda: call("cuMemUnmap", address, PIECE),
        "nothing mapped": lambda: call("cuMemUnmap", address + 2 * PIECE, PIECE),
        "access to nothing": lambda: allow(address + 2 * PIECE, PIECE),
        "access of device 9": lambda: allow(address, 2 * PIECE, device=9),
        "reading alone": lambda: allow(address, 2 * PIECE, flags=1),
        "still mapped": lambda: call("cuMemAddressFree", address, 4 * PIECE),
        "cuMemFree": lambda: call("cuMemFree", address),
        "not to be shared": lambda: call("cuMemExportToShareableHandle", c.byref(out), handle, 1, 0),
        "a file of one's own": lambda: call("cuMemImportFromShareableHandle", c.byref(out), 0, 1),
        "released twice": lambda: call("cuMemRelease", handle) or call("cuMemRelease", handle),
    }
    for name, wrong_call in calls.items():
        print(f"{name}: {wrong_call()}")


def shared() -> None:
    """Another process maps the memory by a file descriptor."""
    kernel, _ = begin()
    handle, file = create(handle_types=1), c.c_int(-1)
    address = reserve(PIECE)
    need("cuMemMap", address, PIECE, 0, handle, 0)
    assert allow(address, PIECE) == 0
    need("cuMemExportToShareableHandle", c.byref(file), handle, 1, 0)
    assert launch(kernel, address, 32) == 0
    os.set_inheritable(file.value, True)
    subprocess.run([sys.executable, __file__, "taken", str(file.value)], close_fds=False, check=True)
    assert words(address, 32) == [9] * 32


def taken() -> None:
    begin()
    handle, address = c.c_uint64(), reserve(PIECE)
    need("cuMemImportFromShareableHandle", c.byref(handle), int(sys.argv[2]), 1)
    need("cuMemMap", address, PIECE, 0, handle.value, 0)
    assert allow(address, PIECE) == 0
    assert words(address, 32) == list(range(32))
    need("cuMemsetD32", address, 9, 32)


if __name__ == "__main__":
    {f.__name__: f for f in (grown, twice, before_access, after_unmapping, wrong, shared, taken)}[sys.argv[1]]()
