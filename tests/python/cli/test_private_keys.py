"""Private keys stay out of what is published: where `kernpack keygen` puts them, and who refuses what holds one."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import stat
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from kernpack_sdk.audit import private_keys

KEY = ed25519.Ed25519PrivateKey.generate()
PEM, DER = serialization.Encoding.PEM, serialization.Encoding.DER
PKCS8, OPENSSH = serialization.PrivateFormat.PKCS8, serialization.PrivateFormat.OpenSSH
OPEN, SECRET = serialization.NoEncryption(), serialization.BestAvailableEncryption(b"secret")
LEGACY = (
    b"-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n"
    + base64.b64encode(bytes(48))
    + b"\n-----END EC PRIVATE KEY-----\n"
)
KEYS = {
    "PKCS 8": KEY.private_bytes(PEM, PKCS8, OPEN),
    "with a password": KEY.private_bytes(PEM, PKCS8, SECRET),
    "OpenSSH's": KEY.private_bytes(PEM, OPENSSH, OPEN),
    "with headers": LEGACY,
    "with CRLF": KEY.private_bytes(PEM, PKCS8, OPEN).replace(b"\n", b"\r\n"),
    "DER": KEY.private_bytes(DER, PKCS8, OPEN),
    "in a long text": bytes(3 << 20) + KEY.private_bytes(PEM, PKCS8, OPEN) + bytes(3 << 20),
    "across two pieces": b" " * ((1 << 20) - 40) + KEY.private_bytes(PEM, PKCS8, OPEN),
}
NO_KEYS = {
    "public": KEY.public_key().public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo),
    "a program that looks for one": b'if "-----BEGIN PRIVATE KEY-----" in text: raise ValueError("a key")\n',
    "a certificate": b"-----BEGIN CERTIFICATE-----\n" + base64.b64encode(bytes(90)) + b"\n-----END CERTIFICATE-----\n",
    "nothing": b"",
}


def project(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in {"pyproject.toml": b"[project]\n", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def sdist(path: Path, files: dict[str, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(f"ops-1.0/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def wheel(path: Path, files: dict[str, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    info = "ops-1.0.dist-info"
    files = {f"{info}/WHEEL": b"Wheel-Version: 1.0\n", **files}
    rows = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}\n"
        for name, content in files.items()
    ]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**files, f"{info}/RECORD": "".join([*rows, f"{info}/RECORD,,\n"]).encode()}.items():
            archive.writestr(name, content)
    return path


WHEEL = "ops-1.0-py3-none-any.whl"


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_key_is_found_wherever_it_lies(tmp_path: Path, key: bytes) -> None:
    files = {"src/ops.cc": b"int main() {}", "certs/mine": key}
    assert private_keys.in_project(project(tmp_path / "project", files)) == ["certs/mine"]
    assert private_keys.in_archive(sdist(tmp_path / "ops-1.0.tar.gz", files)) == ["ops-1.0/certs/mine"]
    assert private_keys.in_archive(wheel(tmp_path / WHEEL, files)) == ["certs/mine"]


@pytest.mark.parametrize("content", NO_KEYS.values(), ids=NO_KEYS)
def test_what_holds_no_key_is_not_accused(tmp_path: Path, content: bytes) -> None:
    assert private_keys.in_project(project(tmp_path / "project", {"file": content})) == []
    assert private_keys.in_archive(sdist(tmp_path / "ops-1.0.tar.gz", {"file": content})) == []


def test_folders_that_are_not_packed_are_not_looked_into(tmp_path: Path) -> None:
    places = (".git/mine", "build/mine", "dist/mine", ".venv/mine", "env/lib/mine", "node_modules/mine")
    folder = project(tmp_path, {**dict.fromkeys(places, KEYS["PKCS 8"]), "env/pyvenv.cfg": b""})
    assert private_keys.in_project(folder) == []
    assert private_keys.in_project(project(folder, {"src/build/mine": KEYS["PKCS 8"]})) == ["src/build/mine"]


def test_keygen_makes_a_key_that_others_cannot_read(command, tmp_path: Path) -> None:
    home, config = tmp_path / "home", tmp_path / "config"
    made = command("keygen", "--json", env={"XDG_CONFIG_HOME": str(config)})
    assert made.returncode == 0, made.stderr
    files = {name: Path(file) for name, file in json.loads(made.stdout).items()}
    assert files == {
        "private": config / "kernpack/keys/default.pem",
        "public": config / "kernpack/keys/default.pub",
    }
    assert stat.S_IMODE(files["private"].stat().st_mode) == 0o600
    assert stat.S_IMODE(files["private"].parent.stat().st_mode) == 0o700
    before = files["private"].read_bytes()
    again = command("keygen", env={"XDG_CONFIG_HOME": str(config)})
    assert again.returncode == 1
    assert "default.pem is there already; choose another name: kernpack keygen --name NAME" in again.stderr
    assert files["private"].read_bytes() == before
    other = command("keygen", "--name", "other", env={"XDG_CONFIG_HOME": "relative", "HOME": str(home)})
    assert other.returncode == 0, other.stderr
    assert (home / ".config/kernpack/keys/other.pem").is_file()
    assert str(home / ".config/kernpack/keys/other.pub") in other.stdout
    assert "can't be a key's name" in command("keygen", "--name", "../x", env={"HOME": str(home)}).stderr


def test_a_key_made_so_signs_and_verifies(command, tmp_path: Path) -> None:
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    file = wheel(tmp_path / "project/dist" / WHEEL, {"ops.py": b""})
    project(tmp_path / "project", {})
    none = command("sign", file, env=env)
    assert none.returncode == 1
    assert "default.pem: `kernpack keygen` makes it, or name one with --key" in none.stderr
    assert command("keygen", env=env).returncode == 0
    done = command("sign", file, env=env)
    assert (done.returncode, done.stdout) == (0, f"{file}: signed\n"), done.stderr
    assert command("verify", file, "--key", tmp_path / "config/kernpack/keys/default.pub").returncode == 0


def test_sign_refuses_a_key_that_lies_in_a_project(command, tmp_path: Path) -> None:
    folder = project(tmp_path / "project", {"secrets/key.pem": KEYS["PKCS 8"]})
    file = wheel(tmp_path / WHEEL, {"ops.py": b""})
    before = file.read_bytes()
    done = command("sign", file, "--key", folder / "secrets/key.pem", env={"XDG_CONFIG_HOME": str(tmp_path / "config")})
    assert done.returncode == 1
    assert f"key.pem lies in the project {folder}, whose source distribution could contain it" in done.stderr
    assert f"move it, for example to {tmp_path / 'config/kernpack/keys'}" in done.stderr
    assert file.read_bytes() == before


@pytest.mark.parametrize("where", ["wheel", "project"])
def test_sign_refuses_what_holds_a_key(command, tmp_path: Path, where: str) -> None:
    (tmp_path / "key.pem").write_bytes(KEYS["PKCS 8"])
    held = {"mine.txt": KEYS["OpenSSH's"]}
    folder = project(tmp_path / "project", held if where == "project" else {})
    file = wheel(folder / "dist" / WHEEL, held if where == "wheel" else {})
    done = command("sign", file, "--key", tmp_path / "key.pem")
    assert done.returncode == 1
    said = (
        f"the project {folder} holds a private key, mine.txt" if where == "project" else f"{WHEEL} holds a private key"
    )
    assert said in done.stderr
    assert "delete it there, move the key out of the project" in done.stderr
    assert KEYS["OpenSSH's"].decode().splitlines()[1] not in done.stderr


def test_check_refuses_them(command, tmp_path: Path) -> None:
    files = {"mine.txt": KEYS["PKCS 8"]}
    for path, name in (
        (sdist(tmp_path / "ops-1.0.tar.gz", files), "ops-1.0.tar.gz: holds a private key, ops-1.0/mine.txt: "),
        (project(tmp_path / "project", files), "project: holds a private key, mine.txt: "),
        (wheel(tmp_path / WHEEL, files), f"{WHEEL}: holds a private key, mine.txt: "),
    ):
        done = command("check", path)
        assert done.returncode == 1
        assert name in done.stdout
    good = command("check", sdist(tmp_path / "good-1.0.tar.gz", {"a": b"a"}), project(tmp_path / "good", {}))
    assert good.returncode == 0, good.stdout
    assert good.stdout.count("no private key in it") == 2


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08\x00cut"])
def test_an_archive_that_cannot_be_read_is_named(command, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ops-1.0.tar.gz").write_bytes(content)
    done = command("check", tmp_path / "ops-1.0.tar.gz")
    assert done.returncode == 1
    assert "ops-1.0.tar.gz: expected a source distribution or a wheel, got a file that can't be read" in done.stdout


def test_publish_refuses_them(tmp_path: Path, monkeypatch) -> None:
    """Whatever twine and `kernpack test` say, which aren't run here."""
    from click.testing import CliRunner
    from kernpack_sdk.cli import group
    from kernpack_sdk.commands import publish

    folder = project(tmp_path / "project", {"mine.txt": KEYS["PKCS 8"]})
    wheel(folder / "dist" / WHEEL, {})
    sdist(folder / "dist/ops-1.0.tar.gz", {"mine.txt": KEYS["PKCS 8"]})
    monkeypatch.setattr(publish.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(publish, "_ran", lambda *words: subprocess.CompletedProcess(words, 0, "", ""))
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(publish.command, ["--json"], **group.context_settings)
    assert done.exit_code == 1, done.output
    found = json.loads(done.output)
    assert found["commands"] == []
    assert "holds a private key, mine.txt" in found["problems"][str(folder)][0]
    assert "holds a private key, ops-1.0/mine.txt" in found["problems"][str(folder / "dist/ops-1.0.tar.gz")][0]


def test_a_new_project_keeps_keys_out(command, tmp_path: Path) -> None:
    assert command("new", "ops", cwd=tmp_path).returncode == 0
    for name in ("key.pem", "src/deep.key", "id_ed25519"):
        (tmp_path / "ops" / name).write_bytes(KEYS["PKCS 8"])
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "ops", check=True)
    shown = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=tmp_path / "ops", capture_output=True, text=True, check=True
    ).stdout
    assert "CMakeLists.txt" in shown
    assert not any(name in shown for name in ("key.pem", "deep.key", "id_ed25519"))


def test_a_build_of_a_source_distribution_leaves_keys_out_or_fails(tmp_path: Path, monkeypatch, command) -> None:
    """Keys by their usual names are left out; one by another name stops the build, and no archive is left."""
    from kernpack_sdk import build

    assert command("new", "ops", cwd=tmp_path).returncode == 0
    monkeypatch.chdir(tmp_path / "ops")
    Path("key.pem").write_bytes(KEYS["PKCS 8"])
    Path(".gitignore").unlink()
    name = build.build_sdist(str(tmp_path / "made"))
    assert private_keys.in_archive(tmp_path / "made" / name) == []
    Path("notes.txt").write_bytes(KEYS["PKCS 8"])
    with pytest.raises(SystemExit, match=r"would hold a private key, ops-0.1.0/notes.txt: move the key out"):
        build.build_sdist(str(tmp_path / "made"))
    assert list((tmp_path / "made").iterdir()) == []
