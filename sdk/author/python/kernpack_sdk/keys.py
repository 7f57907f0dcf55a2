"""Where an author's keys are: outside of every project, readable by the author alone."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path

from kernpack_sdk.audit import private_keys
from kernpack_sdk.signature import SignatureError

DEFAULT = "default"


def folder() -> Path:
    """$XDG_CONFIG_HOME, which has to be absolute, or ~/.config."""
    configured = os.environ.get("XDG_CONFIG_HOME", "")
    base = Path(configured) if os.path.isabs(configured) else Path.home() / ".config"
    return base / "kernpack" / "keys"


def private_file(name: str = DEFAULT) -> Path:
    return folder() / f"{name}.pem"


def generate(name: str) -> tuple[Path, Path]:
    """The files of a new private key and its public one. None is ever replaced."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name):
        raise SignatureError("no-key", f"'{name}' can't be a key's name: expected letters, digits, '.', '-' and '_'")
    private = private_file(name)
    public = private.with_name(f"{name}.pub")
    for file in (private, public):
        if file.exists():
            raise SignatureError("no-key", f"{file} is there already; choose another name: kernpack keygen --name NAME")
    key, pem = Ed25519PrivateKey.generate(), serialization.Encoding.PEM
    private.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _write(private, key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()), mode=0o600)
    _write(public, key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo), mode=0o644)
    return private, public


def _write(file: Path, content: bytes, mode: int) -> None:
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as stream:
        stream.write(content)


def check_place(key: Path) -> None:
    """A key in a project's folder is a key in its source distribution, sooner or later."""
    place = key.resolve()
    project = private_keys.find_project(place)
    if project and not place.is_relative_to(folder().resolve()):
        raise SignatureError(
            "private-key",
            f"{key} lies in the project {project}, whose source distribution could contain it: move it, for example to "
            f"{folder()}",
        )


def check_content(wheel: Path) -> None:
    """Of a wheel, and of the project that it lies in. Signing says what is wrong with a file that isn't a wheel."""
    try:
        found = private_keys.in_archive(wheel) if zipfile.is_zipfile(wheel) else []
    except ValueError as error:
        raise SignatureError("no-wheel", str(error)) from None
    if found:
        raise SignatureError("private-key", f"{wheel} holds a private key, {found[0]}: {private_keys.ADVICE}")
    project = private_keys.find_project(wheel.resolve())
    if project and (found := private_keys.in_project(project)):
        raise SignatureError(
            "private-key", f"the project {project} holds a private key, {found[0]}: {private_keys.ADVICE}"
        )
