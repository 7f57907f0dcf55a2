"""Keys and values of several answers in pages of one cache: an answer takes a page when it needs one, and gives all back at its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from packed import KEPT, PackedWeights

PAGE = 64  # tokens


def count_pages(tokens: int) -> int:
    return -(-tokens // PAGE)


class Pages:
    def __init__(self, weights: PackedWeights, needs: Sequence[int]) -> None:
        """`needs`: the tokens of each answer at its end, its prompt's included."""
        sizes = weights.sizes
        count = sum(map(count_pages, needs))
        shape = (sizes.layers, count, PAGE, sizes.groups, sizes.head_width)
        self.keys, self.values = (np.zeros(shape, KEPT) for _ in range(2))
        self.cos, self.sin = weights.angles(max(needs))
        self.table = np.zeros((len(needs), count_pages(max(needs))), np.int32)
        self.lengths = np.zeros(len(needs), np.int32)
        self.free = list(range(count))

    def of(self, answers: Sequence[int]) -> Answers:
        """As Model.forward takes a cache: the next tokens are as many of each of these answers, one answer's after the other's."""
        return Answers(self, np.asarray(answers))

    def give_back(self, answer: int) -> None:
        used = count_pages(self.lengths[answer])
        self.free += self.table[answer, :used].tolist()
        self.lengths[answer] = 0


class Answers:
    def __init__(self, pages: Pages, answers: np.ndarray) -> None:
        self._pages, self._answers = pages, answers

    def angles(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Of the next `count` tokens, for which there are pages now."""
        pages, each = self._pages, count // len(self._answers)
        before = pages.lengths[self._answers]
        for answer, length in zip(self._answers, before, strict=True):
            for i in range(count_pages(length), count_pages(length + each)):
                pages.table[answer, i] = pages.free.pop()
        self._table, self._lengths = pages.table[self._answers], before + np.int32(each)
        places = (before[:, None] + np.arange(each)).reshape(-1)
        return pages.cos[places], pages.sin[places]

    def attend(self, k: Any, layer: int, q: np.ndarray, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
        caches = self._pages.keys[layer], self._pages.values[layer]
        q, *new = (x.reshape(len(self._answers), -1, *x.shape[1:]) for x in (q, keys, values))
        for cache, x in zip(caches, new, strict=True):
            k.paged_store(cache, x, self._table, self._lengths)
        return k.paged_attention(q, *caches, self._table, self._lengths)

    def advance(self, count: int) -> None:
        self._pages.lengths[self._answers] += np.int32(count // len(self._answers))
