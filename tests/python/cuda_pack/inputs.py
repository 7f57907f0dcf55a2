"""Generators for `kernpack test --inputs`: those of tests/kernpack_inputs.py, but for what the CPU alone takes or rounds."""

import runpy
from pathlib import Path

import numpy as np
from kernpack_sdk.testing import arguments

_of_the_cpu = runpy.run_path(str(Path(__file__).parents[2] / "kernpack_inputs.py"))
globals().update({name: value for name, value in _of_the_cpu.items() if not name.startswith("__")})


@arguments("packed_linear")
def packed_linear(rng):
    """A weight of integers; the device rounds no activation."""
    while True:
        x, weight, bias, residual, _, activation = _of_the_cpu["packed_linear"](rng)
        if weight.dtype == np.uint8:
            return x, weight, bias, residual, "f32", activation
