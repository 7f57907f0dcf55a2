"""A stranger's array."""

from __future__ import annotations

import numpy as np


class Producer:
    """Speaks __dlpack__ only, as CuPy does."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **arguments: object) -> object:
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()
