"""The checks, in the order in which they run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Finding


@dataclass(frozen=True)
class Check:
    """needs: the framework without which it is skipped; "" runs in a process that has neither torch nor JAX. untyped: whether it has
    something to say of functions without a contract. arrays: whether it only compares arrays that calls give, so that it can be made
    of a function that runs on a device only. device: whether it calls a CUDA device."""

    name: str
    says: str
    run: Callable[[Bench], Iterable[Finding]]
    needs: str = ""
    untyped: bool = False
    arrays: bool = False
    device: bool = False


@functools.cache
def all_checks() -> tuple[Check, ...]:
    from kernpack_sdk.testing.checks import (
        batch,
        device,
        dtypes,
        fork,
        frameworks,
        gradients,
        graph,
        growth,
        hosts,
        influence,
        invariant,
        jax_programs,
        layout,
        memory,
        mirror,
        processes,
        reference,
        repeat,
        special,
        threads,
        torch_programs,
    )

    return (
        Check("calls", "calls that the contract allows are accepted", memory.calls, untyped=True, arrays=True),
        Check(
            "memory",
            "inputs are unchanged, results are written, nothing outside is touched",
            memory.memory,
            untyped=True,
        ),
        Check("repeat", "equal calls give equal results", repeat.repeat, untyped=True),
        Check("state", "results depend on nothing but the arguments' values", repeat.state, untyped=True),
        Check("garbage", "the previous content of a destination has no effect", repeat.garbage),
        Check("kept", "later calls don't change results, and results don't share memory", repeat.kept, untyped=True),
        Check("misaligned", "tensors may start at any element", layout.misaligned),
        Check("readonly", "inputs are never written to", layout.readonly),
        Check("strided", "strides are used where the contract allows them, else refused", layout.strided),
        Check("rows", "rows of `...` are independent, results marked `sum` add up", batch.rows, arrays=True),
        Check("columns", "dims named by `independent` are independent", batch.columns, arrays=True),
        Check(
            "invariant",
            "items of the dims in `invariant` have the same bits in every batch",
            invariant.invariant,
            arrays=True,
        ),
        Check("mirror", "all sizes are handled alike", mirror.mirror, arrays=True),
        Check("special", "NaN and infinity affect only their own row", special.special, arrays=True),
        Check("influence", "every option has an effect", influence.influence, arrays=True),
        Check("dtypes", "results agree between dtypes", dtypes.dtypes, arrays=True),
        Check("pool", "the number of threads has no effect", threads.pool, untyped=True),
        Check("callers", "threads may call at once", threads.callers, untyped=True),
        Check("fork", "a forked child may call", fork.fork, untyped=True),
        Check("growth", "calls don't leak memory", growth.growth, untyped=True),
        Check("processes", "other processes and processors compute the same", processes.processes),
        Check(
            "cuda",
            "a CUDA device gives the results of the CPU, without an error on the device",
            device.cuda,
            arrays=True,
            device=True,
        ),
        Check(
            "reference",
            "the reference function of --reference gives the same results",
            reference.reference,
            arrays=True,
        ),
        Check(
            "graph", "a graph of a `graph_safe` call gives the results of a call", graph.graph, arrays=True, device=True
        ),
        Check("hosts", "apache-tvm-ffi gets the results of Kernpack", hosts.hosts, needs="tvm_ffi"),
        Check("torch", "torch gets the results of NumPy", frameworks.equal_in("torch"), needs="torch"),
        Check(
            "gradients", "declared gradients match finite differences", gradients.gradients, needs="torch", arrays=True
        ),
        Check("tangents", "declared tangents match finite differences", gradients.tangents, needs="torch", arrays=True),
        Check("opcheck", "torch.library.opcheck passes", torch_programs.opcheck, needs="torch"),
        Check("torch-vmap", "torch.vmap gives the results of a loop", torch_programs.vmap, needs="torch"),
        Check("torch-export", "torch.export gives the results of eager calls", torch_programs.export, needs="torch"),
        Check("jax", "JAX gets the results of NumPy", frameworks.equal_in("jax"), needs="jax"),
        Check("jax-jit", "jax.jit gives the results of eager calls", jax_programs.jit, needs="jax"),
        Check("jax-vmap", "jax.vmap gives the results of a loop", jax_programs.vmap, needs="jax"),
        Check("jax-export", "jax.export gives the results of eager calls", jax_programs.export, needs="jax"),
    )
