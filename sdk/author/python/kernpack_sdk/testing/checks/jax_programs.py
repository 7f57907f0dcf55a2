"""Compares jit, vmap and jax.export of an op with eager calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernpack_sdk.testing import compare
from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding, Skipped
from kernpack_sdk.testing.checks.repeat import differs, error_bound, how_equal
from kernpack_sdk.testing.frameworks import Jax, Outcome, accepted, as_tuple, framework, split


def _jax() -> Jax:
    made = framework("jax")
    assert isinstance(made, Jax)
    return made


def _calls(bench: Bench, quick: int, full: int) -> list[Call]:
    assert bench.op.contract is not None
    if bench.op.contract.mutates:
        raise Skipped("it writes to an argument: eager calls are refused, and jit is what frameworks compares")
    return bench.few_with_elements(quick, full)


def jit(bench: Bench) -> Iterator[Finding]:
    jax = _jax()
    for call in _calls(bench, 2, 8):
        bench.starts(call, " under jax.jit")
        values = jax.values(call)
        found = differs(bench, call, jax.call_on(call, values), jax.jitted(call, values))
        if found:
            yield Finding(f"expected {how_equal(bench)} under jax.jit, but {found} (eager, jit)", call.text())
            return


def _program(call: Call, rebuild: Any) -> Any:
    def program(given: Any) -> Any:
        positional, named = call.arguments(rebuild(given))
        return as_tuple(call.op.function(*positional, **named))

    return program


def vmap(bench: Bench) -> Iterator[Finding]:
    jax = _jax()
    for call in _calls(bench, 1, 5):
        tensors, rebuild = split(jax.values(call), jax.jax.Array)
        if not tensors:
            raise Skipped("it takes no tensors")
        bench.starts(call, " under jax.vmap")
        program = _program(call, rebuild)
        turned = [each[::-1] if each.ndim and compare.is_inexact(each.dtype) else each for each in tensors]
        turned = accepted(lambda *given, program=program: program(given), turned, tensors, jax)
        try:
            loop = [program(tensors), program(turned)]
            both = jax.jax.vmap(program)([jax.jax.numpy.stack(pair) for pair in zip(tensors, turned, strict=True)])
        except Exception as error:
            yield Finding(
                f"expected jax.vmap to work, but it raised {type(error).__name__}: {error}"[:500], call.text()
            )
            return
        expected = [jax.read(jax.jax.numpy.stack(pair)) for pair in zip(*loop, strict=True)]
        found = compare.difference(
            bench.op.outcome_names,
            expected,
            [jax.read(each) for each in both],
            exact=False,
            bound=4 * error_bound(call),
        )
        if found:
            yield Finding(
                f"expected jax.vmap to give the results of a loop, but {found} (loop, vmap)",
                call.text(),
                "where every tensor has `...`, vmap is one call with one more batch dim: look at how rows are counted",
            )
            return


def export(bench: Bench) -> Iterator[Finding]:
    import kernpack.jax

    jax = _jax()
    for call in _calls(bench, 1, 3):
        tensors, rebuild = split(jax.values(call), jax.jax.Array)
        if not tensors:
            raise Skipped("it takes no tensors")
        bench.starts(call, " under jax.export")
        expected = jax.call(call)
        try:
            program = kernpack.jax.export(jax.jax.jit(_program(call, rebuild)))(tensors)
            given = Outcome(tuple(map(jax.read, program.call(tensors))))
        except Exception as error:
            yield Finding(
                f"expected jax.export to work, but it raised {type(error).__name__}: {error}"[:500], call.text()
            )
            return
        found = differs(bench, call, expected, given)
        if found:
            yield Finding(
                f"expected the exported program to give the results of the call, but {found} (eager, exported)",
                call.text(),
            )
            return
