"""Imported kernels: the wheel of examples/ship_triton against Triton itself, and a call against kp::launch in C++.

All on the emulated device. Needs Triton, which `make emulator-triton` puts into build/triton/site.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from kit import Kit
from report import Row

import build

PROGRAM = Path(__file__).parent.parent / "imported_kernels.py"
EXAMPLE = build.ROOT / "examples" / "ship_triton"
GOAL_LOAD = 0.1
GOAL_CALL = 1.05
GOAL_BYTES = 1.2
GOAL_SECONDS = 3.0


def measure(kit: Kit) -> list[Row]:
    rows = [_calls(kit)]
    if not importlib.util.find_spec("triton") and not _triton_site().is_dir():
        print("imports: Triton, to compare with, is not installed: `make emulator-triton` installs it", file=sys.stderr)
        return rows
    with tempfile.TemporaryDirectory() as folder:
        made = _run("wheel", folder)
        wheel = Path(str(made["wheel"]))
        zipfile.ZipFile(wheel).extractall(Path(folder) / "site")
        rows += [_first_call(kit, Path(folder)), *_wheel(wheel, made)]
    return rows


def _triton_site() -> Path:
    return build.ROOT / "build" / "triton" / "site"


def _run(*arguments: object, **variables: str) -> dict[str, object]:
    """The figures that the program prints, in a process of its own: KERNPACK_EMULATOR counts when the CUDA backend is opened."""
    path = os.pathsep.join([str(EXAMPLE), *filter(None, [os.environ.get("PYTHONPATH")]), str(_triton_site())])
    env = {**os.environ, "KERNPACK_EMULATOR": "sm_80", "PYTHONPATH": path, **variables}
    command = [sys.executable, PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout)


def _calls(kit: Kit) -> Row:
    ptx = (build.ROOT / "tests" / "python" / "compiler" / "rows.ptx").read_text()
    compile_flags, link_flags = kit.ours_flags
    flags = [*compile_flags, f"-DPTX={json.dumps(ptx)}"], link_flags
    library = build.shared_object(build.HERE / "ours" / "launched.cc", "launched", flags)
    found = _run("calls", library, kit.repetitions)
    note = "the calling thread's processor time on the emulated device, which isn't waited for: the host's work"
    return Row(
        "imports", "a call of an imported kernel", found["imported"], found["launched"], goal=GOAL_CALL,
        peer="the same kernel by kp::launch", ours_median=found["imported_median"],
        theirs_median=found["launched_median"], note=note,
    )  # fmt: skip


def _first_call(kit: Kit, folder: Path) -> Row:
    """Of processes in turn. What both import, Python and NumPy, isn't measured."""
    ours, theirs = [], []
    for i in range(max(3, kit.repetitions // 12)):
        ours.append(_run("first_call", folder / "site")["ms"])
        theirs.append(_run("triton", TRITON_CACHE_DIR=str(folder / f"cache_{i}"))["ms"])
    return Row(
        "imports", "wheel of Triton kernels: load and first call", min(ours), min(theirs), "ms", GOAL_LOAD,
        peer="import triton, and one kernel compiled for one architecture",
    )  # fmt: skip


def _wheel(wheel: Path, made: dict[str, object]) -> list[Row]:
    size = wheel.stat().st_size / 1024
    images = made["compressed"] / 1024
    return [
        Row(
            "imports", f"size of that wheel, {made['codes']} codes", size, images, "KiB", GOAL_BYTES,
            peer="its PTX and cubins, each compressed by zlib",
        ),
        Row(
            "imports", "that wheel built, its kernels compiled before", made["seconds"], None, "s", GOAL_SECONDS,
            note=f"{made['of_processor']:.1f} s of the processor; Triton compiled the kernels in {made['compiled']:.1f} s",
        ),
    ]  # fmt: skip
