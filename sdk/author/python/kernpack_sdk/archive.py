"""Opening wheels that nobody vouches for: `check`, `inspect` and `test` unpack what they are given."""

from __future__ import annotations

import errno
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

_LARGE = 1 << 30  # bytes; what a small archive may unpack to
# Raised by zipfile for an archive that is damaged, encrypted, or packed in a way that Python can't unpack.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
# Raised where two of its names can't both be files, or one is too long.
_NAMES = (FileExistsError, NotADirectoryError, IsADirectoryError)
_RATIO = 100  # by which a larger one may grow: compiled code grows to three or four times its size, text to ten


def unpack(wheel: Path, folder: Path) -> None:
    """All of a wheel's files, below `folder`. ValueError for what isn't a wheel, or is made to harm who opens it."""
    with reading(wheel), opened(wheel) as archive:
        archive.extractall(folder)


@contextmanager
def reading(wheel: Path) -> Iterator[None]:
    """ValueError for what the files of an opened archive raise when they are read or unpacked."""
    try:
        yield
    except OSError as error:
        if not isinstance(error, _NAMES) and error.errno not in (errno.ENAMETOOLONG, errno.EINVAL):
            raise  # the disk is full, say
        raise ValueError(f"{wheel}: expected a wheel, got a file that can't be read: {error}") from None
    except DAMAGED as error:
        raise ValueError(f"{wheel}: expected a wheel, got a file that can't be read: {error}") from None


def opened(wheel: Path) -> zipfile.ZipFile:
    """A wheel whose names and sizes have been looked at. ValueError as above."""
    try:
        archive = zipfile.ZipFile(wheel)
    except (*DAMAGED, OSError) as error:
        raise ValueError(f"{wheel}: expected a wheel, got a file that can't be read: {error}") from None
    try:
        _look(wheel, archive)
    except ValueError:
        archive.close()
        raise
    return archive


def _look(wheel: Path, archive: zipfile.ZipFile) -> None:
    for entry in archive.infolist():
        if not entry.filename:
            raise ValueError(f"{wheel}: contains a file without a name: don't install it")
        path = PurePosixPath(entry.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts:
            raise ValueError(
                f"{wheel}: contains a path that leads outside the wheel, '{entry.filename}': don't install it"
            )
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise ValueError(
                f"{wheel}: holds a symbolic link, '{entry.filename}', which wheels can't: don't install it"
            )
    # zipfile never unpacks more of a file than the archive says that it has.
    check_growth(wheel, sum(entry.file_size for entry in archive.infolist()))


def check_growth(file: Path, unpacked: int) -> None:
    """ValueError for an archive that so many bytes come out of, if no honest one has so many."""
    size = file.stat().st_size
    if unpacked > _LARGE and unpacked > _RATIO * size:
        raise ValueError(
            f"{file}: {size} bytes that unpack to {unpacked}, as in a decompression bomb: don't install it"
        )
