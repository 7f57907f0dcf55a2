"""Modules that were built when ABI 1.0 was made run under today's host, and under the oldest and newest apache-tvm-ffi."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
BINARIES = sorted(path.stem for path in (GOLDEN / "1.0").glob("*.so"))
OLDEST_PEER = Path(__file__).resolve().parents[2] / "build" / "oldest-peer"  # scripts/oldest-peer installs it
MOST_BYTES = 1_000_000
_SECONDS = 300  # a binary takes a second; a machine may be busy


def use(who: str, name: str, *folders: Path) -> list[str]:
    path = os.pathsep.join(map(str, [*folders, *filter(None, [os.environ.get("PYTHONPATH")])]))
    ran = subprocess.run(
        [sys.executable, "-P", str(GOLDEN / "use.py"), who, str(GOLDEN / "1.0" / f"{name}.so")],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    assert ran.returncode == 0, f"{who}, {name}: exit status {ran.returncode}\n{ran.stdout}{ran.stderr}"
    return ran.stdout.split()


def test_every_kind_of_binary_is_there() -> None:
    assert BINARIES == ["backend", "c_clang", "c_gcc", "cxx_clang", "cxx_gcc", "generated_c", "generated_llvm"]
    assert sum((GOLDEN / "1.0" / f"{name}.so").stat().st_size for name in BINARIES) < MOST_BYTES


@pytest.mark.parametrize("name", BINARIES)
def test_under_our_host(name: str) -> None:
    use("ours", name)


@pytest.mark.parametrize("name", [name for name in BINARIES if name != "backend"])
def test_under_the_newest_peer(name: str) -> None:
    assert use("peer", name)


@pytest.mark.parametrize("name", [name for name in BINARIES if name != "backend"])
def test_under_the_oldest_peer(name: str) -> None:
    if not OLDEST_PEER.exists():
        pytest.fail(f"{OLDEST_PEER} is missing: run scripts/oldest-peer")
    pinned = (OLDEST_PEER.parents[1] / "requirements" / "oldest-peer.txt").read_text().split("==")[1].split()[0]
    assert use("peer", name, OLDEST_PEER)[0] == pinned
