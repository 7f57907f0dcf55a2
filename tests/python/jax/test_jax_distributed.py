"""jax.distributed: two processes of four devices each hold one global mesh; the numbers are those of one process."""

from __future__ import annotations

import numpy as np
from ranks import run_two

RANK = """
import jax.numpy as jnp, numpy as np, kernpack
from jax.sharding import NamedSharding, PartitionSpec as P
from meshes import shard_map
g = kernpack.load(sys.argv[3])
mesh = jax.make_mesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
whole = np.arange(64, dtype=np.float32).reshape(16, 4)
x = jax.make_array_from_callback(whole.shape, NamedSharding(mesh, P("data")), lambda index: whole[index])
w = jax.make_array_from_callback((4,), NamedSharding(mesh, P()), lambda index: np.arange(4, dtype=np.float32)[index])
loss = lambda x, w: (g.scale(x, w) ** 2).sum()
step = jax.jit(jax.value_and_grad(loss, 1))
assert "all-gather" not in step.lower(x, w).compile().as_text()
value, d_w = step(x, w)
mapped = jax.jit(shard_map(g.scale, mesh=mesh, in_specs=(P("data"), P()), out_specs=P("data")))(x, w)
local = np.concatenate([np.asarray(shard.data) for shard in mapped.addressable_shards])
print(len(jax.devices()), len(jax.local_devices()), float(value), np.asarray(d_w).tolist(), float(local.sum()))
"""


def test_two_processes_of_four_devices(gradients_path):
    x, w = np.arange(64, dtype=np.float32).reshape(16, 4), np.arange(4, dtype=np.float32)
    value, d_w = float(((x * w) ** 2).sum()), (2 * x * x * w).sum(0).tolist()
    for lines, half in zip(run_two(RANK, str(gradients_path)), np.split(x * w, 2), strict=True):
        assert f"8 4 {value} {d_w} {float(half.sum())}" in lines  # gloo prints lines of its own
