"""Signatures of wheels: Ed25519 over RECORD, which has the digest of every other file.

The signature lies in the wheel as <name>.dist-info/RECORD.jws, the one file beside RECORD that RECORD doesn't list (the wheel format says
so). It is a JSON Web Signature (RFC 7515, RFC 8037), so any JOSE library reads it too.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from kernpack_sdk import archive

_PROTECTED = {"alg": "EdDSA"}
INSTALL = "pip install kernpack-sdk[sign]"


class SignatureError(Exception):
    """`kind`: "no-key", "no-wheel", "unsigned", "signature", "tampered", "extra-file", "missing-file" or "private-key"."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def private_key(path: Path) -> Any:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(_read(path, "no-key"), None)
    except TypeError:
        raise SignatureError("no-key", f"{path} has a password; expected a private key without one") from None
    except ValueError:
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise SignatureError("no-key", f"{path}: expected a private Ed25519 key in PEM; `kernpack keygen` makes one")
    return key


def public_key(path: Path) -> Any:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(_read(path, "no-key"))
    except ValueError:
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise SignatureError(
            "no-key",
            f"{path}: expected a public Ed25519 key in PEM; `openssl pkey -in PRIVATE -pubout` prints a private key's",
        )
    return key


def sign(wheel: Path, key: Any) -> None:
    """Adds the signature, or replaces the one that is there. Refuses a wheel that isn't what its RECORD says."""
    content = _contents(wheel)
    record = _record_name(wheel, content)
    _compare_with_record(wheel, content, record)
    header, payload = _encoded(_PROTECTED), _payload(content[record])
    made = {"protected": header, "payload": payload, "signature": _base64(key.sign(f"{header}.{payload}".encode()))}
    _write(wheel, record + ".jws", json.dumps(made).encode())


def verify(wheel: Path, key: Any) -> int:
    """The number of files that are signed. Raises SignatureError."""
    from cryptography.exceptions import InvalidSignature

    content = _contents(wheel)
    record = _record_name(wheel, content)
    if record + ".jws" not in content:
        raise SignatureError("unsigned", f"{wheel} isn't signed; `kernpack sign` signs it")
    broken = SignatureError(
        "signature", f"{wheel}: {record}.jws isn't a signature in the form that `kernpack sign` writes"
    )
    try:
        made = json.loads(content[record + ".jws"])
        header, payload = made["protected"], made["payload"]
        signature = _decoded(made["signature"])
        known = json.loads(_decoded(header)) == _PROTECTED
        signed = f"{header}.{payload}".encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise broken from None
    if not known:
        raise broken
    try:
        key.verify(signature, signed)
    except InvalidSignature:
        raise SignatureError(
            "signature", f"{wheel} wasn't signed with this key, or its signature was changed"
        ) from None
    if payload != _payload(content[record]):
        raise SignatureError("tampered", f"{wheel}: RECORD isn't the one that was signed; get the wheel again")
    return _compare_with_record(wheel, content, record)


def verify_all(wheels: list[Path], key: Path, *, as_json: bool) -> int:
    """Runs `kernpack verify WHEEL... --key KEY`; returns the exit code. ModuleNotFoundError: see INSTALL."""
    found: dict[str, dict[str, str] | None] = {}
    try:
        public = public_key(key)
        for wheel in wheels:
            try:
                count = verify(wheel, public)
                found[str(wheel)] = None
                if not as_json:
                    print(f"{wheel}: signature valid; {count} files unchanged")
            except SignatureError as error:
                found[str(wheel)] = {"problem": error.kind, "text": str(error)}
    except SignatureError as error:
        found[str(key)] = {"problem": error.kind, "text": str(error)}
    problems = [each for each in found.values() if each]
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        for each in problems:
            print(f"{each['problem']}: {each['text']}", file=sys.stderr)
    return int(bool(problems))


def _read(path: Path, kind: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SignatureError(kind, f"{path} can't be read: {error.strerror}") from None


def _contents(wheel: Path) -> dict[str, bytes]:
    _read(wheel, "no-wheel")
    try:
        with zipfile.ZipFile(wheel) as opened:
            names = [info.filename for info in opened.infolist() if not info.is_dir()]
            if len(set(names)) != len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise SignatureError("extra-file", f"{wheel}: {twice} is in it twice")
            return {name: opened.read(name) for name in names}
    except archive.DAMAGED as error:
        raise SignatureError("no-wheel", f"{wheel} isn't a valid wheel: {error}") from None


def _record_name(wheel: Path, content: dict[str, bytes]) -> str:
    records = [name for name in content if name.count("/") == 1 and name.endswith(".dist-info/RECORD")]
    if len(records) != 1:
        raise SignatureError("no-wheel", f"{wheel} has {len(records)} files *.dist-info/RECORD; a wheel has one")
    return records[0]


def _compare_with_record(wheel: Path, content: dict[str, bytes], record: str) -> int:
    try:
        rows = list(csv.reader(io.StringIO(content[record].decode("utf-8"))))
    except (UnicodeDecodeError, csv.Error):
        raise SignatureError("no-wheel", f"{wheel}: {record} isn't a table in UTF-8") from None
    listed = {row[0]: row[1] for row in rows if len(row) >= 2}
    unlisted = {record, record + ".jws", record + ".p7s"}
    for name in content:
        if name not in listed and name not in unlisted:
            raise SignatureError("extra-file", f"{wheel}: {name} isn't in its RECORD; build or get the wheel again")
    for name, digest in listed.items():
        if name in unlisted:
            continue
        if name not in content:
            raise SignatureError("missing-file", f"{wheel}: its RECORD lists {name}, which isn't in it")
        if digest != f"sha256={_base64(hashlib.sha256(content[name]).digest())}":
            raise SignatureError("tampered", f"{wheel}: {name} isn't what its RECORD says; get the wheel again")
    return len(listed.keys() - unlisted)


def _write(wheel: Path, name: str, signature: bytes) -> None:
    """All members as they were, in their order; the signature last, with the time of RECORD: two builds give the same file."""
    handle, partial = tempfile.mkstemp(dir=wheel.parent, prefix=f".{wheel.name}.")
    try:
        with os.fdopen(handle, "wb") as stream, zipfile.ZipFile(wheel) as old, zipfile.ZipFile(stream, "w") as new:
            for info in old.infolist():
                if info.filename != name:
                    new.writestr(info, old.read(info))
            added = zipfile.ZipInfo(name, old.getinfo(name.removesuffix(".jws")).date_time)
            added.external_attr = 0o644 << 16
            new.writestr(added, signature)
        os.chmod(partial, wheel.stat().st_mode & 0o777)
        os.replace(partial, wheel)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def _payload(record: bytes) -> str:
    return _encoded({"hash": f"sha256={_base64(hashlib.sha256(record).digest())}"})


def _encoded(value: dict[str, str]) -> str:
    return _base64(json.dumps(value, separators=(",", ":")).encode())


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
