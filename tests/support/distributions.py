"""The tokens that sample() draws, and how often it should draw each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# Logits of one row, and the options of a call: limits that leave some of them, ties at the limits, rows beyond a block of threads.
_RANDOM = np.random.default_rng(11)
_FEW = _RANDOM.normal(size=40) * 2
_TIES = np.repeat([0.0, 2.0, 1.0, -3.0], 8)
_MANY = np.concatenate([_RANDOM.normal(size=700), [8.0, 7.5, 7.0, 6.5]])[_RANDOM.permutation(704)]
CASES: tuple[tuple[Any, dict[str, Any]], ...] = (
    (_FEW, {}),
    (_FEW, {"temperature": 0.5, "top_p": 0.8}),
    (_FEW, {"temperature": 3.0, "top_k": 17}),
    (_FEW, {"min_p": 0.2, "top_p": 0.7}),
    (_FEW, {"top_k": 9, "top_p": 0.9, "min_p": 0.02}),
    (_TIES, {"top_k": 12}),  # four of the eight second largest, the first ones
    (_TIES, {"top_p": 0.5}),
    (_MANY, {"top_p": 0.95}),
    (_MANY, {"top_k": 600}),
)


def probabilities(logits: Any, *, temperature: float = 1, top_k: int = 0, top_p: float = 1, min_p: float = 0) -> Any:
    """As sample() is documented: the largest top_k, of them those with min_p of the largest, of them what adds up to top_p."""
    logits = np.asarray(logits)
    order = np.argsort(-logits, kind="stable")
    weights = np.exp((logits[order] - logits.max()) / temperature)
    weights[top_k or len(weights) :] = 0
    weights[weights < min_p] = 0
    before = (np.cumsum(weights) - weights) / weights.sum()
    weights[before >= top_p - 1e-12] = 0
    result = np.zeros(len(logits))
    result[order] = weights / weights.sum()
    return result


def check(sample: Callable[..., Any], logits: Any, wide: Any, by: dict[str, Any], draws: int) -> None:
    """Draws of one row of `logits`, whose exact values are `wide`: nothing that has no probability, and the rest by a chi-square test."""
    rows = np.repeat(logits[None], draws, 0) if isinstance(logits, np.ndarray) else logits.repeat(draws, 1)
    found = np.asarray(sample(rows, seed=7, step=3, **by)).astype(int)
    for seed, step, same in ((7, 3, True), (8, 3, False), (7, 4, False)):
        again = np.asarray(sample(rows[:30], seed=seed, step=step, **by)).astype(int)
        assert np.array_equal(found[:30], again) == same, f"{by}: seed {seed}, step {step}"
    p = probabilities(wide, **by)
    counts = np.bincount(found, minlength=len(p))
    assert counts[p == 0].sum() == 0, f"{by}: drew {np.flatnonzero((p == 0) & (counts > 0))}"
    frequent = p * draws >= 5  # the others together, as the test needs
    expected = draws * np.append(p[frequent], p[~frequent].sum())
    observed = np.append(counts[frequent], counts[~frequent].sum())
    there = expected > 0
    chi_square = (np.square(observed - expected)[there] / expected[there]).sum()
    freedom = there.sum() - 1
    # Wilson and Hilferty's normal approximation; 5 is exceeded once in 3 million.
    deviation = ((chi_square / freedom) ** (1 / 3) - 1 + 2 / (9 * freedom)) / np.sqrt(2 / (9 * freedom))
    assert deviation < 5, f"{by}: chi-square {chi_square:.1f} of {freedom} degrees of freedom"
