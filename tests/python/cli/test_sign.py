"""`kernpack sign` and `kernpack verify --key`."""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from support.installed import record_line

INFO = "ops-1.0.dist-info"
FILES = {"ops/__init__.py": b"", "ops/ops.so": b"machine code", f"{INFO}/WHEEL": b"Wheel-Version: 1.0\n"}


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Path, Path]:
    return write_keys(tmp_path / "key", ed25519.Ed25519PrivateKey.generate())


def write_keys(path: Path, key: ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey) -> tuple[Path, Path]:
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    private, public = path.with_suffix(".pem"), path.with_suffix(".pub")
    private.write_bytes(key.private_bytes(pem, pkcs8, serialization.NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo))
    return private, public


def write_wheel(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def good_files() -> dict[str, bytes]:
    record = "".join(record_line(name, content) for name, content in FILES.items()) + f"{INFO}/RECORD,,\n"
    return FILES | {f"{INFO}/RECORD": record.encode()}


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    return write_wheel(tmp_path / "ops-1.0-py3-none-any.whl", good_files())


def read(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_signed_wheel(command, wheel: Path, keys: tuple[Path, Path]) -> None:
    private, public = keys
    done = command("sign", wheel, "--key", private)
    assert done.stdout == f"{wheel}: signed\n"
    assert list(read(wheel)) == [*good_files(), f"{INFO}/RECORD.jws"]
    verified = command("verify", wheel, "--key", public)
    assert (verified.returncode, verified.stdout) == (0, f"{wheel}: signature valid; 3 files unchanged\n")
    once = wheel.read_bytes()
    assert command("sign", wheel, "--key", private).returncode == 0
    assert wheel.read_bytes() == once, "Ed25519 has no chance in it, and the old signature is replaced"
    assert json.loads(command("verify", wheel, "--key", public, "--json").stdout) == {str(wheel): None}


def test_the_digest_of_a_signed_wheel_as_json(command, wheel: Path, keys: tuple[Path, Path]) -> None:
    done = command("sign", wheel, "--key", keys[0], "--json")
    assert json.loads(done.stdout) == {str(wheel): hashlib.sha256(wheel.read_bytes()).hexdigest()}
    assert command("verify", wheel, "--key", keys[1]).returncode == 0


def without(name: str) -> Callable[[dict[str, bytes]], None]:
    return lambda files: files.__delitem__(name)


def with_(name: str, content: bytes) -> Callable[[dict[str, bytes]], None]:
    return lambda files: files.update({name: content})


def with_new_record(files: dict[str, bytes]) -> None:
    """Who changes a file can change RECORD, but not sign it."""
    files["ops/ops.so"] = b"other code"
    lines = [record_line(name, content) for name, content in files.items() if not name.startswith(f"{INFO}/RECORD")]
    files[f"{INFO}/RECORD"] = "".join(lines).encode()


CHANGES = {
    "changed": (with_("ops/ops.so", b"other code"), "tampered", "ops/ops.so isn't what its RECORD says"),
    "new record": (with_new_record, "tampered", "RECORD isn't the one that was signed"),
    "extra": (with_("ops/more.so", b""), "extra-file", "ops/more.so isn't in its RECORD"),
    "missing": (without("ops/ops.so"), "missing-file", "its RECORD lists ops/ops.so, which isn't in it"),
    "no RECORD": (without(f"{INFO}/RECORD"), "no-wheel", "has 0 files *.dist-info/RECORD"),
    "unsigned": (without(f"{INFO}/RECORD.jws"), "unsigned", "isn't signed; `kernpack sign` signs it"),
    "no JSON": (with_(f"{INFO}/RECORD.jws", b"\xff"), "signature", "isn't a signature in the form"),
    "no object": (with_(f"{INFO}/RECORD.jws", b"[]"), "signature", "isn't a signature in the form"),
    "empty": (with_(f"{INFO}/RECORD.jws", b'{"protected": "", "payload": "", "signature": "a"}'), "signature", "form"),
}


@pytest.mark.parametrize(("change", "kind", "said"), CHANGES.values(), ids=CHANGES)
def test_what_was_changed_after_signing(command, wheel: Path, keys, change, kind: str, said: str) -> None:
    assert command("sign", wheel, "--key", keys[0]).returncode == 0
    files = read(wheel)
    change(files)
    write_wheel(wheel, files)
    done = command("verify", wheel, "--key", keys[1], "--json")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)[str(wheel)]
    assert found["problem"] == kind
    assert said in found["text"]
    assert command("verify", wheel, "--key", keys[1]).stderr == f"{kind}: {found['text']}\n"


def test_another_key_and_another_algorithm(command, wheel: Path, keys, tmp_path: Path) -> None:
    assert command("sign", wheel, "--key", keys[0]).returncode == 0
    _, other = write_keys(tmp_path / "other", ed25519.Ed25519PrivateKey.generate())
    assert "wasn't signed with this key" in command("verify", wheel, "--key", other).stderr
    files = read(wheel)
    made = json.loads(files[f"{INFO}/RECORD.jws"])
    made["protected"] = "eyJhbGciOiJub25lIn0"  # {"alg":"none"}
    files[f"{INFO}/RECORD.jws"] = json.dumps(made).encode()
    write_wheel(wheel, files)
    assert "signature: " in command("verify", wheel, "--key", keys[1]).stderr


def test_what_is_no_key(command, wheel: Path, keys, tmp_path: Path) -> None:
    private, public = write_keys(tmp_path / "curve", ec.generate_private_key(ec.SECP256R1()))
    for word, wrong in (("private", private), ("private", keys[1]), ("private", wheel)):
        assert f"expected a {word} Ed25519 key in PEM" in command("sign", wheel, "--key", wrong).stderr
    for wrong in (public, keys[0], wheel):
        done = command("verify", wheel, "--key", wrong)
        assert done.returncode == 1
        assert "no-key: " in done.stderr
        assert "expected a public Ed25519 key in PEM" in done.stderr
    assert "can't be read: No such file or directory" in command("sign", wheel, "--key", "none.pem").stderr
    locked = ed25519.Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"secret")
    )
    (tmp_path / "locked.pem").write_bytes(locked)
    assert "has a password; expected a private key without one" in (
        command("sign", wheel, "--key", tmp_path / "locked.pem").stderr
    )


