"""The file that lists known files by their state: each line is checked, and what is wrong with one only makes the next load read a file."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support import host
from support.fake import compile_fake_in
from support.installed import install

SETTLED = 2.5  # seconds after which a file's times tell every later change
FULL = 1 << 17
LOAD = """
for path in sys.argv[2:]:
    try:
        print(*host.names(host.load(path)))
    except host.Raised as error:
        print(error)
"""


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "modules"


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Modules whose function has the name of the file, and one that is installed, once their times tell every later change."""
    folder = tmp_path_factory.mktemp("modules")
    compile_fake = compile_fake_in(folder)
    made = {name: compile_fake(name, FAKE_FUNCTION=f'.name="{name}"') for name in ("mine", "other", "late", "more")}
    made["small"] = install(
        compile_fake("small", FAKE_FUNCTION='.name="small"'), folder / "site", "small-kernels", "1.0"
    )
    while time.time() - made["small"].stat().st_ctime < SETTLED:
        time.sleep(0.1)
    return made


def in_child(code: str, cache: Path, *words: object, limit: int | None = None) -> str:
    """The output of the code in a separate process; `limit`: the most bytes that a file of its may have."""

    def restrict() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    before = "import sys; sys.path.insert(0, sys.argv[1])\nfrom support import host\n"
    command = [sys.executable, "-c", before + code, str(host.ROOT / "tests"), *map(str, words)]
    environment = os.environ | {"KERNPACK_CACHE_DIR": str(cache.parent)}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, preexec_fn=restrict)
    assert ran.returncode == 0, (ran.returncode, ran.stderr)
    return ran.stdout


def index(cache: Path) -> Path:
    (path,) = (cache / "index").iterdir()
    return path


@pytest.fixture
def known(modules: dict[str, Path], cache: Path) -> Path:
    """A module that was loaded before. A load that trusts what was written down finds the function `other`, one that reads the file
    finds `mine`."""
    assert in_child(LOAD, cache, modules["mine"]) == "add mine\n"
    # As only this user could: what the next load takes for the known file.
    (copy,) = cache.glob("*/mine.so")
    copy.chmod(0o700)
    copy.write_bytes(modules["other"].read_bytes())
    return modules["mine"]


def test_a_line_that_was_written_down_is_believed(known: Path, cache: Path) -> None:
    assert index(cache).stat().st_mode & 0o777 == 0o600
    assert in_child(LOAD, cache, known) == "add other\n"


def damage(text: str) -> str:
    """Other words, as if the lines of two writers had been mixed up."""
    state, known, check = text.split(" ")
    return f"{state} {known}x {check}"


@pytest.mark.parametrize(
    "edit",
    [
        damage,
        lambda text: text[:-1],
        lambda text: text[:-10] + "\n",
        lambda text: "",
        lambda text: "\n" * len(text),
        lambda text: text.replace(" ", ""),
        lambda text: "\0" + text[1:],
        lambda text: text + "x" * 2 * FULL,
    ],
    ids=["mixed_up", "torn", "short", "empty", "blank", "no_words", "no_begin", "too_long"],
)
def test_a_damaged_line_is_not_believed(edit: Callable[[str], str], known: Path, cache: Path) -> None:
    index(cache).write_text(edit(index(cache).read_text()))
    assert in_child(LOAD, cache, known) == "add mine\n"


