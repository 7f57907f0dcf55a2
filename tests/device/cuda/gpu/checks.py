"""Checks of a file that tests/device/run.sh runs: each prints a line."""

import importlib
import traceback
from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernpack

Check = Callable[[], None]
CHECKS: list[Check] = []


class Skip(Exception):
    """The reason for which a check cannot run here."""


def check(function: Check) -> Check:
    CHECKS.append(function)
    return function


def framework(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Skip(f"{name} is not installed ({error})") from None


def torch_with_cuda() -> Any:
    torch = framework("torch")
    if not torch.cuda.is_available():
        raise Skip("torch sees no CUDA device")
    return torch


def main() -> int:
    info = kernpack.info()
    print("devices:", info["devices"], flush=True)
    failed = 0
    for function in CHECKS:
        try:
            function()
            print(f"ok       {function.__name__}", flush=True)
        except Skip as reason:
            print(f"skipped  {function.__name__}: {reason}")
        except Exception:
            failed += 1
            print(f"FAILED   {function.__name__}")
            traceback.print_exc()
    return 1 if failed else 0
