"""The times of kernels, for a part of a program."""

from __future__ import annotations

import json
import os
from types import TracebackType
from typing import Any

from kernpack import _core

_TABLE, _JSON, _TRACE = range(3)  # KpProfileText in kernpack/host/host.h


class profile:  # noqa: N801  called like a function, as checking() is
    """Records calls of kernels: per operation the count, the time and the bytes of its tensors.

        with kernpack.profile() as p:
            k.my_op(x)
        print(p)                  # a table
        p.save("trace.json")      # for https://ui.perfetto.dev or chrome://tracing
        p.ops                     # the rows, as dicts

    It records all threads and all ways to call a kernel. Times are those inside the kernel, without the framework around it; on a
    device, the time to queue the work. `file`: the trace is written there at the end of the block. `max_events`: the capacity of
    the trace; further calls are only counted. KERNPACK_PROFILE=trace.json in the environment is one such block around the whole
    program.
    """

    def __init__(self, file: str | os.PathLike[str] | None = None, *, max_events: int = 1_000_000) -> None:
        if not isinstance(max_events, int) or isinstance(max_events, bool) or max_events < 0:
            raise ValueError(f"kernpack.profile: max_events: expected a count of calls, 0 or more, got {max_events!r}")
        self._file = None if file is None else os.fspath(file)
        self._max_events = max_events
        self._recorded: Any = None

    def __enter__(self) -> profile:
        self._recorded = _core.profile_begin(self._max_events)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _core.profile_end(self._recorded)
        if self._file is not None:
            self.save(self._file)

    def _text(self, kind: int) -> str:
        if self._recorded is None:
            raise RuntimeError("kernpack.profile: nothing was recorded; use it as `with kernpack.profile() as p:`")
        text: str = _core.profile_text(self._recorded, kind)
        return text

    @property
    def ops(self) -> list[dict[str, Any]]:
        """One dict per operation and variant, the longest first: module, function, target, calls, failed, total_ns, self_ns,
        shortest_ns, longest_ns, bytes."""
        return list(self.to_dict()["ops"])

    def to_dict(self) -> dict[str, Any]:
        """`ops`, and wall_ns, calls, left_out_of_trace."""
        facts: dict[str, Any] = json.loads(self._text(_JSON))
        return facts

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the calls as a trace that Perfetto and chrome://tracing open."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._text(_TRACE))

    def __str__(self) -> str:
        return self._text(_TABLE).rstrip("\n")

    def __repr__(self) -> str:
        return (
            "kernpack.profile()" if self._recorded is None else f"<kernpack.profile of {self.to_dict()['calls']} calls>"
        )
