"""Loading compares files with RECORD, keeps copies in the right folders, and leaves nothing behind."""

from __future__ import annotations

import base64
import ctypes
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support import host
from support.installed import install

SETTLED = 2.5  # seconds after which a file's times tell every later change


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("KERNPACK_CACHE_DIR", str(tmp_path / "cache"))
    ctypes.CDLL(None).setenv(b"KERNPACK_CACHE_DIR", os.fsencode(tmp_path / "cache"), 1)
    yield tmp_path / "cache" / "modules"
    ctypes.CDLL(None).unsetenv(b"KERNPACK_CACHE_DIR")


def files() -> dict[str, str | None]:
    value = host.Any()
    host.check(host.lib().kp_module_files(ctypes.byref(value)))
    return {file["path"]: file["verified"] for file in json.loads(host.get_text(value))}


def in_child(code: str, *words: object, **environment: str) -> str:
    """The output of the code in a separate process."""
    before = "import os, sys; sys.path.insert(0, sys.argv[1])\nfrom support import host\n"
    ran = subprocess.run(
        [sys.executable, "-c", before + code, str(host.ROOT / "tests"), *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


LOAD = """
try:
    module = host.load(sys.argv[2])
    print(host.call(host.function(module, "add"), host.integer(40), host.integer(2)).bits)
except host.Raised as error:
    print(error)
"""


def test_a_verified_module_says_so(compile_fake: Callable[..., Path], tmp_path: Path) -> None:
    built = compile_fake("kernels", FAKE_VERSION='"verified"')
    installed = install(built, tmp_path / "site", "some-kernels", "1.0", package="other_name")
    host.load(installed)
    local = compile_fake("local", FAKE_VERSION='"local"')
    host.load(local)
    found = files()
    assert found[str(installed)] == "some-kernels 1.0"
    assert found[str(local)] is None


def test_a_file_without_a_hash_loads(compile_fake: Callable[..., Path], tmp_path: Path) -> None:
    unlisted = compile_fake("unlisted", FAKE_VERSION='"unlisted"')
    installed = install(unlisted, tmp_path / "site", "a-kernel", "1.0")
    record = tmp_path / "site" / "a_kernel-1.0.dist-info" / "RECORD"
    record.write_text("a_kernel/unlisted.so,,\n")
    assert in_child(LOAD, installed) == "42\n"
    conda = install(unlisted, tmp_path / "conda", "a-kernel", "1.0", installer="conda")
    conda.write_bytes(compile_fake("rewritten", FAKE_VERSION='"rewritten"').read_bytes())
    assert in_child(LOAD, conda) == "42\n"


def test_a_distribution_that_is_installed_later_is_seen(compile_fake: Callable[..., Path], tmp_path: Path) -> None:
    site = tmp_path / "site"
    first = install(compile_fake("first", FAKE_VERSION='"first"'), site, "first", "1.0")
    unlisted = first.with_name("unlisted.so")
    shutil.copy(compile_fake("unlisted", FAKE_VERSION='"beside first"'), unlisted)
    os.utime(site, (1, 1))  # long ago: what lies there is remembered
    for path, said in ((unlisted, None), (first, "first 1.0")):
        host.load(path)
        assert files()[str(path)] == said
    second = install(compile_fake("second", FAKE_VERSION='"second"'), site, "second", "2.0", package="first")
    host.load(second)
    assert files()[str(second)] == "second 2.0"


def test_a_patched_file_loads_where_that_is_wanted(compile_fake: Callable[..., Path], tmp_path: Path) -> None:
    installed = install(compile_fake("patched"), tmp_path / "site", "patched", "2.0")
    shutil.copy(compile_fake("patch", FAKE_VERSION='"patch"'), installed)
    said = in_child(LOAD, installed)
    assert "run `pip install --force-reinstall patched==2.0`, or set KERNPACK_VERIFY=0" in said
    assert in_child(LOAD, installed, KERNPACK_VERIFY="0") == "42\n"
    assert "isn't the file that patched 2.0 installed" in in_child(LOAD, installed), "nothing was remembered of that"


def test_a_file_is_found_again_by_its_state(compile_fake: Callable[..., Path], cache: Path) -> None:
    path = compile_fake("found", FAKE_VERSION='"found"')
    # Times that tell a later change from this one; the wait is for the file system's clock, and no longer wait harms.
    while time.time() - path.stat().st_ctime < SETTLED:
        time.sleep(0.1)
    assert in_child(LOAD, path) == "42\n"
    (index,) = (cache / "index").iterdir()
    _, known, _ = index.read_text().split(" ")
    digest = base64.urlsafe_b64decode(known[:43] + "=").hex()
    (copy,) = (cache / digest).iterdir()
    assert copy.read_bytes() == path.read_bytes()
    assert cache.stat().st_mode & 0o777 == 0o700
    # The second process takes the copy without reading the file: here the copy of another one, put there by this user.
    copy.chmod(0o700)
    copy.write_bytes(compile_fake("instead", FAKE_FUNCTION='.name="instead"').read_bytes())
    assert "instead" in in_child(LOAD + "print(host.names(module))", path)
    # A file that was changed is another one.
    path.write_bytes(compile_fake("changed", FAKE_FUNCTION='.name="third"').read_bytes())
    assert "third" in in_child(LOAD + "print(host.names(module))", path)


def test_a_copy_that_others_could_have_written_is_made_again(compile_fake: Callable[..., Path], cache: Path) -> None:
    path = compile_fake("planted", FAKE_VERSION='"planted"')
    assert in_child(LOAD, path) == "42\n"
    (copy,) = (file for folder in cache.iterdir() if len(folder.name) == 64 for file in folder.iterdir())
    copy.chmod(0o777)
    copy.write_bytes(b"not this")
    assert in_child(LOAD, path) == "42\n"
    assert copy.read_bytes() == path.read_bytes()
    assert copy.stat().st_mode & 0o022 == 0


@pytest.mark.parametrize("kept", [True, False])
def test_loading_keeps_no_descriptor_and_names_what_runs(
    kept: bool, compile_fake: Callable[..., Path], tmp_path: Path
) -> None:
    paths = [compile_fake(f"one{i}", FAKE_VERSION=f'"descriptors-{i}"') for i in range(3)]
    code = """
before = len(os.listdir("/proc/self/fd"))
for path in sys.argv[3:]:
    module = host.load(path)
    assert host.call(host.function(module, "add"), host.integer(40), host.integer(2)).bits == 42
    os.unlink(path)
    assert host.call(host.function(module, "add"), host.integer(40), host.integer(2)).bits == 42
assert len(os.listdir("/proc/self/fd")) == before
import ctypes
class Info(ctypes.Structure):
    _fields_ = (("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("symbol", ctypes.c_char_p), ("at", ctypes.c_void_p))
info = Info()
address = ctypes.c_void_p(host.function(module, "add").cpu_call)
assert ctypes.CDLL(None).dladdr(address, ctypes.byref(info)) != 0
print(info.file.decode())
"""
    nowhere = tmp_path / "nowhere"
    nowhere.write_text("a file, so that no folder can be made there")
    environment = {} if kept else {"KERNPACK_CACHE_DIR": str(nowhere)}
    named = in_child(code, "", *paths, **environment).strip()
    assert named.endswith(paths[-1].name)
    assert os.path.exists(named) == kept, "the file itself is gone"
    assert "memfd" not in named
    assert "/proc/" not in named


def test_loading_one_file_again_and_again_does_not_grow(compile_fake: Callable[..., Path]) -> None:
    """KERNPACK_LOADS says how often; `make flips` loads it 60,000 times."""
    code = """
import gc
def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
rounds = int(os.environ.get("KERNPACK_LOADS", "2000"))
for _ in range(500):
    host.load(sys.argv[2])
before, open_before = memory(), len(os.listdir("/proc/self/fd"))
for _ in range(rounds):
    host.load(sys.argv[2])
print(memory() - before, len(os.listdir("/proc/self/fd")) - open_before)
"""
    grown, opened = in_child(code, compile_fake("again", FAKE_VERSION='"again"')).split()
    assert int(opened) == 0
    assert int(grown) < 1 << 18, "less than one page for each 30 loads"
