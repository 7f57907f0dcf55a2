"""`kernpack slim`: the wheel that it writes, and the wheels that it refuses."""

from __future__ import annotations

import base64
import hashlib
import json
import platform
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from support.fatbins import CUBIN, PTX, entry, fatbin, shared_object

INFO = "gpu-1.0.dist-info"
TAG = f"py3-none-linux_{platform.machine()}"
NAME = f"gpu-1.0-{TAG}.whl"
CODE = fatbin(entry(CUBIN, 80, bytes(range(256)) * 400), entry(CUBIN, 90, b"n" * 800), entry(PTX, 90, b"p" * 80))
METADATA = "Metadata-Version: 2.4\nName: gpu\nVersion: 1.0\nRequires-Python: >=3.11\nLicense-Expression: MIT\n"

Files = dict[str, bytes]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return shared_object(tmp_path_factory.mktemp("gpu"), [CODE]).read_bytes()


@pytest.fixture
def files(library: bytes) -> Files:
    digest = hashlib.sha256(library).hexdigest()
    bill = {"bomFormat": "CycloneDX", "metadata": {"component": {"name": "gpu", "version": "1.0"}}}
    bill |= {"components": [{"type": "file", "name": "gpu/x.so", "hashes": [{"alg": "SHA-256", "content": digest}]}]}
    return {
        "gpu/__init__.py": b"",
        "gpu/x.so": library,
        f"{INFO}/METADATA": METADATA.encode(),
        f"{INFO}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode(),
        f"{INFO}/sboms/gpu.cdx.json": json.dumps(bill).encode(),
    }


def _record(files: Files) -> bytes:
    lines = [f"{name},{_digest(content)},{len(content)}" for name, content in files.items()]
    return "\n".join([*lines, f"{INFO}/RECORD,,", ""]).encode()


def _digest(content: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def _write(folder: Path, files: Files, record: bytes | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / NAME, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in [*files.items(), (f"{INFO}/RECORD", record or _record(files))]:
            info = zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6))
            info.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return folder / NAME


def _read(wheel: Path) -> Files:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel(command, files: Files, tmp_path: Path) -> None:
    wheel = _write(tmp_path, files)
    before = wheel.read_bytes()
    done = command("slim", wheel, "--cuda-arch", "90", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split() for line in lines[:3]] == [
        ["file", "dropped", "pieces", "size"],
        ["gpu/x.so", "sm_80", "1", "102", "KB"],
        ["gpu/x.so", "compute_90", "1", "144", "bytes"],
    ]
    assert lines[3].startswith("wheel: ")
    assert lines[4].startswith("installed: 11")
    assert lines[5:] == [f"wrote slim/{NAME}; host code is proved to be unchanged"]
    assert done.stderr == ""
    assert wheel.read_bytes() == before
    new = tmp_path / "slim" / NAME
    content = _read(new)
    assert list(content) == [*files, f"{INFO}/RECORD"]
    assert content[f"{INFO}/RECORD"] == _record({name: content[name] for name in files})
    (component,) = json.loads(content[f"{INFO}/sboms/gpu.cdx.json"])["components"]
    assert component["hashes"][0]["content"] == hashlib.sha256(content["gpu/x.so"]).hexdigest()
    assert {name for name in files if content[name] != files[name]} == {"gpu/x.so", f"{INFO}/sboms/gpu.cdx.json"}
    with zipfile.ZipFile(new) as archive:
        info = archive.getinfo("gpu/x.so")
        assert (info.external_attr >> 16, info.date_time) == (0o755, (2026, 1, 2, 3, 4, 6))
    checked = command("check", new)
    assert checked.returncode == 0, checked.stdout
    (library,) = json.loads(command("inspect", new, "--json").stdout)["libraries"]
    assert [row["architecture"] for row in library["device_code"]] == ["sm_90"]


def test_json_and_a_second_run(command, files: Files, tmp_path: Path) -> None:
    wheel = _write(tmp_path, files)
    words = ("slim", wheel, "--cuda-arch", "90", "--ptx", "90", "--json")
    done = command(*words, "-o", tmp_path / "one")
    found = json.loads(done.stdout)
    new = tmp_path / "one" / NAME
    assert found["wheel"] == str(new)
    assert found["sha256"] == hashlib.sha256(new.read_bytes()).hexdigest()
    assert found["bytes"] == {"before": wheel.stat().st_size, "after": new.stat().st_size}
    assert found["installed_bytes"]["before"] - found["installed_bytes"]["after"] > 90_000
    assert found["lost_signature"] is False
    (row,) = found["files"]
    assert row["file"] == "gpu/x.so"
    assert row["dropped"] == [{"kind": "sm_80", "count": 1, "bytes": 102_464}]
    assert row["whole_fat_binaries"] == 0
    assert command(*words, "-o", tmp_path / "two").returncode == 0
    assert (tmp_path / "two" / NAME).read_bytes() == new.read_bytes()
    # Nothing is left to drop: the wheel as it was.
    again = command("slim", new, "--cuda-arch", "90", "--ptx", "90", "-o", tmp_path / "three")
    assert again.stdout.startswith("nothing to drop: the wheel has only what was asked for\n")
    assert (tmp_path / "three" / NAME).read_bytes() == new.read_bytes()


