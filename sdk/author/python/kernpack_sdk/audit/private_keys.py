"""Private keys in what is published: a project's folder, its source distribution, a wheel. Only names are told, never content."""

from __future__ import annotations

import os
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from kernpack_sdk import archive

# PEM of every kind, OpenSSH's and PGP's. Data has to follow: a program that names the line holds no key.
_PEM = re.compile(
    rb"-----BEGIN (?:[A-Z0-9]+ ){0,2}PRIVATE KEY(?: BLOCK)?-----\s+(?:[A-Za-z0-9-]+: [^\r\n]*\s+)*[A-Za-z0-9+/]{24}"
)
_ED25519_DER = bytes.fromhex("302e020100300506032b657004220420")  # PKCS #8 of such a key begins so
_MARK = b"PRIVATE KEY"
_PIECE, _OVERLAP = 1 << 20, 1 << 12
# Folders that no source distribution takes.
_LEFT_OUT = {".git", ".hg", ".svn", "__pycache__", "node_modules", ".tox", ".nox", ".venv"}
_LEFT_OUT_AT_TOP = {"build", "dist"}

ADVICE = "delete it there, move the key out of the project, and replace the key if anyone else may have the file"


def is_sdist(path: Path) -> bool:
    return path.name.endswith((".tar.gz", ".tgz", ".tar", ".zip"))


def in_archive(path: Path) -> list[str]:
    """The members of a wheel or a source distribution that hold one. ValueError for what can't be read."""
    try:
        if zipfile.is_zipfile(path):
            with archive.opened(path) as opened:
                members = (info for info in opened.infolist() if not info.is_dir())
                return [info.filename for info in members if _holds_one(opened.open(info))]
        with tarfile.open(path) as opened:
            return list(_in_tar(path, opened))
    except (
        tarfile.TarError,
        OSError,
        *archive.DAMAGED,
    ) as error:
        raise ValueError(
            f"{path}: expected a source distribution or a wheel, got a file that can't be read: {error}"
        ) from None


def _in_tar(path: Path, opened: tarfile.TarFile) -> Iterator[str]:
    total = 0
    for member in opened:
        total += member.size
        archive.check_growth(path, total)
        content = opened.extractfile(member) if member.isfile() else None
        if content and _holds_one(content):
            yield member.name


def in_project(root: Path) -> list[str]:
    """The files below a project's folder that hold one, but for those in folders that aren't packed."""
    return [file.relative_to(root).as_posix() for file in _files(root) if _file_holds_one(file)]


def find_project(path: Path) -> Path | None:
    """The folder with the pyproject.toml that a file belongs to."""
    return next((folder for folder in path.absolute().parents if (folder / "pyproject.toml").is_file()), None)


def _files(root: Path) -> Iterator[Path]:
    for name, folders, files in os.walk(root):
        folder = Path(name)
        left_out = _LEFT_OUT | (_LEFT_OUT_AT_TOP if folder == root else set())
        folders[:] = sorted(
            each for each in folders if each not in left_out and not (folder / each / "pyvenv.cfg").exists()
        )
        yield from (folder / each for each in sorted(files) if (folder / each).is_file())


def _file_holds_one(file: Path) -> bool:
    try:
        return _holds_one(file.open("rb"))
    except OSError:  # what can't be read can't be packed
        return False


def _holds_one(stream: IO[bytes]) -> bool:
    with stream:
        piece = stream.read(_PIECE)
        if piece.startswith(_ED25519_DER):
            return True
        while piece:
            if _MARK in piece and _PEM.search(piece):
                return True
            more = stream.read(_PIECE)
            piece = piece[-_OVERLAP:] + more if more else b""
    return False
