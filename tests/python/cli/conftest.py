from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import kernpack
import kernpack_sdk
import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def command() -> Run:
    """command("info", "--json", cwd=..., env={...}): the program as a shell runs it; output is captured."""
    packages = [str(Path(package.__file__).parents[1]) for package in (kernpack, kernpack_sdk)]

    def run(*words: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None, sdk: bool = True):
        """sdk=False: kernpack-sdk isn't there."""
        path = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), *packages])
        hide = "" if sdk else "sys.modules['kernpack_sdk'] = None; "
        program = f"import sys; {hide}from kernpack._cli import main; sys.exit(main())"
        done = subprocess.run(
            [sys.executable, "-P", "-c", program, *map(str, words)],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200", **(env or {})},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        # On a busy machine a build says now and then what it does.
        done.stderr = re.sub(r"^(?:.*build.*): .*, \d+ s so far\n", "", done.stderr, flags=re.MULTILINE)
        return done

    return run