def test_what_is_no_wheel(command, wheel: Path, keys, tmp_path: Path) -> None:
    for name, content in (("none.whl", None), ("text.whl", b"no zip"), ("cut.whl", wheel.read_bytes()[:-30])):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        for done in (command("sign", path, "--key", keys[0]), command("verify", path, "--key", keys[1])):
            assert done.returncode == 1
            assert ("can't be read: " if content is None else "isn't a valid wheel: ") in done.stderr


def test_a_tampered_wheel_is_not_signed(command, wheel: Path, keys) -> None:
    write_wheel(wheel, good_files() | {"ops/ops.so": b"other code"})
    before = wheel.read_bytes()
    assert "ops/ops.so isn't what its RECORD says" in command("sign", wheel, "--key", keys[0]).stderr
    assert wheel.read_bytes() == before


def test_without_cryptography(command, wheel: Path, keys, tmp_path: Path) -> None:
    (tmp_path / "absent").mkdir()
    (tmp_path / "absent" / "sitecustomize.py").write_text("import sys; sys.modules['cryptography'] = None\n")
    hidden = {"PYTHONPATH": f"{tmp_path / 'absent'}:{packages()}"}
    for words in (["sign", wheel, "--key", keys[0]], ["verify", wheel, "--key", keys[1]]):
        done = command(*words, env=hidden)
        assert done.returncode == 3, done.stderr
        assert "needs cryptography" in done.stderr
        assert "install it: pip install kernpack-sdk[sign]" in done.stderr


def packages() -> str:
    import kernpack
    import kernpack_sdk

    return ":".join(str(Path(package.__file__).parents[1]) for package in (kernpack, kernpack_sdk))
