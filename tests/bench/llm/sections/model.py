"""Tokens a second of SmolLM2-135M, Q4_1, in the NumPy host."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import peers
from chat_model import open_model
from goals import Goal, goal_here
from report import Row

# The tokens that a run reads, the context before them, and the goals beside llama.cpp built for this machine and beside the best wheel.
RUNS: tuple[tuple[str, int, int, Goal | None, Goal | None], ...] = (
    ("prompt of 512", 512, 0, (0.3, 0.7, 1.0), 0.2),
    ("prompt of 2,048", 2048, 0, None, None),
    ("one token at context 128", 1, 128, (0.7, 0.75, 0.95), None),
    ("one token at context 2,048", 1, 2048, (0.25, 0.3, 0.5), None),
)
ROUNDS = 3


def measure(k: Any, threads: int) -> list[Row]:
    """Our rounds and the peers' take turns. Milliseconds per run: the ratio is that of times."""
    model, rows = open_model(k), []
    for name, count, depth, native_goal, wheel_goal in RUNS:
        run = _work(model, count, depth)
        run()
        found = {peer.name: peer for peer in peers.present()}
        best = {who: float("inf") for who in ("ours", *found)}
        for _ in range(ROUNDS):
            best["ours"] = min(best["ours"], *(_seconds(run) for _ in range(3 if count > 1 else 16)))
            for who, peer in found.items():
                best[who] = min(best[who], count / peer.tokens_per_second(threads, count if count > 1 else 0, depth))
        rate = f"{count / best['ours']:,.0f} tokens/s"
        for who in found or [""]:
            goal = goal_here({"llama.cpp": native_goal, "ik-llama-cpp-python": wheel_goal}.get(who))
            note = rate + (f", {who} {count / best[who]:,.0f}" if who else "")
            theirs = best[who] * 1e3 if who else None
            label = f"{name}, {threads} thread{'s' if threads > 1 else ''}"
            rows.append(
                Row("llm model", label, best["ours"] * 1e3, theirs, "ms", goal if who else None, who, note=note)
            )
    return rows


def _work(model: Any, count: int, depth: int) -> Callable[[], object]:
    ids = np.random.default_rng(0).integers(0, 49152, max(count, depth))
    cache = model.cache(count + depth)
    if depth:
        model.forward(ids[:depth], cache)

    def run() -> None:
        cache.length = depth
        model.forward(ids[:count], cache)

    return run


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
