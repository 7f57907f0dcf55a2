"""`kernpack lock`, `kernpack verify`, and what is refused at load where a lock is required."""

from __future__ import annotations

import json
import os
from pathlib import Path

import kernpack
import pytest
from lock_site import SOURCE, Site


@pytest.fixture(scope="module")
def built() -> str:
    return kernpack.load_inline(SOURCE, {"twice": "(x: f32[N]) -> (out: f32[N])"}, name="locked").path


@pytest.fixture
def site(built: str, tmp_path: Path) -> Site:
    """With the wheel my-kernels 1.0, locked."""
    made = Site(tmp_path / "site", built)
    made.install("my-kernels")
    done = made.run("lock")
    assert done.returncode == 0, done.stderr
    assert "my-kernels 1.0: " in done.stdout
    return made


def test_what_a_lock_holds(site: Site) -> None:
    content = json.loads(site.lock.read_text())
    assert content["kernpack_lock"] == 1
    (entry,) = (each for each in content["wheels"] if each["name"] == "my-kernels")
    assert (entry["version"], entry["abi"]) == ("1.0", 1)
    assert entry["platforms"] == [f"manylinux_2_28_{os.uname().machine}"]
    assert {"my_kernels/ops.so", "my_kernels/__init__.py", "my_kernels-1.0.dist-info/WHEEL"} < set(entry["files"])
    assert not any(name.endswith(("RECORD", "INSTALLER")) for name in entry["files"])
    again = site.lock.read_bytes()
    assert site.run("lock").returncode == 0
    assert site.lock.read_bytes() == again


def test_an_environment_as_locked(site: Site) -> None:
    done = site.run("verify")
    assert (done.returncode, done.stderr) == (0, "")
    count = len(json.loads(site.lock.read_text())["wheels"])
    assert f": {count} {'wheel matches' if count == 1 else 'wheels match'} the lock\n" in done.stdout
    assert site.problems() == []
    assert site.load("my_kernels") == "locked"
    assert site.load("my_kernels", lock=str(site.lock)) == "locked"


def test_a_tampered_file(site: Site) -> None:
    (site.folder / "my_kernels" / "__init__.py").write_text("print('changed')")
    (problem,) = site.problems()
    assert problem["problem"] == "tampered"
    assert (
        "my_kernels/__init__.py isn't the locked file; run `pip install --force-reinstall my-kernels==1.0`"
        in (problem["text"])
    )
    said = site.run("lock")
    assert said.returncode == 1
    assert "my_kernels/__init__.py isn't what was installed" in said.stderr


def test_a_tampered_module_is_refused(site: Site) -> None:
    """RECORD is rewritten with it, so that the lock alone can tell."""
    module = site.folder / "my_kernels" / "ops.so"
    module.write_bytes(module.read_bytes() + b"\0")
    record = site.folder / "my_kernels-1.0.dist-info" / "RECORD"
    record.write_text("my_kernels/__init__.py,,\n")
    assert "ops.so' isn't the file that the lock 'kernpack.lock' lists for my-kernels 1.0: the lock says sha256=" in (
        site.load("my_kernels")
    )
    assert site.load("my_kernels", lock="0") == "locked"
    assert site.load("my_kernels", lock="") == "locked"


def test_a_missing_file(site: Site) -> None:
    (site.folder / "my_kernels" / "ops.so").unlink()
    (problem,) = site.problems()
    assert problem["problem"] == "missing-file"
    assert "ops.so; install its wheel again" in problem["text"]


def test_a_missing_wheel(site: Site) -> None:
    for file in (site.folder / "my_kernels-1.0.dist-info").iterdir():
        file.unlink()
    (site.folder / "my_kernels-1.0.dist-info").rmdir()
    (problem,) = site.problems()
    assert problem["problem"] == "missing-wheel"
    assert problem["text"] == "my-kernels isn't installed; run `pip install my-kernels==1.0`"


def test_an_extra_wheel(site: Site) -> None:
    extra = site.install("other-kernels")
    extra.write_bytes(extra.read_bytes() + b"other")
    record = site.folder / "other_kernels-1.0.dist-info" / "RECORD"
    record.write_text("other_kernels/__init__.py,,\n")
    (problem,) = site.problems()
    assert problem["problem"] == "extra-wheel"
    assert problem["text"] == "other-kernels 1.0 isn't in the lock; uninstall it, or lock again"
    assert "ops.so' isn't in the lock 'kernpack.lock', and KERNPACK_REQUIRE_LOCK refuses everything else" in (
        site.load("other_kernels")
    )


