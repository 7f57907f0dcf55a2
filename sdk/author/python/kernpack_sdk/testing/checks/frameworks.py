"""One call from several frameworks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding, Skipped
from kernpack_sdk.testing.checks.repeat import differs, how_equal
from kernpack_sdk.testing.checks.special import special_calls
from kernpack_sdk.testing.frameworks import framework


def equal_in(name: str) -> Callable[[Bench], Iterable[Finding]]:
    """That the framework gives what NumPy gives."""

    def run(bench: Bench) -> Iterator[Finding]:
        other = framework(name)
        calls = bench.calls if bench.options.full or name != "jax" else bench.few(8)
        looked = 0
        for call in [*calls, *special_calls(bench)[: None if bench.options.full else 2]]:
            expected = bench.run(call)
            bench.starts(call, f" from {name}")
            try:
                values = other.values(call)
            except (TypeError, ValueError, AttributeError, KeyError):
                continue  # a dtype that the framework lacks
            given = other.call_on(call, values)
            if given.error is not None and expected.error is None and _is_empty(call, name):
                continue
            looked += 1
            found = differs(bench, call, expected, given)
            if found:
                yield Finding(
                    f"expected {how_equal(bench)} from {name} as from NumPy, but {found} (NumPy, {name})",
                    call.text(),
                    "look at what the kernel reads besides its arguments: alignment, the number of threads, memory that isn't set",
                )
                return
        if not looked:
            raise Skipped(f"{name} has no tensors of these dtypes")

    return run


def _is_empty(call: Call, name: str) -> bool:
    """XLA never runs a call whose results have no elements."""
    return name == "jax" and not call.has_elements()
