"""Folders and files that only their user writes: what lies in a cache is executed."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

if sys.platform == "win32":
    from kernpack_sdk.cache import windows

    _WRITABLE_BY_OTHERS = 0  # modes don't say it there
    _READ = os.O_RDONLY | os.O_BINARY
else:
    import fcntl

    _WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
    _READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_DAY = 86400  # seconds


def folder(path: Path) -> Path:
    """Makes it, or sees that it is fit to be trusted. Raises PermissionError for a folder of another user."""
    path = path.absolute()
    for missing in reversed([path, *path.parents]):
        with contextlib.suppress(FileExistsError):
            os.mkdir(missing, 0o700)
    state = path.stat()
    if not stat.S_ISDIR(state.st_mode):
        raise NotADirectoryError(f"the cache folder {path} isn't a folder; remove it, or set KERNPACK_CACHE_DIR")
    if not _ours(path, state):
        others = _whose(state)
        raise PermissionError(
            f"the cache folder {path} belongs to {others}; what lies there would be executed: set KERNPACK_CACHE_DIR to a "
            "folder of your own"
        )
    if state.st_mode & _WRITABLE_BY_OTHERS:
        os.chmod(path, 0o700)
    return path


def read(path: Path) -> bytes | None:
    """The content of a file; None where there is none, or others could have written it."""
    try:
        with open(os.open(path, _READ), "rb") as file:
            state = os.fstat(file.fileno())
            if stat.S_ISREG(state.st_mode) and _ours(path, state) and not state.st_mode & _WRITABLE_BY_OTHERS:
                return file.read()
    except OSError:
        pass
    return None


def write(path: Path, content: bytes) -> None:
    """Replaces it in one step: readers see the old file or the new one, whole."""
    handle, partial = _locked(lambda: tempfile.mkstemp(prefix=".partial_", dir=path.parent))
    try:
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            if sys.platform != "win32":  # the lock ends with the file's closing; Windows moves no open file
                put(Path(partial), path)
        if sys.platform == "win32":
            put(Path(partial), path)
    finally:
        Path(partial).unlink(missing_ok=True)


def put(made: Path, path: Path) -> None:
    """Moves a finished file to its place, whatever lies there."""
    os.chmod(made, 0o700 if made.suffix == ".so" else 0o600)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    try:
        os.replace(made, path)
    except PermissionError:  # on Windows, a process has loaded the file that is there
        if sys.platform != "win32" or path.read_bytes() != made.read_bytes():
            raise


@contextlib.contextmanager
def scratch(parent: Path) -> Iterator[Path]:
    """A folder for one build, removed afterwards. Removes those of builds that were killed."""
    _drop_killed(parent)
    handle, name = _locked(lambda: _new_folder(parent))
    try:
        yield Path(name)
    finally:
        shutil.rmtree(name, ignore_errors=True)
        os.close(handle)


def _new_folder(parent: Path) -> tuple[int, str]:
    while True:
        name = tempfile.mkdtemp(prefix=".build_", dir=parent)
        if sys.platform == "win32":  # opens no folders
            return os.open(os.devnull, os.O_RDONLY), name
        with contextlib.suppress(
            FileNotFoundError
        ):  # another process took it for a killed one's before it could be locked
            return os.open(name, os.O_RDONLY | os.O_CLOEXEC), name


def _locked(make: Callable[[], tuple[int, str]]) -> tuple[int, str]:
    """The file that `make` made, locked as long as this process has it open. The lock tells it from a file that a killed process left."""
    while True:
        handle, name = make()
        if sys.platform == "win32":
            return handle, name
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another process takes it for a killed one's, and removes it
            os.close(handle)
            continue
        except OSError:  # a file system without locks
            return handle, name
        if os.path.lexists(name):
            return handle, name
        os.close(handle)


def _drop_killed(parent: Path) -> None:
    for left in [*parent.glob(".build_*"), *parent.glob(".partial_*")]:
        with contextlib.suppress(OSError):
            if sys.platform == "win32":  # without locks: no build takes a day
                if left.stat().st_mtime < time.time() - _DAY:
                    shutil.rmtree(left) if left.is_dir() else left.unlink()
                continue
            handle = os.open(left, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if stat.S_ISDIR(os.fstat(handle).st_mode):
                    shutil.rmtree(left)
                else:
                    left.unlink()
            finally:
                os.close(handle)


def _ours(path: Path, state: os.stat_result) -> bool:
    if sys.platform == "win32":
        return windows.is_ours(path)
    return state.st_uid in (os.geteuid(), 0)  # who is root needs no cache to run code


def _whose(state: os.stat_result) -> str:
    if sys.platform == "win32":
        return "another user"
    return f"user {state.st_uid}, and this is user {os.geteuid()}"
