"""Wheels that nobody vouches for: what is made to harm who opens it is refused by `check`, `inspect` and `test`."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

NAME = "evil-1.0-py3-none-any.whl"


def wheel(folder: Path, files: dict[str, bytes | int], mode: int = 0o644) -> Path:
    """A number stands for so many zeros."""
    with zipfile.ZipFile(folder / NAME, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as file:
                if isinstance(content, int):
                    for _ in range(content >> 24):
                        file.write(bytes(1 << 24))
                else:
                    file.write(content)
    return folder / NAME


@pytest.mark.parametrize(
    "name", ["../../escaped.so", "/tmp/kernpack-escaped.so", "a/../../escaped.so", "..\\\\escaped.so"]
)
@pytest.mark.parametrize("tool", ["check", "inspect", "test"])
def test_names_outside(command, tmp_path: Path, tool: str, name: str) -> None:
    (tmp_path / "in").mkdir()
    done = command(tool, wheel(tmp_path / "in", {"evil/__init__.py": b"", name: b"\x7fELF"}), sdk=True)
    assert done.returncode != 0
    assert "contains a path that leads outside the wheel" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("escaped.so"))
    assert not Path("/tmp/kernpack-escaped.so").exists()


@pytest.mark.parametrize("tool", ["check", "inspect", "test"])
def test_a_link(command, tmp_path: Path, tool: str) -> None:
    done = command(tool, wheel(tmp_path, {"evil/x.so": b"/etc/passwd"}, stat.S_IFLNK | 0o777), sdk=True)
    assert "holds a symbolic link, 'evil/x.so'" in done.stdout + done.stderr
    assert done.returncode != 0


@pytest.mark.parametrize("tool", ["check", "inspect", "test"])
def test_a_bomb(command, tmp_path: Path, tool: str) -> None:
    done = command(tool, wheel(tmp_path, {"evil/x.so": (1 << 30) + (1 << 24)}), sdk=True)
    assert "as in a decompression bomb" in done.stdout + done.stderr
    assert done.returncode != 0


@pytest.mark.parametrize("tool", ["check", "inspect", "test"])
def test_what_is_no_archive(command, tmp_path: Path, tool: str) -> None:
    (tmp_path / NAME).write_bytes(b"not a zip")
    done = command(tool, tmp_path / NAME, sdk=True)
    assert "expected a wheel, got a file that can't be read" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode != 0


@pytest.mark.parametrize("tool", ["check", "inspect", "test", "slim", "split"])
def test_a_member_that_cannot_be_unpacked(command, tmp_path: Path, tool: str) -> None:
    made = wheel(tmp_path, {"evil/x.so": b"\x7fELF" * 400})
    data = bytearray(made.read_bytes())
    data[80] ^= 0xFF  # of the compressed bytes
    made.write_bytes(data)
    words = ["-o", tmp_path / "out"] if tool in ("slim", "split") else []
    done = command(tool, made, *words, *(["--cuda-arch", "90"] if tool == "slim" else []), sdk=True)
    assert "expected a wheel, got a file that can't be read" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode != 0


def test_a_file_without_a_name(command, tmp_path: Path) -> None:
    done = command("inspect", wheel(tmp_path, {"": b""}), sdk=True)
    assert "contains a file without a name: don't install it" in done.stderr
