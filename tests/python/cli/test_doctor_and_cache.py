"""`kernpack doctor` names what is missing and the command that mends it; `kernpack cache` shows and removes Kernpack's files alone."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest
from kernpack._private import SETTING


def _findings(done) -> dict[str, dict[str, str]]:
    return {each["what"]: each for each in json.loads(done.stdout)}


def test_what_is_here_is_ok(command) -> None:
    done = command("doctor", "--json")
    found = _findings(done)
    assert found["C++ compiler"]["state"] == found["numpy"]["state"] == found["kernpack-sdk"]["state"] == "ok"
    assert done.returncode == int(any(each["state"] == "broken" for each in found.values()))


@pytest.mark.skipif(SETTING == "0", reason="KERNPACK_PRIVATE=0: no hook is looked for")
def test_hooks_into_frameworks_are_looked_for(command, tmp_path: Path) -> None:
    found = _findings(command("doctor", "--json"))
    assert found["hooks into torch"]["found"] == "6 found"
    assert found["hooks into jax"]["found"] == "1 found"
    assert _findings(command("doctor", "--json", env={"KERNPACK_PRIVATE": "0"}))["hooks into torch"]["state"] == "ok"

    (tmp_path / "sitecustomize.py").write_text(
        "from jax._src import custom_partitioning\ndel custom_partitioning._sharding_callbacks\n"
    )
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = command("doctor", "--json", env={"PYTHONPATH": paths})
    changed = _findings(done)["hooks into jax"]
    assert done.returncode == 1
    assert changed["state"] == "broken"
    assert re.fullmatch(r"jax\.shares off: jax \S+ isn't as expected", changed["found"])
    assert "pip install -U kernpack" in changed["mend"]


def test_what_is_missing_has_a_command(command) -> None:
    done = command("doctor", "--json", env={"CXX": "no-such-compiler", "NVCC": "no-such-nvcc"}, sdk=True)
    found = _findings(done)
    assert found["C++ compiler"]["found"] == "no 'no-such-compiler' on the PATH"
    assert found["C++ compiler"]["mend"] == "apt-get install g++, or set CXX to the one you have"
    assert found["nvcc"]["state"] == "absent"


def test_nvrtc_is_looked_for_as_modules_do(command) -> None:
    nowhere = _findings(command("doctor", "--json", env={"KERNPACK_NVRTC": "/nowhere/libnvrtc.so"}))["NVRTC"]
    assert nowhere["state"] == "broken"
    assert "/nowhere/libnvrtc.so: no such file" in nowhere["found"]
    assert nowhere["mend"] == "unset KERNPACK_NVRTC, or correct it"
    found = _findings(command("doctor", "--json", env={"KERNPACK_NVRTC": ""}))["NVRTC"]
    if found["state"] == "ok":
        assert re.match(r"1\d\.\d+ at .*libnvrtc\.so", found["found"])
    else:
        assert found["mend"].startswith('pip install "nvidia-cuda-nvrtc')


def test_a_broken_tool_and_a_bad_cache_end_with_1(command, tmp_path: Path) -> None:
    broken = tmp_path / "broken-cxx"
    broken.write_text("#!/bin/sh\necho no libc >&2\nexit 3\n")
    broken.chmod(0o755)
    done = command("doctor", env={"CXX": str(broken), "KERNPACK_CACHE_DIR": str(broken)})
    assert done.returncode == 1
    assert f"{broken} --version: exit 3: no libc" in done.stdout
    assert f"{broken} isn't a folder" in done.stdout
    assert "-> remove it, or set KERNPACK_CACHE_DIR to a folder of your own" in done.stdout


def _filled(folder: Path) -> Path:
    for name in ("inline/a.so", "modules/deep/b.so", "mine.txt", "other/c.so"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x" * 1000)
    return folder


def test_clean_removes_what_is_kernpacks(command, tmp_path: Path) -> None:
    env = {"KERNPACK_CACHE_DIR": str(_filled(tmp_path / "cache"))}
    facts = json.loads(command("cache", "--json", env=env).stdout)
    assert facts["bytes"] == 2000
    said = command("cache", "clean", "--dry-run", env=env).stdout
    assert "would remove 2.0 KB" in said
    assert (tmp_path / "cache/inline/a.so").exists()
    assert "removed 2.0 KB" in command("cache", "clean", env=env).stdout
    left = sorted(
        str(path.relative_to(tmp_path / "cache")) for path in (tmp_path / "cache").rglob("*") if path.is_file()
    )
    assert left == ["mine.txt", "other/c.so"]


def test_clean_older(command, tmp_path: Path) -> None:
    folder = _filled(tmp_path / "cache")
    old = time.time() - 3 * 86400
    os.utime(folder / "inline/a.so", (old, old))
    env = {"KERNPACK_CACHE_DIR": str(folder)}
    assert "removed 1.0 KB" in command("cache", "clean", "--older", "2", env=env).stdout
    assert (folder / "modules/deep/b.so").exists()
    assert command("cache", "--older", "2", env=env).returncode == 2


def test_a_cache_that_is_a_link_elsewhere_stays(command, tmp_path: Path) -> None:
    elsewhere = _filled(tmp_path / "elsewhere")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/inline").symlink_to(elsewhere)
    assert command("cache", "clean", env={"KERNPACK_CACHE_DIR": str(tmp_path / "cache")}).returncode == 0
    assert (elsewhere / "mine.txt").exists()