def test_a_sound_line_behind_a_damaged_one_is_believed(known: Path, cache: Path) -> None:
    text = index(cache).read_text()
    index(cache).write_text(text[: len(text) // 2] + text + damage(text))
    assert in_child(LOAD, cache, known) == "add other\n"


def test_a_list_that_others_may_write_is_not_believed(known: Path, cache: Path) -> None:
    index(cache).chmod(0o666)
    assert in_child(LOAD, cache, known) == "add mine\n"


def test_a_list_below_a_folder_that_others_may_write_is_not_believed(known: Path, cache: Path) -> None:
    cache.chmod(0o777)
    assert in_child(LOAD, cache, known) == "add mine\n"


def test_a_link_in_its_place_is_not_followed(known: Path, cache: Path, tmp_path: Path) -> None:
    shutil.move(index(cache), tmp_path / "elsewhere")
    path = cache / "index" / "link"
    path.symlink_to(tmp_path / "elsewhere")
    before = (tmp_path / "elsewhere").read_text()
    assert in_child(LOAD, cache, known) == "add mine\n"
    assert (tmp_path / "elsewhere").read_text() == before


def test_a_full_list_is_begun_anew(known: Path, cache: Path, modules: dict[str, Path]) -> None:
    index(cache).write_text(index(cache).read_text() + "\n" * FULL)
    assert in_child(LOAD, cache, known) == "add other\n", "it is read once more"
    assert in_child(LOAD, cache, modules["more"]) == "add more\n"
    assert list((cache / "index").iterdir()) == []
    assert in_child(LOAD, cache, known) == "add mine\n"
    assert index(cache).stat().st_size < 1000


LOAD_WHAT_ANOTHER_LOADED = """
import os, subprocess
from pathlib import Path
mine, late, other, cache = map(Path, sys.argv[2:])
host.load(mine)
code = "import sys; sys.path.insert(0, sys.argv[1]); from support import host; host.load(sys.argv[2])"
subprocess.run([sys.executable, "-c", code, sys.argv[1], str(late)], check=True)
(copy,) = cache.glob("*/" + late.name)
os.chmod(copy, 0o700)
copy.write_bytes(other.read_bytes())
print(*host.names(host.load(late)))
"""


def test_lines_that_others_add_are_found(known: Path, cache: Path, modules: dict[str, Path]) -> None:
    """The process has read the list when another one adds to it."""
    words = (known, modules["late"], modules["more"], cache)
    assert in_child(LOAD_WHAT_ANOTHER_LOADED, cache, *words) == "add more\n"


def test_a_process_whose_files_may_not_grow(modules: dict[str, Path], cache: Path) -> None:
    """The list isn't worth a signal that kills: a module in place is loaded, and nothing is written down."""
    assert in_child(LOAD, cache, modules["small"], limit=64) == "add small\n"
    assert index(cache).read_text() == ""
    assert in_child(LOAD, cache, modules["small"]) == "add small\n"
    assert index(cache).read_text().count("small-kernels 1.0") == 1


LOAD_UNDER_CHANGING_LOCKS = """
import base64, hashlib, json, os, time
from pathlib import Path
lock = Path(os.environ["KERNPACK_REQUIRE_LOCK"])
def locks(path):
    digest = base64.urlsafe_b64encode(hashlib.sha256(Path(path).read_bytes()).digest()).rstrip(b"=").decode()
    wheel = {"name": "w", "version": "1", "abi": 1, "platforms": [], "files": {"file": "sha256=" + digest}}
    return json.dumps({"kernpack_lock": 1, "wheels": [wheel]})
def tries():
    found = []
    for path in sys.argv[2:]:
        try:
            found.append(host.names(host.load(path))[-1])
        except host.Raised as error:
            found.append("isn't in the lock" if "isn't in the lock" in str(error) else str(error))
    print(*found, sep=", ")
mine, late = map(locks, sys.argv[2:])
assert len(mine) == len(late)
lock.write_text(mine)
while time.time() - lock.stat().st_ctime < 2.5:
    time.sleep(0.1)
tries()
tries()  # of a lock that was read before
times = lock.stat()
lock.write_text(late)  # of the same size, and as old
os.utime(lock, ns=(times.st_atime_ns, times.st_mtime_ns))
tries()
lock.write_text(mine)
tries()
lock.write_text("")
tries()
"""


def test_a_lock_that_changes_while_a_process_runs(
    modules: dict[str, Path], cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock that is known isn't read again, and every change of it is noticed."""
    monkeypatch.setenv("KERNPACK_REQUIRE_LOCK", str(tmp_path / "lock"))
    first, again, changed, back, empty = in_child(
        LOAD_UNDER_CHANGING_LOCKS, cache, modules["mine"], modules["late"]
    ).splitlines()
    assert first == again == back == "mine, isn't in the lock"
    assert changed == "isn't in the lock, late"
    assert empty.count("isn't a lock file: it isn't JSON") == 2
