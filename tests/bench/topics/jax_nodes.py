"""One node, two tensors and two attributes, in a jitted chain of 200 on JAX's CPU backend."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from harness import Snippet
from kit import Kit
from report import Row, timed_row

LENGTH = 200


def measure(kit: Kit) -> list[Row]:
    x = jnp.ones(16, jnp.float32)
    timings = kit.compare(
        {
            "ours": Snippet("f(x).block_until_ready()", {"f": _chain(_our_node(kit), x), "x": x}),
            "theirs": Snippet("f(x).block_until_ready()", {"f": _chain(_their_node(kit), x), "x": x}),
        }
    )
    for timing in timings.values():
        timing.samples = [sample / LENGTH for sample in timing.samples]
    title = f"JAX node, two attributes, chain of {LENGTH}"
    return [timed_row("jax", title, timings, 0.65, peer="jax-tvm-ffi"), _eager(kit, x)]


def _eager(kit: Kit, x) -> Row:
    """An eager call against a cached jit of the same custom call, made by hand."""
    from kernpack.jax import _target

    function = kit.ours.functions["node"].qualified_name
    bits = np.float64(0.5).view(np.int64)

    @jax.jit
    def by_hand(value):
        call = jax.ffi.ffi_call(_target.target_name(), jax.ShapeDtypeStruct(value.shape, value.dtype))
        return call(value, **{"kp.fn": function, "k": np.int64(3), "s.bits": bits})

    by_hand(x)
    timings = kit.compare(
        {
            "ours": Snippet("f(x, k=3, s=0.5)", {"f": kit.ours.node, "x": x}),
            "theirs": Snippet("f(x).block_until_ready()", {"f": by_hand, "x": x}),
        }
    )
    return timed_row("jax", "eager JAX call, two attributes", timings, 1.2, peer="cached jit of ffi_call")


def _chain(node, x):
    def run(value):
        for _ in range(LENGTH):
            value = node(value)
        return value

    compiled = jax.jit(run)
    compiled(x).block_until_ready()
    return compiled


def _our_node(kit: Kit):
    return lambda value: kit.ours.node(value, k=3, s=0.5)


def _their_node(kit: Kit):
    import jax_tvm_ffi

    jax_tvm_ffi.register_ffi_target(
        "bench.node", kit.theirs.node, ["args", "rets", "attrs.k", "attrs.s"], platform="cpu"
    )

    def node(value):
        call = jax.ffi.ffi_call("bench.node", jax.ShapeDtypeStruct(value.shape, value.dtype))
        return call(value, k=np.int64(3), s=np.float64(0.5))

    return node
