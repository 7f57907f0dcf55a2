"""Modules in places that programs meet and authors don't think of: paths that aren't UTF-8, zip files, what a killed load left."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path

import kernpack
import pytest
from support import caches

SOURCE = "int64_t v() { return 42; }"


@pytest.fixture(scope="module")
def module() -> Path:
    return Path(kernpack.load_inline(SOURCE, ["v"], name="unusual_places").path)


def _run(program: str, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *map(os.fspath, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=600,
        check=False,
    )


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A folder whose name isn't UTF-8."""
    folder = tmp_path / os.fsdecode(b"k\xff\xe9r")
    folder.mkdir()
    return folder


LOADS = """
import os, sys
import kernpack
k = kernpack.load(sys.argv[1])
assert k.v() == 42
assert os.fsencode(k.path) == os.fsencode(sys.argv[1]), k.path
repr(k), k.functions["v"].variants, kernpack.info()
assert kernpack.load([sys.argv[1]]).v() == 42
assert kernpack.load(os.path.dirname(sys.argv[1])).v() == 42
import pickle
assert pickle.loads(pickle.dumps(k)).v() == 42
"""


@pytest.mark.parametrize("environment", [{}, {"LC_ALL": "C"}, {"KERNPACK_LOG": "debug"}], ids=["utf8", "c", "log"])
def test_a_path_need_not_be_utf8(module: Path, odd: Path, environment: dict[str, str]) -> None:
    there = odd / "m.so"
    shutil.copy(module, there)
    ran = _run(LOADS, there, KERNPACK_CACHE_DIR=str(odd / "cache"), **environment)
    assert ran.returncode == 0, ran.stderr
    assert any((odd / "cache" / "modules").iterdir())


COMPILES = """
import os, sys
import kernpack
k = kernpack.load_inline("int64_t v() { return 42; }", ["v"], name="odd_cache")
assert k.v() == 42 and k.path.startswith(os.environ["KERNPACK_CACHE_DIR"])
assert kernpack.load(sys.argv[1]).v() == 42
try:
    kernpack.load_inline("int64_t v() { return ; }", ["v"], name="odd_cache")
except RuntimeError as error:
    print(str(error)[:40])
"""


def test_sources_and_caches_may_lie_in_such_a_path(odd: Path) -> None:
    caches.with_support(odd / "cache")
    source = odd / "m.cc"
    source.write_text(
        f'#include <kernpack/kernel.h>\n{SOURCE}\nKP_MODULE("odd", "1");\nKP_EXPORT(v, v);\n', encoding="utf-8"
    )
    ran = _run(COMPILES, source, KERNPACK_CACHE_DIR=str(odd / "cache"), KERNPACK_LOG="debug")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("load_inline: "), ran.stdout


def test_errors_show_such_a_path_and_can_be_printed(odd: Path) -> None:
    for missing in (odd / "none.so", odd / "none"):
        ran = _run("import sys, kernpack\ntry: kernpack.load(sys.argv[1])\nexcept OSError as e: print(e)", missing)
        assert "no such file: '" in ran.stdout, ran.stderr
        assert r"k\xff\xe9r" in ran.stdout
    (odd / "bad.so").write_bytes(b"no object")
    ran = _run("import sys, kernpack\ntry: kernpack.load(sys.argv[1])\nexcept Exception as e: print(e)", odd / "bad.so")
    assert r"k\xff\xe9r" in ran.stdout, ran.stderr


def test_a_package_in_a_zip_is_refused_with_what_to_do(module: Path, tmp_path: Path) -> None:
    archive = tmp_path / "packages.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("zipped_kernels/__init__.py", "import kernpack\nk = kernpack.load(__name__)\n")
        made.write(module, "zipped_kernels/m.so")
    ran = _run("import zipped_kernels", PYTHONPATH=os.pathsep.join([str(archive), os.environ.get("PYTHONPATH", "")]))
    assert (
        f"ImportError: kernpack.load: the package 'zipped_kernels' is inside the zip file {archive}, from which the system "
        "can't load shared objects: unpack it, or install the package with pip" in ran.stderr
    )
    for inside in (archive / "zipped_kernels" / "m.so", archive / "zipped_kernels"):
        with pytest.raises(FileNotFoundError, match=r"is inside the file .*packages.zip: if that is a zip, unpack it"):
            kernpack.load(inside)


# Writing ends the process half way.
KILLED = """
import resource, signal, sys
import kernpack
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, 1 << 12))
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
kernpack.load(sys.argv[1])
"""


def test_what_a_killed_load_left_is_removed_by_the_next(module: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.so", tmp_path / "two.so"
    for file in (one, two):
        file.write_bytes(module.read_bytes() + file.name.encode())
    cache = tmp_path / "cache"
    killed = _run(KILLED, one, KERNPACK_CACHE_DIR=str(cache))
    assert killed.returncode == -signal.SIGXFSZ, killed.stderr
    unfinished = cache / "modules" / "unfinished"
    assert len(list(unfinished.iterdir())) == 1
    loaded = _run(
        "import sys, kernpack; assert kernpack.load(sys.argv[1]).v() == 42", two, KERNPACK_CACHE_DIR=str(cache)
    )
    assert loaded.returncode == 0, loaded.stderr
    assert not list(unfinished.iterdir())


def test_copies_in_progress_are_left_alone(module: Path, tmp_path: Path) -> None:
    unfinished = tmp_path / "modules" / "unfinished"
    unfinished.mkdir(parents=True, mode=0o700)
    for folder in (tmp_path, tmp_path / "modules"):
        folder.chmod(0o700)
    (unfinished / "theirs").write_bytes(b"half")
    with open(unfinished / "theirs", "rb") as theirs:
        fcntl.flock(theirs, fcntl.LOCK_EX)
        copy = tmp_path / "m.so"
        copy.write_bytes(module.read_bytes() + b"in progress")
        program = "import sys, kernpack; assert kernpack.load(sys.argv[1]).v() == 42"
        assert _run(program, copy, KERNPACK_CACHE_DIR=str(tmp_path)).returncode == 0
        assert [file.name for file in unfinished.iterdir()] == ["theirs"]


def _record(site: Path, version: str, content: bytes) -> Path:
    info = site / f"unusual_kernels-{version}.dist-info"
    info.mkdir()
    digest = urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: unusual-kernels\nVersion: {version}\n")
    (info / "RECORD").write_text(f"unusual_kernels/m.so,sha256={digest},{len(content)}\n")
    return info


@pytest.mark.parametrize("older", ["0.9", "1.10"])
def test_an_older_versions_metadata_may_lie_beside(module: Path, tmp_path: Path, older: str) -> None:
    package = tmp_path / "unusual_kernels"
    package.mkdir()
    content = module.read_bytes() + older.encode()
    (package / "m.so").write_bytes(content)
    stale = _record(tmp_path, older, b"what it was")
    os.utime(stale / "RECORD", (time.time() - 1000,) * 2)
    _record(tmp_path, "1.2", content)
    assert kernpack.load(package / "m.so").v() == 42
    (package / "m.so").write_bytes(content + b"changed")
    with pytest.raises(ImportError, match=r"isn't the file that unusual-kernels 1.2 installed"):
        kernpack.load(package / "m.so")
