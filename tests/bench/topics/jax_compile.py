"""Trace, lower and compile a program of 100 ops that XLA splits over four devices."""

from __future__ import annotations

import os
import subprocess
import sys

from kit import Kit
from report import Row

WORKER = """
import sys, time
import jax, jax.numpy as jnp, kernpack
from jax.sharding import AxisType, NamedSharding, PartitionSpec

op = kernpack.load(sys.argv[1]).new_like
mesh = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Auto,))
x = jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, PartitionSpec("d")))

def seconds(length):
    def run(value):
        for _ in range(length):
            value = op(value)
        return value

    start, busy = time.perf_counter(), time.process_time()
    jax.jit(run).trace(x).lower().compile()
    return time.perf_counter() - start, time.process_time() - busy

seconds(1)
print(*min(seconds(length) for length in (100, 101, 102)))
"""


def measure(kit: Kit) -> list[Row]:
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", WORKER, kit.ours.path], env=environment, capture_output=True, text=True, check=True
    )
    elapsed, busy = map(float, done.stdout.split())
    title = "trace, lower and compile 100 ops on 4 devices"
    return [Row("jax", title, elapsed, None, unit="s", goal=1.0, note=f"best of three, {busy:.2f} s of processor time")]
