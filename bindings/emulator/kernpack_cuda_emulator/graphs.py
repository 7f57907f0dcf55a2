"""Graphs: what is queued on a stream, kept and queued again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import c_int, c_void_p
from typing import Any

from ._library import library

_GLOBAL, _INTACT = 0, 1  # CUstreamCaptureMode, CUstreamCaptureStatus


class GraphError(RuntimeError):
    """The stream can't be captured, or something inside broke the capture."""


class Graph:
    """A captured stream. It reads and writes the memory that the calls used, which must still exist."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def launch(self) -> None:
        """Queues it on its stream, as often as is wanted. Until the stream's next capture."""
        library().kernpack_emulator_launch_graph(c_void_p(self._stream.handle))


@contextmanager
def captured(stream: Any) -> Iterator[Graph]:
    """Keeps what is queued on a `kernpack.Stream` of the emulated device, in place of running it, as cudaStreamBeginCapture does.
    Calls have to be made on that stream (`with kernpack.stream(stream)`), into memory that outlives the graph (`out=`), and once
    before, so that workspaces exist. Raises GraphError at the end if something inside can't be captured."""
    if not os.environ.get("KERNPACK_EMULATOR"):
        raise RuntimeError(
            "captured: set KERNPACK_EMULATOR before the process starts, as only the emulated device is captured"
        )
    if getattr(getattr(stream, "device", None), "type", None) != "cuda":
        raise TypeError(f"captured: expected a kernpack.Stream of a cuda device, got {stream!r}")
    if not stream.handle:
        raise GraphError("captured: expected a stream of its own, got the default stream, which can't be captured")
    if library().kernpack_emulator_begin_capture(c_void_p(stream.handle), c_int(_GLOBAL)) != 0:
        raise GraphError("captured: the stream is being captured already")
    try:
        yield Graph(stream)
    except BaseException:
        library().kernpack_emulator_end_capture(c_void_p(stream.handle))
        raise
    if library().kernpack_emulator_end_capture(c_void_p(stream.handle)) != _INTACT:
        raise GraphError(
            "captured: the capture is broken: something inside waited for the device, or used another stream "
            "that doesn't join this one"
        )
