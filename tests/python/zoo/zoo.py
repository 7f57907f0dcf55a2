"""python zoo.py [NAME ...]: the zoo, a process for each architecture; without names all of them. Prints a line for each check that
fails or is left out, and ends with 1 if one failed."""

from __future__ import annotations

import os
import sys
import time
import traceback
import warnings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
warnings.filterwarnings("ignore")
import torch  # noqa: E402  (after the settings)
from architectures import NAMES  # noqa: E402
from differences import Report, compare  # noqa: E402
from tiny_models import build  # noqa: E402


def format_lines(name: str, report: Report, seconds: float) -> list[str]:
    state = "FAILED" if report.failed else "ok"
    head = f"{name}: {state}, {len(report.passed)} checks, {seconds:.0f} s; replaced: {', '.join(report.patched) or 'nothing'}"
    return [head, *(f"  failed: {x}" for x in report.failed), *(f"  left out: {x}" for x in report.left_out)]


def _one(name: str) -> bool:
    begun = time.process_time()
    try:
        report = compare(build(name))
    except Exception:
        print(f"{name}: FAILED\n" + traceback.format_exc(limit=-3), flush=True)
        return False
    print("\n".join(format_lines(name, report, time.process_time() - begun)), flush=True)
    return not report.failed


def _in_a_child(name: str) -> int:
    """Its process."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if _one(name) else 1
        finally:
            sys.stdout.flush()
            os._exit(code)
    return child


def main(names: list[str], processes: int) -> int:
    torch.set_num_threads(1)  # which also lets a child of fork compute
    left, running, failed = list(names), {}, []
    while left or running:
        while left and len(running) < processes:
            name = left.pop(0)
            running[_in_a_child(name)] = name
        child, status = os.wait()
        if status != 0:
            failed.append(running[child])
        del running[child]
    print(f"{len(names) - len(failed)} of {len(names)} architectures are the same patched and plain")
    if failed:
        print("not: " + " ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:] or list(NAMES), int(os.environ.get("JOBS", "2"))))