def test_an_extra_module_in_a_locked_package(site: Site) -> None:
    planted = site.folder / "my_kernels" / "planted.so"
    planted.write_bytes((site.folder / "my_kernels" / "ops.so").read_bytes() + b"planted")
    (problem,) = site.problems()
    assert problem["problem"] == "extra-file"
    assert problem["text"] == "my-kernels: my_kernels/planted.so belongs to no wheel; remove it"
    assert "planted.so' isn't in the lock" in site.load("my_kernels")


def test_another_version(site: Site) -> None:
    site.edit("my-kernels", version="2.0")
    (problem,) = site.problems()
    assert problem["problem"] == "version"
    assert "the lock says 2.0, 1.0 is installed; run `pip install my-kernels==2.0`" in problem["text"]


def test_another_abi(site: Site) -> None:
    site.edit("my-kernels", abi=2)
    (problem,) = site.problems()
    assert problem["problem"] == "abi"
    assert "locked for ABI 2; this host has ABI 1: install a kernpack of ABI 2" in problem["text"]
    assert "my-kernels 1.0, which the lock 'kernpack.lock' lists for ABI 2; this host has ABI 1" in (
        site.load("my_kernels")
    )


def test_another_platform(site: Site) -> None:
    site.edit("my-kernels", platforms=["manylinux_2_28_riscv64"])
    (problem,) = site.problems()
    assert problem["problem"] == "platform"
    assert "locked for manylinux_2_28_riscv64; this machine is " in problem["text"]


CORRUPT = {
    "": "it isn't JSON",
    "{": "it isn't JSON",
    "[" * 100_000: "it isn't JSON",
    "[]": 'it has no key "kernpack_lock"',
    '{"kernpack_lock": 2}': "its format is 2, this version reads 1",
    '{"kernpack_lock": 1}': 'it has no list "wheels"',
    '{"kernpack_lock": 1, "wheels": [1]}': 'an entry of "wheels" isn\'t an object',
    '{"kernpack_lock": 1, "wheels": [{"name": "a"}]}': 'a wheel has no "version"',
    '{"kernpack_lock": 1, "wheels": [{"name": "a", "version": "1"}]}': 'has no "abi"',
    '{"kernpack_lock": 1, "wheels": [{"name": "a", "version": "1", "abi": "1", "platforms": []}]}': 'has no "abi"',
    '{"kernpack_lock": 1, "wheels": [{"name": "a", "version": "1", "abi": 1, "platforms": []}]}': 'has no "files"',
    '{"kernpack_lock": 1, "wheels": [{"name": "a", "version": "1", "abi": 1, "platforms": [], "files": {"b": 1}}]}': "",
}


@pytest.mark.parametrize(("text", "why"), CORRUPT.items(), ids=range(len(CORRUPT)))
def test_a_corrupt_lock(site: Site, text: str, why: str) -> None:
    site.lock.write_text(text)
    (problem,) = site.problems()
    assert problem["problem"] == "corrupt"
    for said in (problem["text"], site.load("my_kernels")):
        assert "kernpack.lock' isn't a lock file: " in said
        assert why in said
        assert said.endswith("`kernpack lock` writes it anew")


def test_a_lock_that_is_no_text(site: Site) -> None:
    site.lock.write_bytes(b'{"kernpack_lock": 1, "wheels": "\xff\xfe"}')
    assert site.problems()[0]["problem"] == "corrupt"
    assert "isn't a lock file" in site.load("my_kernels")


@pytest.mark.parametrize("what", ["missing", "folder", "pipe"])
def test_an_unreadable_lock(site: Site, what: str) -> None:
    site.lock.unlink()
    if what == "folder":
        site.lock.mkdir()
    elif what == "pipe":  # isn't waited for
        os.mkfifo(site.lock)
    (problem,) = site.problems()
    assert problem["problem"] == "unreadable"
    said = site.load("my_kernels")
    assert "KERNPACK_REQUIRE_LOCK is set, but the lock 'kernpack.lock' can't be read (" in said
    assert "`kernpack lock` writes ./kernpack.lock" in said


def test_an_unreadable_file(site: Site) -> None:
    module = site.folder / "my_kernels" / "ops.so"
    module.unlink()
    module.mkdir()
    (problem,) = site.problems()
    assert problem["problem"] == "unreadable"
    assert "ops.so can't be read: Is a directory" in problem["text"]


