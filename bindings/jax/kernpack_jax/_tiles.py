"""The mesh axes that split each dim, of a sharding that XLA's partitioner has chosen.

JAX can translate it by itself, but raises where a part of an axis splits a dim: a mesh of 4 devices splits 2 heads and their elements by
2 each. No PartitionSpec says that. Such a dim is gathered."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._sharding import Axes, Spec, make_spec


def make_tiles(sharding: Any, rank: int, mesh: Any) -> Spec:
    """As make_spec, from what each device holds, where the sharding has no spec."""
    if sharding is None or hasattr(sharding, "spec") or mesh.empty:
        return make_spec(sharding, rank)
    whole = mesh.devices.size  # each dim of a tensor like this is split evenly by any sharding
    held = sharding.devices_indices_map((whole,) * rank)
    return tuple(_axes(mesh, whole, [held[device][dim] for device in mesh.devices.flat]) for dim in range(rank))


def _axes(mesh: Any, whole: int, held: list[slice]) -> Axes:
    """The axes that cut range(whole) into what the devices hold, the outermost first; none where axes as a whole don't."""
    begins = np.array([part.indices(whole)[0] for part in held]).reshape(mesh.devices.shape)
    steps = [_step(begins, axis) for axis in range(begins.ndim)]
    along = np.indices(begins.shape)
    if not np.array_equal(begins, sum(step * at for step, at in zip(steps, along, strict=True))):
        return ()
    order = sorted((axis for axis, step in enumerate(steps) if step > 0), key=lambda axis: -steps[axis])
    left = whole
    for axis in order:
        if steps[axis] * begins.shape[axis] != left:
            return ()
        left = steps[axis]
    return tuple(mesh.axis_names[axis] for axis in order)


def _step(begins: np.ndarray, axis: int) -> int:
    """How far apart neighbours along an axis begin."""
    return 0 if begins.shape[axis] == 1 else int(begins.take(1, axis).flat[0] - begins.flat[0])
