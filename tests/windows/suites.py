"""Run by Windows' Python: the suites of suites.txt, each folder in a process of its own, or the tests that are given, with pytest's options.
Lists each test that is skipped with its reason, and counts by folder (left_out.py)."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[2]
LIST = ROOT / "tests" / "windows" / "suites.txt"
LONGEST = 1500  # seconds for a folder, of which an idle machine needs a fifth
# pytest's: the tests passed, some failed, there were none. Any other code is a crash, or a mistake in the list.
ENDED = {0: "passed", 1: "with failures", 5: "without tests"}


def read() -> dict[str, list[str]]:
    """The files to run, by folder. Each file of such a folder is in the list, to run or with a reason."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    folders: dict[str, list[str]] = {}
    for line in lines:
        if line.startswith("tests/"):
            folders.setdefault(str(PurePosixPath(line).parent), []).append(line)
    named = {line.removeprefix("- ").partition(": ")[0] for line in lines}
    there = {path.relative_to(ROOT).as_posix() for folder in folders for path in (ROOT / folder).glob("test_*.py")}
    if missing := sorted(there - named):
        raise SystemExit(f"tests/windows/suites.txt: add {', '.join(missing)}, or the reason against it behind a dash")
    return folders


def run(arguments: list[str]) -> int:
    sys.path.insert(0, str(ROOT))  # for the plugin
    common = ["-q", "-rs", "--rootdir", str(ROOT), "-p", "no:cacheprovider", "-p", "tests.windows.left_out"]
    code = int(pytest.main([*common, *arguments]))
    sys.stdout.flush()
    if sys.platform == "win32":
        # Destructors of torch_cpu.dll wait for a thread of torch that Windows ended when the process began to end: under Wine, forever.
        kernel = ctypes.windll.kernel32
        kernel.GetCurrentProcess.restype = ctypes.c_void_p
        kernel.TerminateProcess(ctypes.c_void_p(kernel.GetCurrentProcess()), code)
    return code


def main(arguments: list[str]) -> int:
    if any(word.startswith("tests/") for word in arguments):
        return run(arguments)
    told: list[str] = []
    for folder, files in read().items():
        command = [sys.executable, str(Path(__file__)), *arguments, *files]
        try:
            code = subprocess.run(command, check=False, timeout=LONGEST).returncode
        except subprocess.TimeoutExpired:
            told.append(f"{folder}: took longer than {LONGEST} s")
            continue
        if code not in (0, 5):
            told.append(f"{folder}: ended {ENDED.get(code, f'by a crash, or before the tests: code {code}')}")
    print("\n".join(told) or "every folder passed", flush=True)
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