def test_a_file_that_was_loaded_before_is_compared_too(site: Site, tmp_path: Path) -> None:
    """Without a lock the loader finds a file again unread."""
    cache = {"KERNPACK_CACHE_DIR": str(tmp_path / "cache")}
    module = site.folder / "my_kernels" / "ops.so"
    os.utime(module, (1, 1))
    code = "import kernpack, os, sys\nkernpack.load(sys.argv[1])\nos.environ['KERNPACK_REQUIRE_LOCK'] = sys.argv[2]\n"
    code += "try:\n    kernpack.load(sys.argv[1])\nexcept ImportError as error:\n    print(error)"
    site.edit("my-kernels", files={})
    assert "isn't in the lock" in site.run(module, site.lock, code=code, **cache).stdout


def test_a_backend_is_refused(site: Site) -> None:
    backend = site.folder / "backend.so"
    backend.write_bytes((site.folder / "my_kernels" / "ops.so").read_bytes() + b"backend")
    code = "import sys\nfrom kernpack import _core\n_core.backend_load(sys.argv[1])"
    done = site.run(backend, code=code, KERNPACK_REQUIRE_LOCK="1")
    assert "ImportError: load_backend: '" in done.stderr
    assert "backend.so' isn't in the lock 'kernpack.lock'" in done.stderr


def test_a_compiled_source_is_refused(built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = tmp_path / "empty.lock"
    lock.write_text('{"kernpack_lock": 1, "wheels": []}')
    monkeypatch.setenv("KERNPACK_REQUIRE_LOCK", str(lock))
    with pytest.raises(ImportError, match=r"isn't in the lock '.*empty\.lock', and KERNPACK_REQUIRE_LOCK refuses"):
        kernpack.load_inline(SOURCE, {"twice": "(x: f32[N]) -> (out: f32[N])"}, name="locked")
    with pytest.raises(ImportError, match="isn't in the lock"):
        kernpack.load(built, probe=True)


def test_an_editable_install_is_not_locked(site: Site) -> None:
    info = site.folder / "my_kernels-1.0.dist-info"
    (info / "direct_url.json").write_text('{"url": "file:///src", "dir_info": {"editable": true}}')
    done = site.run("lock")
    assert done.returncode == 1
    assert (
        "my-kernels is an editable install, whose files can change at any time; install its wheel instead"
        in done.stderr
    )


def test_nothing_to_lock_and_nowhere_to_write(built: str, tmp_path: Path) -> None:
    site = Site(tmp_path / "site", built)
    (tmp_path / "site").mkdir()
    bare = site.run("lock")
    if "wrote" not in bare.stdout:  # else this Python's kernpack is an installed wheel
        assert bare.stderr == "kernpack lock: no kernel wheel is installed here; pip install one first\n"
    site.install("my-kernels")
    done = site.run("lock", "-o", tmp_path / "nowhere" / "a.lock")
    assert done.returncode == 1
    assert "a.lock can't be written: No such file or directory" in done.stderr


def test_wrong_command_lines(site: Site) -> None:
    for words, said in (
        (["a.lock", "b.lock"], "expected one lock, got 2"),
        (["a.whl"], "a.whl is a wheel; name the signer's public key: --key FILE"),
        (["--key", "k.pub"], "--key checks wheels"),
        (["a.whl", "a.lock", "--key", "k.pub"], "--key checks wheels"),
    ):
        done = site.run("verify", *words)
        assert done.returncode == 2
        assert said in done.stderr
    hidden = "import sys; sys.modules['kernpack_sdk'] = None; from kernpack._cli import main; sys.exit(main())"
    without = site.run("verify", "a.whl", "--key", "k.pub", code=hidden)
    assert without.returncode == 3
    assert "--key needs kernpack-sdk; install it: pip install kernpack-sdk[sign]" in without.stderr


def test_modules_are_compared_when_an_image_is_built(
    site: Site, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNPACK_CACHE_DIR", str(tmp_path / "cache"))
    file = site.folder / "my_kernels" / "ops.so"
    done = site.run("verify", "--warm", "--json")
    found = json.loads(done.stdout)
    # The kernels of this repository are there, too, where its wheels are installed.
    assert found["warmed"].pop(str(file)) == "my-kernels 1.0"
    assert found["problems"] == []
    assert all("kernpack_kernels" in other for other in found["warmed"])
    assert done.returncode == 0
    assert f"{file}: as my-kernels 1.0 installed it\n" in site.run("verify", "--warm").stdout
    assert len(list((tmp_path / "cache" / "modules" / "warm").iterdir())) == 1 + len(found["warmed"])
    file.write_bytes(Path(built).read_bytes() + b"more")
    done = site.run("verify", "--warm")
    assert done.returncode == 1
    assert "isn't the file that my-kernels 1.0 installed" in done.stderr
    refused = site.run("verify", "--warm", "kernpack.lock")
    assert refused.returncode == 2
    assert "--warm takes no files and no --key" in refused.stderr
