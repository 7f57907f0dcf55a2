"""pytest: `kernpack_cases(module)` makes a test of each check of each function.

from kernpack_sdk.testing import kernpack_cases

test_my_kernels = kernpack_cases("my_kernels")
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import kernpack
    import pytest

    from kernpack_sdk.testing.case import Result
    from kernpack_sdk.testing.runner import Session

_sessions: dict[Any, Session] = {}


def kernpack_cases(
    module: str | os.PathLike[str] | kernpack.Module,
    *,
    ops: Sequence[str] = (),
    checks: Sequence[str] = (),
    level: str = "quick",
    seed: int = 0,
    inputs: str | os.PathLike[str] | None = None,
    emulate: bool = False,
    reference: str | os.PathLike[str] | None = None,
) -> Callable[..., None]:
    """A parametrized test function: assign it to a name that begins with test_.

    module: an installed package, a path, or what kernpack.load gave. ops, checks: names or patterns. level: "quick" or "full".
    inputs: the file with generators; default: kernpack_inputs.py in the current folder's tests. emulate: run code for CUDA on an
    emulated device. reference: a file of functions in Python that compute what the module's do.
    """
    import pytest

    from kernpack_sdk.testing.bench import Options
    from kernpack_sdk.testing.checks import all_checks
    from kernpack_sdk.testing.runner import Plan, chosen_checks, chosen_ops

    if level not in ("quick", "full"):
        raise ValueError(f"kernpack_cases: level: expected 'quick' or 'full', got {level!r}")
    source, names = _source(module)
    plan = Plan(
        source,
        Options(level, seed),
        Path(inputs) if inputs is not None else None,
        emulate=emulate,
        reference=Path(reference) if reference is not None else None,
    )
    by_name = {check.name: check for check in all_checks()}
    cases = [(op, check.name) for op in chosen_ops(names, ops) for check in chosen_checks(checks)]

    @pytest.mark.parametrize(("op", "check"), cases, ids=[f"{op}-{check}" for op, check in cases])
    def test(op: str, check: str) -> None:
        session = _sessions.get(plan) or _sessions.setdefault(plan, _new_session(plan))
        _tell(session.run(op, by_name[check]))

    return test


def _source(module: Any) -> tuple[Any, list[str]]:
    """The source that a worker loads, and the functions."""
    import kernpack

    loaded = module if isinstance(module, kernpack.Module) else kernpack.load(module)
    source = tuple(loaded._source.split(os.pathsep)) if loaded._by_path else loaded._source
    return source, sorted(loaded.functions)


def _new_session(plan: Any) -> Session:
    from kernpack_sdk.testing.runner import Session

    return Session(plan)


def _tell(result: Result) -> None:
    import pytest

    if result.status == "skipped":
        pytest.skip(result.reason)
    text = "\n\n".join("\n".join(filter(None, (each.text, each.call, each.advice))) for each in result.findings)
    if result.status == "allowed":
        pytest.skip(f"allowed: {result.reason}: {text}")
    if result.status == "failed":
        pytest.fail(f"{result.op}: {result.check}: {text}", pytrace=False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Ends the processes that ran the checks."""
    for each in _sessions.values():
        each.close()
    _sessions.clear()
