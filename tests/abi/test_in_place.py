"""A file that a RECORD names, and that only this user and root can write, is mapped where it lies: no copy is made, and no content is
taken for another's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support import host
from support.installed import install, record_line

Compile = Callable[..., Path]
SETTLED = 2.5  # seconds after which a file's times tell every later change

LOAD = """
def answer(path):
    try:
        return next(name for name in host.names(host.load(path)) if name != "add")
    except host.Raised as error:
        return str(error)
def mapped(path):
    return sum(line.rstrip().endswith(path) for line in open("/proc/self/maps")) > 0
print(answer(files[0]), mapped(files[0]))
"""


@pytest.fixture(autouse=True)
def ordinary_umask() -> Iterator[None]:
    """Files that only their owner writes, whatever the umask of who runs the tests."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def in_child(code: str, cache: Path, *paths: Path, **environment: str) -> str:
    """The output of the code in a separate process, with `paths` as `files`."""
    before = "import os, sys; sys.path.insert(0, sys.argv[1])\nfrom support import host\nfiles = sys.argv[2:]\n"
    ran = subprocess.run(
        [sys.executable, "-c", before + code, str(host.ROOT / "tests"), *map(str, paths)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"KERNPACK_CACHE_DIR": str(cache)} | environment,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def copies(cache: Path) -> list[str]:
    return [path.name for path in cache.rglob("*.so")]


def installed(compile_fake: Compile, site: Path, name: str, *, settled: bool = False) -> Path:
    path = install(compile_fake(name, FAKE_FUNCTION=f'.name="{name}"'), site, "some-kernels", "1.0")
    while settled and time.time() - path.stat().st_ctime < SETTLED:
        time.sleep(0.1)
    return path


def require_lock(path: Path, lock: Path) -> dict[str, str]:
    """Writes a lock with the file, and says it in the environment of a process."""
    digest = record_line("", path.read_bytes()).split(",")[1]
    wheel = f'{{"name": "some-kernels", "version": "1.0", "abi": 1, "platforms": [], "files": {{"a.so": "{digest}"}}}}'
    lock.write_text(f'{{"kernpack_lock": 1, "wheels": [{wheel}]}}')
    return {"KERNPACK_REQUIRE_LOCK": str(lock)}


def test_no_copy_is_made(compile_fake: Compile, tmp_path: Path, cache: Path) -> None:
    path = installed(compile_fake, tmp_path / "site", "lies", settled=True)
    for _ in ("first", "known"):
        assert in_child(LOAD, cache, path) == "lies True"
    assert copies(cache) == []
    (index,) = (cache / "modules" / "index").iterdir()
    (line,) = index.read_text().split("\n")[1::2]
    assert line[:-17].endswith("some-kernels 1.0")


@pytest.mark.parametrize("lock", [False, True])
def test_a_file_installed_a_moment_ago(lock: bool, compile_fake: Compile, tmp_path: Path, cache: Path) -> None:
    """Its times don't tell a change from the other yet. With a lock, the bytes that were hashed must be those that run: a copy."""
    path = installed(compile_fake, tmp_path / "site", "moment")
    environment = require_lock(path, tmp_path / "lock") if lock else {}
    assert in_child("import pathlib; pathlib.Path(files[0]).touch()\n" + LOAD, cache, path, **environment) == (
        "moment False" if lock else "moment True"
    )


def test_nothing_is_written_down_where_a_lock_is_required(compile_fake: Compile, tmp_path: Path, cache: Path) -> None:
    path = installed(compile_fake, tmp_path / "site", "locked", settled=True)
    assert in_child(LOAD, cache, path, **require_lock(path, tmp_path / "lock")) == "locked True"
    assert not cache.exists()


@pytest.mark.parametrize("change", ["link", "move"])
def test_the_record_of_the_folder_that_a_path_leads_to_now(
    change: str, compile_fake: Compile, tmp_path: Path, cache: Path
) -> None:
    """A process that has followed a path once follows it anew when it leads elsewhere."""
    first = installed(compile_fake, tmp_path / "first", "first")
    second = installed(compile_fake, tmp_path / "second", "second")
    changed = second.with_name("first.so")
    second.rename(changed)
    record = tmp_path / "second" / "some_kernels-1.0.dist-info" / "RECORD"
    record.write_text(record.read_text().replace("second.so", "first.so").replace("sha256=", "sha256=x"))
    asked = tmp_path / "now"
    asked.symlink_to(tmp_path / "first")
    moves = {
        "link": "os.remove(files[2]); os.symlink(files[1], files[2])",
        "move": "os.rename(files[3], files[3] + '.old'); os.rename(files[1], files[3])",
    }
    code = LOAD + moves[change] + "\nprint(answer(files[0]))"
    file = asked / first.relative_to(tmp_path / "first")
    told = in_child(code, cache, file, tmp_path / "second", asked, tmp_path / "first").splitlines()
    assert told[0] == "first False"  # it is mapped under its own name
    assert "isn't the file that some-kernels 1.0 installed" in told[1]


@pytest.mark.parametrize("whose", ["file", "folder", "asked", "unlisted", "unverified"])
def test_a_copy_is_made_of_what_others_may_write(
    whose: str, compile_fake: Compile, tmp_path: Path, cache: Path
) -> None:
    path = installed(compile_fake, tmp_path / "site", "shared")
    environment = {"asked": {"KERNPACK_COPY": "1"}, "unverified": {"KERNPACK_VERIFY": "0"}}.get(whose, {})
    if whose == "file":
        path.chmod(0o664)
    elif whose == "folder":
        path.parent.chmod(0o777)
    elif whose == "unlisted":
        (tmp_path / "site" / "some_kernels-1.0.dist-info" / "RECORD").write_text("")
    assert in_child(LOAD, cache, path, **environment) == "shared False"
    assert copies(cache) == ["shared.so"]


def test_a_folder_that_others_may_write_since_then(compile_fake: Compile, tmp_path: Path, cache: Path) -> None:
    path = installed(compile_fake, tmp_path / "site", "opened", settled=True)
    assert in_child(LOAD, cache, path) == "opened True"
    path.parent.chmod(0o777)
    assert in_child(LOAD, cache, path) == "opened False"


UPGRADED = (
    LOAD
    + """
import shutil
os.replace(files[1], files[0])
print(answer(files[0]))
shutil.copy(files[3], files[2])
print(answer(files[0]), mapped(files[0]))
print(host.call(host.function(host.load(files[0]), "second"), host.integer(40), host.integer(2)).bits)
"""
)


def test_an_upgrade_loads_beside_what_runs(compile_fake: Compile, tmp_path: Path, cache: Path) -> None:
    site = tmp_path / "site"
    first = installed(compile_fake, site, "first")
    second = compile_fake("second", FAKE_FUNCTION='.name="second"')
    new_record = tmp_path / "RECORD"
    new_record.write_text(record_line(f"some_kernels/{first.name}", second.read_bytes()))
    said = in_child(UPGRADED, cache, first, second, site / "some_kernels-1.0.dist-info" / "RECORD", new_record)
    before, refused, after, result = said.splitlines()
    assert before == "first True"
    assert "isn't the file that some-kernels 1.0 installed" in refused, "RECORD has the old file's digest still"
    assert after == "second True"
    assert result == "42"
    assert copies(cache) == [], "nor is there a copy of the second"


REWRITTEN = """
import shutil
host.load(files[0])
print(os.stat(files[0]).st_ino)
with open(files[0], "r+b") as file:  # as long as before, so that what is mapped stays there
    file.write(open(files[1], "rb").read())
shutil.copy(files[3], files[2])
module = host.load(files[0])
print(os.stat(files[0]).st_ino)
print(host.names(module), host.module_path(module) if hasattr(host, "module_path") else "")
"""


def test_other_content_in_a_file_that_is_mapped(compile_fake: Compile, tmp_path: Path, cache: Path) -> None:
    """The dynamic linker would take it for the object that it has; so a copy of it is loaded."""
    site = tmp_path / "site"
    first = installed(compile_fake, site, "aaaa")
    second = compile_fake("bbbb", FAKE_FUNCTION='.name="bbbb"')
    size = max(first.stat().st_size, second.stat().st_size)
    for path in (first, second):
        path.write_bytes(path.read_bytes().ljust(size, b"\0"))
    record = site / "some_kernels-1.0.dist-info" / "RECORD"
    record.write_text(record_line("some_kernels/aaaa.so", first.read_bytes()))
    new_record = tmp_path / "RECORD"
    new_record.write_text(record_line("some_kernels/aaaa.so", second.read_bytes()))
    before, after, names = in_child(REWRITTEN, cache, first, second, record, new_record).splitlines()
    assert before == after
    assert "bbbb" in names
    assert len(copies(cache)) == 1


FOREIGN = """
import ctypes
if files[1] == "/first":
    ctypes.CDLL(files[0])
else:
    ctypes.CDLL(files[0])
    os.replace(files[1], files[0])
"""


def test_an_object_that_somebody_else_opened(compile_fake: Compile, tmp_path: Path, cache: Path) -> None:
    """By the same path: the one that was verified is found; one that was replaced since then is told apart."""
    site = tmp_path / "site"
    old = installed(compile_fake, site, "old")
    assert in_child(FOREIGN + LOAD, cache, old, Path("/first")) == "old True"
    new = compile_fake("new", FAKE_FUNCTION='.name="new"')
    (site / "some_kernels-1.0.dist-info" / "RECORD").write_text(record_line("some_kernels/old.so", new.read_bytes()))
    assert "an older file of that path is in this process already" in in_child(FOREIGN + LOAD, cache, old, new)


def test_verified_when_it_was_installed(compile_fake: Compile, tmp_path: Path, cache: Path) -> None:
    """KERNPACK_VERIFY=install takes RECORD's word, remembers nothing of it, and knows a changed file by nothing."""
    path = installed(compile_fake, tmp_path / "site", "trusted", settled=True)
    assert in_child(LOAD, cache, path, KERNPACK_VERIFY="install") == "trusted True"
    assert not (cache / "modules" / "index").exists()
    shutil.copy(compile_fake("changed", FAKE_FUNCTION='.name="changed"'), path)
    assert in_child(LOAD, cache, path, KERNPACK_VERIFY="install") == "changed True"
    assert "isn't the file that some-kernels 1.0 installed" in in_child(LOAD, cache, path)
    wrong = in_child(LOAD, cache, path, KERNPACK_VERIFY="instal")
    assert "KERNPACK_VERIFY: expected load" in wrong
    assert "got 'instal'" in wrong


WARM = """
import ctypes
verified = host.Any()
host.check(host.lib().kp_module_warm(files[0].encode(), ctypes.byref(verified)))
print(host.get_text(verified))
"""


def test_a_warmed_file_needs_no_reading(compile_fake: Compile, tmp_path: Path, cache: Path) -> None:
    """As in a container of an image: the file has another number, and times of whole seconds."""
    path = installed(compile_fake, tmp_path / "site", "warmed")
    size = 2 << 20  # smaller files are read all the same
    os.truncate(path, size)
    record = tmp_path / "site" / "some_kernels-1.0.dist-info" / "RECORD"
    record.write_text(record_line("some_kernels/warmed.so", path.read_bytes()))
    assert in_child(WARM, cache, path) == "some-kernels 1.0"
    written = int(path.stat().st_mtime)
    path.unlink()
    shutil.copy(compile_fake("changed", FAKE_FUNCTION='.name="changed"'), path)
    os.truncate(path, size)
    os.utime(path, (written, written))
    assert in_child(LOAD, cache, path) == "changed True", "nobody read it"
    refused = "isn't the file that some-kernels 1.0 installed"
    os.utime(path, (written + 1, written + 1))
    assert refused in in_child(LOAD, cache, path), "of another second"
    os.utime(path, (written, written))
    record.write_text(record_line("some_kernels/warmed.so", b"another"))
    assert refused in in_child(LOAD, cache, path), "of another version"


def test_warming_compares(compile_fake: Compile, tmp_path: Path, cache: Path) -> None:
    path = installed(compile_fake, tmp_path / "site", "compared")
    code = "try:\n    exec(" + repr(WARM) + ")\nexcept host.Raised as error:\n    print(error)"
    with path.open("ab") as file:
        file.write(b"more")
    assert "isn't the file that some-kernels 1.0 installed" in in_child(code, cache, path)
    assert not (cache / "modules" / "warm").exists()
    (tmp_path / "site" / "some_kernels-1.0.dist-info" / "RECORD").write_text("")
    assert in_child(code, cache, path) == ""
    cache.write_text("a file, so that no folder can be made there")
    path = installed(compile_fake, tmp_path / "other", "nowhere")
    said = in_child(code, cache, path)
    assert "kernpack verify --warm: can't write below" in said
    assert "set KERNPACK_CACHE_DIR to a folder of this user" in said
