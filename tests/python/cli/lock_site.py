"""A folder as pip leaves it, with a kernel wheel in it, and the command run on it alone."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import kernpack

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from support.installed import record_line

SOURCE = "void twice(kp::TensorView x, kp::MutTensorView out) {}"
LOAD = "import sys, kernpack\ntry:\n    print(kernpack.load(sys.argv[1]).name)\nexcept ImportError as error:\n    print(error)"


class Site:
    def __init__(self, folder: Path, built: str) -> None:
        self.folder, self._built = folder, built
        self.lock = folder.parent / "kernpack.lock"

    def install(self, name: str, version: str = "1.0", *, machine: str = "", needs: str = "kernpack>=0.1,<2") -> Path:
        """A wheel of that name; its shared object."""
        package = name.replace("-", "_")
        info = f"{package}-{version}.dist-info"
        (self.folder / package).mkdir(parents=True, exist_ok=True)
        (self.folder / info).mkdir()
        target = self.folder / package / "ops.so"
        shutil.copy(self._built, target)
        tag = f"py3-none-manylinux_2_28_{machine or platform.machine()}"
        texts = {
            f"{package}/__init__.py": "",
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Dist: {needs}\n",
            f"{info}/WHEEL": f"Wheel-Version: 1.0\nTag: {tag}\n",
        }
        lines = [record_line(f"{package}/ops.so", target.read_bytes()), f"{info}/RECORD,,\n", f"{info}/INSTALLER,,\n"]
        for path, text in texts.items():
            (self.folder / path).write_text(text)
            lines.append(record_line(path, text.encode()))
        (self.folder / info / "RECORD").write_text("".join(lines))
        return target

    def run(self, *words: object, code: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """The command, or the code: with this folder and the runtime alone, the rest of this Python's packages unseen."""
        path = os.pathsep.join([str(self.folder), str(Path(kernpack.__file__).parents[1])])
        program = code or "import sys; from kernpack._cli import main; sys.exit(main())"
        return subprocess.run(
            [sys.executable, "-S", "-P", "-c", program, *map(str, words)],
            cwd=self.folder.parent,
            env={**os.environ, "PYTHONPATH": path, **environment},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def problems(self) -> list[dict[str, str]]:
        done = self.run("verify", "--json")
        found: list[dict[str, str]] = json.loads(done.stdout)["problems"]
        assert done.returncode == int(bool(found)), done.stderr
        return found

    def load(self, what: str, lock: str = "1") -> str:
        """The name of what was loaded, or why it was refused."""
        done = self.run(what, code=LOAD, KERNPACK_REQUIRE_LOCK=lock)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def edit(self, name: str, **values: Any) -> None:
        """Changes the entry of a wheel in the lock."""
        content = json.loads(self.lock.read_text())
        (entry,) = (each for each in content["wheels"] if each["name"] == name)
        entry.update(values)
        self.lock.write_text(json.dumps(content))
