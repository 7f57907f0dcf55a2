"""How long an author waits (`make bench-author`): the table of docs/command.md. Needs kernpack-sdk and NumPy; `--kernels` adds
`kernpack test kernpack_kernels`, which takes minutes."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

KERNPACK = (sys.executable, "-m", "kernpack")
LARGE = 500_000_000  # bytes


def _environment(folder: Path) -> dict[str, str]:
    """Nothing that was compiled before is found again."""
    path = os.pathsep.join(filter(None, [str(folder / "op/build/dev/site"), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "KERNPACK_CACHE_DIR": str(folder / "cache"), "CCACHE_DISABLE": "1", "PYTHONPATH": path}


class Author:
    """A project in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "op"
        self.environment = _environment(folder)

    def run(self, *command: str, cwd: Path | None = None, ok: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(
            command, cwd=cwd or self.project, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode in ok, done.stdout + done.stderr
        return done.stdout

    def new_to_call(self) -> None:
        self.run(*KERNPACK, "new", "op", cwd=self.folder)
        self.run(*KERNPACK, "dev", "--once", "--no-install")
        self.run(sys.executable, "-c", "import kernpack, numpy as np; kernpack.load('op').swish(np.ones(3))")

    def help(self) -> None:
        self.run(*KERNPACK, "--help", cwd=self.folder)

    def demo(self) -> None:
        self.run(*KERNPACK, "demo", cwd=self.folder)

    def add_op(self) -> None:
        self.run(*KERNPACK, "add-op", "cube")
        self.run(*KERNPACK, "dev", "--once", "--no-install")

    def saves(self, rounds: int = 5) -> list[float]:
        """Seconds from each save to the new code being in place."""
        (source,) = (self.project / "src").glob("*.cc")
        command = (*KERNPACK, "dev", "--no-install", "--json")
        took = []
        with subprocess.Popen(
            command, cwd=self.project, env=self.environment, stdout=subprocess.PIPE, text=True
        ) as watcher:
            assert watcher.stdout is not None
            assert json.loads(watcher.stdout.readline())["built"]
            time.sleep(0.5)  # it has looked at the sources once
            for i in range(rounds):
                source.write_text(source.read_text() + f"// {i}\n")
                began = time.monotonic()
                assert json.loads(watcher.stdout.readline())["built"]
                took.append(time.monotonic() - began)
            watcher.terminate()
        return took

    def test(self) -> None:
        self.run(*KERNPACK, "test", "build/dev/site/op")

    def large_wheel(self) -> Path:
        """The project's wheel with so many bytes more in its module's folder, as device code for many architectures weighs."""
        wheel = self.project / json.loads(self.run(*KERNPACK, "build", "--json"))["wheel"]
        (self.folder / "data").write_bytes(os.urandom(LARGE))
        (self.folder / "large.s").write_text(
            f'.section .rodata\n.globl large\nlarge: .incbin "{self.folder}/data"\n.section .note.GNU-stack,"",@progbits\n'
        )
        self.run("cc", "-shared", "-nostdlib", "-s", "-o", "liblarge.so", "large.s", cwd=self.folder)
        with zipfile.ZipFile(wheel, "a") as archive:
            archive.write(self.folder / "liblarge.so", "op/liblarge.so")
        return wheel

    def check(self, wheel: Path) -> None:
        self.run(*KERNPACK, "check", str(wheel), ok=(0, 1))  # RECORD doesn't list what was added


def _seconds(what: Callable[[], object]) -> float:
    began = time.monotonic()
    what()
    return time.monotonic() - began


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="kernpack-author-") as folder:
        author = Author(Path(folder))
        rows = [("`kernpack --help`", statistics.median(_seconds(author.help) for _ in range(9)))]
        rows.append(("`kernpack demo` with NumPy, PyTorch and JAX, nothing cached", _seconds(author.demo)))
        rows.append(("`kernpack new`, `dev --once` and the first call, nothing cached", _seconds(author.new_to_call)))
        rows.append(("`kernpack add-op` and `dev --once`", _seconds(author.add_op)))
        rows.append(("a save, until `kernpack dev` has built and loaded it", statistics.median(author.saves())))
        rows.append(("`kernpack test` of the new project", _seconds(author.test)))
        wheel = author.large_wheel()
        rows.append((f"`kernpack check` of a wheel of {LARGE // 1_000_000} MB", _seconds(lambda: author.check(wheel))))
        if "--kernels" in sys.argv[1:]:
            inputs = str(Path(__file__).resolve().parents[1] / "kernpack_inputs.py")
            kernels = (*KERNPACK, "test", "kernpack_kernels", "--jobs", "2", "--inputs", inputs)
            rows.append(("`kernpack test kernpack_kernels --jobs 2`", _seconds(lambda: author.run(*kernels))))
    print("| what | seconds |\n| -- | -- |")
    for name, seconds in rows:
        print(f"| {name} | {seconds:.1f} |")
    print(f"({os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f})")


if __name__ == "__main__":
    main()
