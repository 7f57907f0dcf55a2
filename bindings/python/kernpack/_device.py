"""Devices there are, and streams of work on them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from kernpack import _core
from kernpack._device_facts import load_installed_backends


def devices(kind: str | None = None) -> list[_core.Device]:
    """Every device of every backend, or of one kind ("opencl"); opens drivers.

    A driver that is not installed means no devices of its kind, not an error: kernpack.info() tells the reason. But where
    KERNPACK_EMULATOR asks for emulated CUDA devices, their absence is an error.
    """
    load_installed_backends()
    kinds = _core.backend_names() if kind is None else [kind]
    return [_core.Device(name, index) for name in kinds for index in range(_count(name))]


def _count(kind: str) -> int:
    count, reason = _core.device_count(kind)
    if count == 0 and kind == "cuda" and os.environ.get("KERNPACK_EMULATOR"):
        raise RuntimeError(f"kernpack.devices: {reason}")
    return count


def load_backend(path: Any) -> None:
    """Makes the backends of a plugin shared object known. Opens no driver."""
    _core.backend_load(str(path))


class Stream:
    """A queue of work of one device; freed with its last reference. Work on different streams may overlap.

    `handle` is the driver's handle (a cudaStream_t, a cl_command_queue); 0 is the default stream, the only one of a device
    with a single queue.
    """

    def __init__(self, device: Any, priority: int = 0) -> None:
        self.device = _core.Device(device)
        self.handle = _core.stream_new(self.device, priority)
        self._owned = True

    @classmethod
    def external(cls, device: Any, handle: int) -> Stream:
        """A stream that something else owns, torch for one; it must outlive this object's use."""
        self = cls.__new__(cls)
        self.device = _core.Device(device)
        self.handle = handle
        self._owned = False
        return self

    def sync(self) -> None:
        """Waits until all that was queued is done; errors of that work are raised here."""
        _core.stream_sync(self.device, self.handle)

    def done(self) -> bool:
        """True if no work is queued."""
        return _core.stream_query(self.device, self.handle)

    def wait(self, other: Stream) -> None:
        """Makes later work on this stream wait for the work queued on `other` now; returns immediately."""
        if other.device != self.device:
            raise ValueError(f"Stream.wait: this stream is on {self.device}, the other on {other.device}")
        _core.stream_wait(self.device, self.handle, other.handle)

    def __del__(self) -> None:
        if getattr(self, "_owned", False) and self.handle:
            with contextlib.suppress(Exception):  # the driver may refuse, in a forked child for one
                _core.stream_free(self.device, self.handle)

    def __eq__(self, other: object) -> bool:
        """True if both are one queue of the driver, whoever owns it."""
        if not isinstance(other, Stream):
            return NotImplemented
        return self.device == other.device and self.handle == other.handle

    def __hash__(self) -> int:
        return hash((self.device, self.handle))

    def __repr__(self) -> str:
        return f"kernpack.Stream({str(self.device)!r}, handle={self.handle:#x})"


@contextlib.contextmanager
def stream(queue: Stream) -> Iterator[Stream]:
    """Makes a stream current for this thread and its device, and the one before it current again afterwards."""
    previous = _core.stream_set(queue.device, queue.handle)
    try:
        yield queue
    finally:
        _core.stream_set(queue.device, previous)


def current_stream(device: Any) -> Stream:
    """Returns the stream on which this thread queues work for the device."""
    where = _core.Device(device)
    return Stream.external(where, _core.stream_get(where))