def test_debug_sections_go_also_from_files_without_device_code(command, files: Files, tmp_path: Path) -> None:
    (tmp_path / "d.c").write_text("int d(void) { return 1; }\n")
    subprocess.run(["gcc", "-g", "-shared", "-fPIC", "d.c", "-o", "d.so"], cwd=tmp_path, check=True)
    files["gpu/d.so"] = (tmp_path / "d.so").read_bytes()
    done = command("slim", _write(tmp_path, files), "--cuda-arch", "80,90", "--ptx", "90", cwd=tmp_path)
    assert [line.split()[:3] for line in done.stdout.splitlines()[1:2]] == [["gpu/d.so", "debug", "sections"]]
    assert _read(tmp_path / "slim" / NAME)["gpu/x.so"] == files["gpu/x.so"]


def test_wheels_of_64_bit_archives(files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Members and archives beyond 4 GB have fields of 64 bits. With zipfile's limit lowered, small ones have them, too."""
    from kernpack_sdk.slim import repack
    from kernpack_sdk.slim.choice import Choice

    small = _write(tmp_path / "small", files)
    plain = repack.slim(small, Choice(("90",)), tmp_path / "plain").wheel
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1000)
    large = _write(tmp_path / "large", files)
    end_of_64_bits, extra_field = b"PK\x06\x06", b"\x01\x00"
    assert end_of_64_bits in large.read_bytes()
    assert end_of_64_bits not in small.read_bytes()
    made = repack.slim(large, Choice(("90",)), tmp_path / "made").wheel
    data = made.read_bytes()
    assert end_of_64_bits in data
    monkeypatch.undo()
    assert _read(made) == _read(plain)
    with zipfile.ZipFile(made) as archive:
        assert archive.testzip() is None
        (at,) = [each.header_offset for each in archive.infolist() if each.filename == "gpu/x.so"]
    name_size = int.from_bytes(data[at + 26 : at + 28], "little")
    assert (
        data[at + 30 + name_size :][:2] == extra_field
    )  # of its own header, too: the size is known only behind the member
    done = subprocess.run([sys.executable, "-m", "zipfile", "-t", made], capture_output=True, text=True, check=True)
    assert "Done testing" in done.stdout


