"""Values at the edges of each dtype, and comparison with a reference in a wider type."""

import numpy as np
from arrays import get_values

# Largest finite, smallest normal, smallest subnormal.
LIMITS = {
    "f32": (3.4028234663852886e38, 2.0**-126, 2.0**-149),
    "f64": (1.7976931348623157e308, 2.0**-1022, 2.0**-1074),
    "f16": (65504.0, 2.0**-14, 2.0**-24),
    "bf16": (3.3895313892515355e38, 2.0**-126, 2.0**-133),
}
RESOLUTION = {"f32": 2.0**-23, "f64": 2.0**-52, "f16": 2.0**-10, "bf16": 2.0**-7}


def magnitudes(dtype):
    largest, normal, subnormal = LIMITS[dtype]
    steps = [10.0**e for e in (-300, -160, -40, -30, -20, -12, -5, -2, 1, 2, 3, 4, 5, 10, 18, 19, 25, 30, 37, 160, 300)]
    inside = [s for s in steps if subnormal <= s <= largest]
    return [0.0, subnormal, normal * (1 - RESOLUTION[dtype]), normal, 0.5, 1.0, *inside, largest / 2, largest]


def finite_values(dtype):
    """Of both signs, zeros too: the magnitudes and the range where GELU bends."""
    positive = np.concatenate(
        [magnitudes(dtype), np.linspace(0.05, 16, 320), np.geomspace(16, min(1e5, LIMITS[dtype][0]), 60)]
    )
    return np.concatenate([positive, -positive])


def assert_near(found, expected, dtype, size=0.0, factor=4.0):
    """Within `factor` roundings of `expected` or of `size`, the magnitude of what was added up; infinite where the dtype cannot
    hold the expected value, and nowhere else."""
    largest, _normal, subnormal = LIMITS[dtype]
    found = get_values(found).astype(np.longdouble)
    expected = np.asarray(expected, np.longdouble)
    assert found.shape == expected.shape
    assert np.isfinite(expected).all(), "the reference has left its range"
    room = factor * RESOLUTION[dtype] * np.maximum(np.abs(expected), size) + 2 * subnormal
    wrong = ~(np.abs(found - expected) <= room)
    overflown = np.isinf(found) & (np.abs(expected) + room >= largest) & (np.sign(found) == np.sign(expected))
    wrong &= ~overflown
    at = np.argwhere(wrong)[:5]
    assert not len(at), [(tuple(map(int, i)), float(found[tuple(i)]), float(expected[tuple(i)])) for i in at]
