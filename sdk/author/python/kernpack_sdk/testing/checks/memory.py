"""That there are calls to test with, and what the checking mode finds in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Finding


def calls(bench: Bench) -> Iterator[Finding]:
    """An error from the kernel's own check isn't a failure, unless no call is accepted: nothing is tested then."""
    if bench.calls:
        return
    if bench.refused:
        refusals = Counter(text for _, text in bench.refused)
        (last, _), *_ = refusals.most_common(1)
        call = next(call for call, text in bench.refused if text == last)
        text = f"expected to find calls that the kernel accepts, but it refused all {len(bench.refused)}; most often: {last}"
        names = ", ".join(call.values)
        yield Finding(
            text,
            call.text(),
            f"write a generator for what the kernel wants, in tests/kernpack_inputs.py: "
            f'@argument("{bench.op.name}", NAME), with NAME one of {names}',
        )
        return
    why = bench.unsolved[-1] if bench.unsolved else "nothing was generated"
    yield Finding(
        f"expected to find a call that the contract allows, but {why}",
        "",
        f'write @arguments("{bench.op.name}") in tests/kernpack_inputs.py, which gives all arguments',
    )


def memory(bench: Bench) -> Iterator[Finding]:
    """One finding for each way in which a contract was broken, with the first call that shows it."""
    assert bench.calls
    seen: set[str] = set()
    for call, text in bench.check_errors:
        for line in text.splitlines():
            kind = _kind(line)
            if kind not in seen:
                seen.add(kind)
                yield Finding(
                    line.removeprefix(f"{bench.op.name}: "), call.text(), f"when calling it with {call.about}"
                )


def _kind(line: str) -> str:
    """Which argument, and what was done to it: a line of an error without its numbers."""
    return "".join(letter for letter in line if not letter.isdigit())[:60]