def test_a_signed_wheel_has_to_be_signed_again(command, files: Files, tmp_path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric import ed25519
    from test_sign import write_keys

    private, public = write_keys(tmp_path / "key", ed25519.Ed25519PrivateKey.generate())
    wheel = _write(tmp_path / "in", files)
    assert command("sign", wheel, "--key", private).returncode == 0
    done = command("slim", wheel, "--cuda-arch", "90", "-o", tmp_path / "out")
    assert done.returncode == 0
    assert done.stderr == "the wheel was signed; the new one isn't: `kernpack sign` signs it\n"
    new = tmp_path / "out" / NAME
    assert f"{new} isn't signed" in command("verify", new, "--key", public).stderr
    assert command("sign", new, "--key", private).returncode == 0
    assert command("verify", new, "--key", public).returncode == 0
    # Where nothing goes, the signature stays valid.
    command("slim", new, "--cuda-arch", "90", "-o", tmp_path / "same")
    assert command("verify", tmp_path / "same" / NAME, "--key", public).returncode == 0


def _changed_library(change: Callable[[bytes], bytes]) -> Callable[[Files], Files]:
    return lambda files: {**files, "gpu/x.so": change(files["gpu/x.so"])}


@pytest.mark.parametrize(
    ("options", "change", "said"),
    [
        (
            ["--cuda-arch", "90,100a"],
            dict,
            "--cuda-arch 100a: it has no such code; it has compute_90, sm_80, sm_90",
        ),
        (
            ["--cuda-arch", "90", "--ptx", "80"],
            dict,
            "--ptx 80: it has no such code; it has compute_90, sm_80, sm_90",
        ),
        (
            ["--cuda-arch", "90"],
            lambda files: {name: content for name, content in files.items() if name != "gpu/x.so"},
            "it has no code for GPUs in CUDA's fat binaries",
        ),
        (
            ["--cuda-arch", "90"],
            _changed_library(lambda data: data + b"appended"),
            f"{NAME}: gpu/x.so: 8 bytes follow its last section, and something may read them",
        ),
        (
            ["--cuda-arch", "90"],
            _changed_library(lambda data: data[:2000] + data[2100:]),
            f"{NAME}: gpu/x.so: ",
        ),
        (
            ["--cuda-arch", "90"],
            _changed_library(lambda data: data.replace(b"\x50\xed\x55\xba", b"\x51\xed\x55\xba")),
            "expected a fat binary at byte 0, got something else",
        ),
    ],
)
def test_refusals(command, files: Files, tmp_path: Path, options: list[str], change, said: str) -> None:
    wheel = _write(tmp_path, change(files))
    before = wheel.read_bytes()
    done = command("slim", wheel, *options, "-o", tmp_path / "out", "--json")
    assert done.returncode == 1, done.stdout
    assert said in done.stderr
    assert said in json.loads(done.stdout)["error"]
    assert not list(tmp_path.glob("out/*"))
    assert wheel.read_bytes() == before


def _not_a_zip(wheel: Path, _: Files) -> None:
    wheel.write_bytes(b"not a zip")


def _cut_member(wheel: Path, _: Files) -> None:
    data = bytearray(wheel.read_bytes())
    at = data.find(b"gpu/x.so") + 200
    data[at : at + 20] = bytes(20)
    wheel.write_bytes(data)


def _tampered(wheel: Path, files: Files) -> None:
    _write(wheel.parent, {**files, "gpu/__init__.py": b"evil = True\n"}, _record(files))


def _record_of_bytes(wheel: Path, files: Files) -> None:
    _write(wheel.parent, files, b"\xff\xfe,,\n")


def _no_record(wheel: Path, files: Files) -> None:
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("gpu/x.so", files["gpu/x.so"])


def _twice(wheel: Path, files: Files) -> None:
    with zipfile.ZipFile(wheel, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("gpu/x.so", files["gpu/x.so"])


def _outside(wheel: Path, _: Files) -> None:
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("../escaped.so", b"")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_not_a_zip, "expected a wheel, got a file that can't be read"),
        (_cut_member, "expected a wheel, got a file that can't be read"),
        (_tampered, "gpu/__init__.py isn't the file that RECORD has the hash of"),
        (_record_of_bytes, "its RECORD isn't a table in UTF-8"),
        (_no_record, "expected a wheel, got an archive without a .dist-info folder"),
        (_twice, "gpu/x.so is in it twice"),
        (_outside, "contains a path that leads outside the wheel, '../escaped.so'"),
    ],
)
def test_wheels_that_nobody_vouches_for(command, files: Files, tmp_path: Path, change, said: str) -> None:
    wheel = _write(tmp_path / "in", files)
    change(wheel, files)
    done = command("slim", wheel, "--cuda-arch", "90", "-o", tmp_path / "out")
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("out/*"))
    assert not list(tmp_path.rglob("escaped.so"))


def test_places_that_cannot_be_written(command, files: Files, tmp_path: Path) -> None:
    wheel = _write(tmp_path, files)
    before = wheel.read_bytes()
    done = command("slim", wheel, "--cuda-arch", "90", "-o", tmp_path)
    assert done.returncode == 1
    assert (
        "the slimmed wheel has the name of the wheel that was given; name another folder with --output" in done.stderr
    )
    (tmp_path / "file").write_bytes(b"")
    done = command("slim", wheel, "--cuda-arch", "90", "-o", tmp_path / "file")
    assert done.returncode == 1
    assert f"{tmp_path}/file can't be read or written: " in done.stderr
    done = command("slim", tmp_path / "none.whl", "--cuda-arch", "90")
    assert done.returncode == 1
    assert "none.whl: expected a wheel, got a file that can't be read: [Errno 2] No such file" in done.stderr
    assert wheel.read_bytes() == before


@pytest.mark.parametrize(
    "words", [["--cuda-arch", "8.0"], ["--cuda-arch", "90", "--ptx", "sm_90"], ["--cuda-arch", ""]]
)
def test_numbers_that_are_none(command, tmp_path: Path, words: list[str]) -> None:
    done = command("slim", tmp_path / "a.whl", *words)
    assert done.returncode == 2
    assert "expected compute capabilities without the dot, as in 80,90,90a, got '" in done.stderr
    assert f"{words[-2]}: expected" in done.stderr
