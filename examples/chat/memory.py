"""Keys and values of a conversation, kept between answers: of a prompt, only what the model hasn't read yet is read."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import numpy as np


class Memory:
    def __init__(self, model: Any, room: int = 1024) -> None:
        """`room`: for so many tokens at first."""
        self._model, self._room = model, room
        self._cache: Any = None
        self._read: list[int] = []  # the tokens whose keys and values the cache holds

    def recall(self, prompt: list[int], count: int) -> list[int]:
        """The part of the prompt that is still to be read, at least its last token; there is room for `count` tokens after it."""
        pairs = zip(self._read, prompt[:-1], strict=False)
        known = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        capacity = len(prompt) + count
        if self._cache is None or self._cache.capacity < capacity:
            # Twice as much as before: a long conversation is read again a few times only.
            self._room = max(self._room, capacity, 2 * self._cache.capacity if self._cache else 0)
            self._cache = self._model.cache(min(self._room, self._model.sizes.context))
            known = 0
        self._cache.length = known
        del self._read[known:]
        return prompt[known:]

    def forward(self, tokens: list[int]) -> np.ndarray:
        """The logits after the last of the tokens."""
        logits = self._model.forward(tokens, self._cache)
        self._read += tokens
        return logits

    def __len__(self) -> int:
        return len(self._read)
