"""Lock files: which kernel wheels an environment has, down to the digest of each file. With the standard library alone.

The loader reads a lock too, where KERNPACK_REQUIRE_LOCK is set: ffi/src/base/loader/lock.cc. docs/lock.md describes the format.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from kernpack._system import SUFFIX

FORMAT = 1
DEFAULT = "kernpack.lock"
VARIABLE = "KERNPACK_REQUIRE_LOCK"
_GROUPS = ("kernpack.modules", "kernpack.backends")
# Written by installers, each in its own way; they aren't in the wheel.
_INSTALLERS = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json", "uv_build.json")
_QUERY = re.compile(rb"\0kp_(?:module|backend)_v(\d+)\0")  # the name of what a module exports, in its string table


class LockError(Exception):
    """`kind` is one of the words that `kernpack verify --json` gives as "problem"."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


@dataclass(frozen=True)
class Wheel:
    name: str
    version: str
    abi: int | None  # the major of its modules' ABI; None where it holds no module
    platforms: tuple[str, ...]
    files: dict[str, str]  # path from site-packages: "sha256=..." as RECORD has it


def default_path() -> Path:
    """The lock that the loader would use, or ./kernpack.lock."""
    wanted = os.environ.get(VARIABLE, "")
    return Path(DEFAULT if wanted in ("", "0", "1") else wanted)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def kernel_distributions() -> Iterator[metadata.Distribution]:
    """kernpack itself, and what announces kernels or needs kernpack. Of two with one name the first on sys.path counts."""
    seen = set()
    for found in metadata.distributions():
        name = normal(found.metadata["Name"] or "")
        if not name or name in seen:
            continue
        seen.add(name)
        if name == "kernpack-sdk":  # builds kernels, and holds none
            continue
        needs = any(re.match(r"kernpack(?![\w.-])", line) and "extra ==" not in line for line in found.requires or ())
        if name == "kernpack" or needs or any(point.group in _GROUPS for point in found.entry_points):
            yield found


def installed(found: metadata.Distribution) -> Wheel:
    """Reads the installed files. Raises LockError if they differ from the files of a wheel."""
    name, version = normal(found.metadata["Name"]), found.version
    origin = json.loads(found.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        raise LockError(
            "editable", f"{name} is an editable install, whose files can change at any time; install its wheel instead"
        )
    files, majors = {}, set()
    for file in found.files or ():
        if file.hash is None or str(file).startswith("..") or file.name in _INSTALLERS or file.suffix == ".pyc":
            continue
        content = _content(Path(str(found.locate_file(file))), name)
        files[str(file)] = digest_text(content)
        if file.suffix == SUFFIX:
            majors |= {int(major) for major in _QUERY.findall(content)}
    if not files:
        raise LockError("corrupt", f"{name} {version}: its RECORD lists no file with a digest; install its wheel again")
    wheel = found.read_text("WHEEL") or ""
    tags = [line.partition(":")[2].strip().rpartition("-")[2] for line in wheel.splitlines() if line.startswith("Tag:")]
    platforms = sorted({one for tag in tags for one in tag.split(".")})
    return Wheel(name, version, max(majors, default=None), tuple(platforms), dict(sorted(files.items())))


def _content(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise LockError("missing-file", f"{name}: no file {path}; install its wheel again") from None
    except OSError as error:
        raise LockError("unreadable", f"{name}: {path} can't be read: {error.strerror}") from None


def digest_text(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return "sha256=" + digest.rstrip(b"=").decode()


def changed_since_installed(found: metadata.Distribution, wheel: Wheel) -> list[str]:
    """The files that aren't what RECORD says."""
    recorded = {str(file): f"{file.hash.mode}={file.hash.value}" for file in found.files or () if file.hash}
    return [file for file, digest in wheel.files.items() if recorded[file] != digest]


def lock() -> list[Wheel]:
    """Of all kernel wheels that are installed. Raises LockError."""
    wheels = []
    for found in kernel_distributions():
        wheel = installed(found)
        if changed := changed_since_installed(found, wheel):
            raise LockError(
                "tampered",
                f"{wheel.name} {wheel.version}: {changed[0]} isn't what was installed; run `pip install --force-reinstall "
                f"{wheel.name}=={wheel.version}`, then lock again",
            )
        wheels.append(wheel)
    return sorted(wheels, key=lambda wheel: wheel.name)


def write(path: Path, wheels: list[Wheel]) -> None:
    """As a whole or not at all."""
    text = json.dumps({"kernpack_lock": FORMAT, "wheels": [asdict(wheel) for wheel in wheels]}, indent=1) + "\n"
    try:
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            os.chmod(partial, 0o644)
            os.replace(partial, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(partial)
            raise
    except OSError as error:
        raise LockError("unreadable", f"{path} can't be written: {error.strerror}") from None


def read(path: Path) -> list[Wheel]:
    """Raises LockError of kind "unreadable" or "corrupt"."""
    try:
        if not path.is_file() and path.exists():
            raise LockError(
                "unreadable", f"'{path}' isn't a regular file; expected a lock, which `kernpack lock` writes"
            )
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise LockError(
            "unreadable", f"the lock '{path}' can't be read: {error.strerror}; `kernpack lock` writes one"
        ) from None
    except UnicodeDecodeError:
        raise _corrupt(path, "it isn't text in UTF-8") from None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _corrupt(path, f"it isn't JSON ({error})") from None
    if not isinstance(found, dict) or "kernpack_lock" not in found:
        raise _corrupt(path, 'it has no key "kernpack_lock"')
    if found["kernpack_lock"] != FORMAT:
        raise _corrupt(path, f"its format is {found['kernpack_lock']!r}, this version reads {FORMAT}")
    if not isinstance(found.get("wheels"), list):
        raise _corrupt(path, 'it has no list "wheels"')
    return [_wheel(path, entry) for entry in found["wheels"]]


def _corrupt(path: Path, why: str) -> LockError:
    return LockError("corrupt", f"'{path}' isn't a lock file: {why}; `kernpack lock` writes it anew")


def _wheel(path: Path, entry: Any) -> Wheel:
    if not isinstance(entry, dict):
        raise _corrupt(path, 'an entry of "wheels" isn\'t an object')
    for key in ("name", "version"):
        if not isinstance(entry.get(key), str):
            raise _corrupt(path, f'a wheel has no "{key}"')
    abi, platforms, files = (entry.get(key) for key in ("abi", "platforms", "files"))
    if "abi" not in entry or not (abi is None or (type(abi) is int and abi >= 0)):
        raise _corrupt(path, f'{entry["name"]} has no "abi"')
    if not isinstance(platforms, list) or not all(isinstance(each, str) for each in platforms):
        raise _corrupt(path, f'{entry["name"]} has no list "platforms"')
    if not isinstance(files, dict) or not all(isinstance(each, str) for each in files.values()):
        raise _corrupt(path, f'{entry["name"]} has no "files"')
    return Wheel(entry["name"], entry["version"], abi, tuple(platforms), files)
