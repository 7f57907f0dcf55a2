"""Inputs for the planted ops."""

import numpy as np
from kernpack_sdk.testing import arguments


@arguments("returns_kept_memory")
def one_array(rng):
    return (rng.standard_normal(int(rng.integers(1, 9))).astype(np.float32),)
