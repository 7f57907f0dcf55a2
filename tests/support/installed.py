"""A module as pip leaves it: in a package, with its hash in the RECORD of its distribution."""

from __future__ import annotations

import base64
import hashlib
import shutil
from pathlib import Path


def record_line(path: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(content)}\n"


def install(built: Path, site: Path, name: str, version: str, *, package: str = "", installer: str = "pip") -> Path:
    """Where the module lies then."""
    module = name.replace("-", "_")
    package = package or module
    target = site / package / built.name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(built, target)
    info = site / f"{module}-{version}.dist-info"
    info.mkdir()
    (info / "INSTALLER").write_text(f"{installer}\n")
    lines = ["other/__init__.py,,\n", record_line(f"{package}/{built.name}", built.read_bytes())]
    (info / "RECORD").write_text("".join(lines))
    return target
