"""The files that a build read, looked for and made: the second half of a key, written beside the result."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from kernpack_sdk.cache import private

_State = tuple[int, ...]
_SIZE, _TIMES = 2, slice(3, 5)
_LARGE = 1 << 22  # bytes: compilers


@dataclass(frozen=True)
class Record:
    files: dict[str, tuple[_State, str]]  # by path: state and digest of each file that was read
    absent: list[str]  # paths that were looked for, or may have been: a file there would have been read instead
    preprocessed: str  # digest of the preprocessed source where look-ups cannot be listed; else ""
    result: str  # the result's name, which ends in a digest of its content

    def holds(self) -> bool:
        """True if no file has changed. Reads a file only if its state has changed."""
        return not any(map(_exists, self.absent)) and all(
            _state(path) == tuple(state) or (digest and _digest(path) == digest)
            for path, (state, digest) in self.files.items()
        )


def take(paths: Iterable[str], started: int) -> dict[str, tuple[_State, str]] | None:
    """The files' states and contents, of large ones the state alone; None when one changed while it was read: nobody knows which content was compiled."""
    files = {}
    for path in paths:
        state = _state(path)
        digest = _digest(path) if state is not None and state[_SIZE] < _LARGE else ""
        if state is None or digest is None or max(state[_TIMES]) >= started or _state(path) != state:
            return None
        files[path] = (state, digest)
    return files


def absent(candidates: Iterable[str]) -> list[str]:
    """Those where nothing is, each by its topmost folder that isn't there: few questions answer for all."""
    found: set[str] = set()
    known: dict[str, bool] = {}
    for path in candidates:
        if _exists(path):
            continue
        while not known.setdefault(parent := os.path.dirname(path), _exists(parent)):
            path = parent
        found.add(path)
    return sorted(found)


def read(path: Path) -> Record | None:
    """None where there is none, or it isn't what was written."""
    digest, _, body = (private.read(path) or b"").partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        return None
    with contextlib.suppress(ValueError, TypeError):
        return Record(**json.loads(body))
    return None


def write(path: Path, record: Record) -> None:
    body = json.dumps(asdict(record)).encode("utf-8", "surrogateescape")
    private.write(path, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def compute_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _exists(path: str) -> bool:
    return os.access(path, os.F_OK)


def _state(path: str) -> _State | None:
    """A state that changes whenever the content changes: device, number, size, times. The time of change (ctime) cannot be set back."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _digest(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
