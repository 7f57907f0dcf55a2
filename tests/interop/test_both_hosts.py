"""One module of ours under both hosts in one process, in every order: errors, streams and storage reach their own host."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.host import INCLUDE, ROOT
from support.interop import SOURCES, compile_module


@pytest.fixture(scope="module", params=["2 copies", "one copy"])
def module(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Our loader maps a copy of the file of its own, unless the file looks for neighbours through $ORIGIN: then both hosts
    run the same code with the same variables."""
    flags = ["-Wl,-rpath,$ORIGIN"] if request.param == "one copy" else []
    out = tmp_path_factory.mktemp("both") / "both_hosts.so"
    return compile_module(SOURCES / "both_hosts.cc", out, f"-I{INCLUDE}", *flags), request.param


@pytest.mark.parametrize("order", ["opo", "pop", "oopp", "ppoo"])
def test_each_host_sees_its_own(order: str, module: tuple[Path, str]) -> None:
    path, copies = module
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *sys.path])}
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "both_hosts.py"), order, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == copies
