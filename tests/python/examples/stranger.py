"""A stranger's environment, of the wheels in dist/ alone, and what is done in it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


class Stranger:
    """A fresh virtual environment and what is run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "venv" / "bin"
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")},
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "PIP_FIND_LINKS": f"{(ROOT / 'dist').as_uri()} {os.environ.get('PIP_FIND_LINKS', '')}",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "KERNPACK_CACHE_DIR": str(folder / "cache"),
        }

    def tries(self, *command: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            list(map(str, command)),
            cwd=cwd or self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def runs(self, *command: str | Path, cwd: Path | None = None) -> str:
        done = self.tries(*command, cwd=cwd)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def new(self, name: str, *options: str) -> Path:
        """`kernpack new`; the project's folder."""
        facts = json.loads(self.runs("kernpack", "new", name, *options, "--json"))
        assert Path(facts["folder"]) == self.folder / name
        return self.folder / name


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def source(project: Path) -> Path:
    """The only one of a new project."""
    (found,) = (project / "src").glob("*.cc")
    return found
