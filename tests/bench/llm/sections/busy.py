"""Tokens a second while two other processes keep the same CPUs busy."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import numpy as np
from chat_model import open_model
from report import Row

SECONDS = 4.0
SHARE = 0.4  # of the idle speed


def measure(k: Any, threads: int) -> list[Row]:
    """As time per token: the goal is its inverse."""
    model = open_model(k)
    cache = model.cache(1024)
    model.forward(np.arange(128), cache)
    _per_token(model, cache)
    idle = _per_token(model, cache)
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        time.sleep(0.5)
        busy = _per_token(model, cache)
    finally:
        for other in others:
            other.kill()
            other.wait()
    note = f"{idle / busy:.2f} of the idle speed kept"
    return [Row("llm busy", "a token, two processes busy", busy, idle, "ms", 1 / SHARE, "idle", note=note)]


def _per_token(model: Any, cache: Any) -> float:
    """The mean, in milliseconds: what others take away is part of it."""
    start, count = time.perf_counter(), 0
    while (spent := time.perf_counter() - start) < SECONDS:
        cache.length = 128
        model.forward([7], cache)
        count += 1
    return spent / count * 1e3
