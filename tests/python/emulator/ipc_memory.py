"""Memory and events that another process opens (cuIpcGetMemHandle), by ctypes. The word says which part."""

from __future__ import annotations

import ctypes as c
import subprocess
import sys
from collections.abc import Callable

from driver_calls import begin, call, launch, need
from virtual_memory import said, words

_LAZY_PEERS, _NO_TIMING, _INTERPROCESS = 1, 2, 4


class Handle(c.Structure):
    _fields_ = (("bytes", c.c_uint8 * 64),)


def exported(memory: int) -> Handle:
    handle = Handle()
    need("cuIpcGetMemHandle", c.byref(handle), memory)
    return handle


def other(part: str, *handles: Handle) -> None:
    subprocess.run([sys.executable, __file__, part, *(bytes(each).hex() for each in handles)], check=True)


def given(word: int) -> Handle:
    return Handle.from_buffer_copy(bytes.fromhex(sys.argv[word]))


def opened(handle: Handle) -> int:
    memory = c.c_uint64()
    need("cuIpcOpenMemHandle", c.byref(memory), handle, _LAZY_PEERS)
    return memory.value


def shared() -> None:
    """The owner's kernel runs when it records the event; the other process waits for the event, reads and writes."""
    kernel, memory = begin()
    event, ready = c.c_void_p(), Handle()
    need("cuEventCreate", c.byref(event), _NO_TIMING | _INTERPROCESS)
    need("cuMemsetD32", memory, 5, 32)
    handle = exported(memory + 8)  # any address in it
    assert words(memory, 32) == [5] * 32
    pointer = c.c_uint64(memory)
    parameters = (c.c_void_p * 1)(c.addressof(pointer))
    need("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, None, parameters, None)
    need("cuEventRecord", event, None)
    need("cuIpcGetEventHandle", c.byref(ready), event)
    other("taken", handle, ready)
    assert words(memory, 32) == [9] * 32
    need("cuMemFree", memory)


def taken() -> None:
    begin()
    event = c.c_void_p()
    need("cuIpcOpenEventHandle", c.byref(event), given(3))
    need("cuStreamWaitEvent", None, event, 0)
    memory = opened(given(2))
    assert opened(given(2)) == memory
    assert words(memory, 32) == list(range(32))
    need("cuMemsetD32", memory, 9, 32)
    assert call("cuMemFree", memory) == 1
    for result in (0, 0, 1):
        assert call("cuIpcCloseMemHandle", memory) == result


def unwritten() -> None:
    """Bytes that nothing has written count as unwritten in the other process, too."""
    _, memory = begin()
    need("cuMemsetD32", memory, 5, 31)
    other("reads", exported(memory))


def reads() -> None:
    begin()
    source = b""".version 8.0
    .target sm_80
    .address_size 64
    .visible .entry r(.param .u64 p) {
    .reg .u32 %r<4>; .reg .u64 %d<4>;
    ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;
    ld.global.u32 %r1, [%d1]; st.global.u32 [%d1], %r1;
    ret;
    }
    """
    module, kernel, memory = c.c_void_p(), c.c_void_p(), opened(given(2))
    need("cuModuleLoadDataEx", c.byref(module), source, 0, None, None)
    need("cuModuleGetFunction", c.byref(kernel), module, b"r")
    assert launch(kernel, memory, 31) == 0
    result = launch(kernel, memory, 32)
    assert result != 0
    print(said(result))


def wrong() -> None:
    """Each call has one mistake; the results are printed."""
    _, memory = begin()
    out, event, timed = c.c_uint64(), c.c_void_p(), c.c_void_p()
    need("cuEventCreate", c.byref(timed), 0)
    handle = exported(memory)
    ended = Handle.from_buffer_copy(bytes(handle))
    c.c_int.from_buffer(ended, 24).value = 1 << 22  # a process that can't be
    calls: dict[str, Callable[[], int]] = {
        "its own": lambda: call("cuIpcOpenMemHandle", c.byref(out), handle, _LAZY_PEERS),
        "no flag": lambda: call("cuIpcOpenMemHandle", c.byref(out), handle, 0),
        "garbage": lambda: call("cuIpcOpenMemHandle", c.byref(out), Handle(), _LAZY_PEERS),
        "ended": lambda: call("cuIpcOpenMemHandle", c.byref(out), ended, _LAZY_PEERS),
        "no memory": lambda: call("cuIpcGetMemHandle", c.byref(Handle()), 4096),
        "never opened": lambda: call("cuIpcCloseMemHandle", memory),
        "not of events": lambda: call("cuIpcOpenEventHandle", c.byref(event), handle),
        "an event with time": lambda: call("cuIpcGetEventHandle", c.byref(Handle()), timed),
        "a shared event with time": lambda: call("cuEventCreate", c.byref(event), _INTERPROCESS),
    }
    for name, wrong_call in calls.items():
        print(f"{name}: {wrong_call()}")


if __name__ == "__main__":
    {f.__name__: f for f in (shared, taken, unwritten, reads, wrong)}[sys.argv[1]]()
