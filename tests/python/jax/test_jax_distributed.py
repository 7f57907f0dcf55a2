"""jax.distributed: two processes of four devices each hold one global mesh; the numbers are those of one process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import numpy as np

RANK = """
import sys
import jax
rank, port, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
jax.distributed.initialize(f"localhost:{port}", 2, rank)
import jax.numpy as jnp, numpy as np, kernpack
from jax.sharding import NamedSharding, PartitionSpec as P
from meshes import shard_map
g = kernpack.load(path)
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
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo",
    }
    command = [sys.executable, "-c", RANK]
    ranks = [
        subprocess.Popen(
            [*command, str(rank), str(port), str(gradients_path)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        texts = [rank.communicate(timeout=240) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    assert [rank.returncode for rank in ranks] == [0, 0], texts
    x, w = np.arange(64, dtype=np.float32).reshape(16, 4), np.arange(4, dtype=np.float32)
    value, d_w = float(((x * w) ** 2).sum()), (2 * x * x * w).sum(0).tolist()
    for (text, _), half in zip(texts, np.split(x * w, 2), strict=True):
        assert f"8 4 {value} {d_w} {float(half.sum())}" in text.splitlines()  # gloo prints lines of its own
