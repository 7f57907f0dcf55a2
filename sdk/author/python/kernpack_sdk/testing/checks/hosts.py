"""The module under apache-tvm-ffi, which calls the same files: results and refusals are those of Kernpack's own host."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding, Skipped
from kernpack_sdk.testing.checks.repeat import differs
from kernpack_sdk.testing.frameworks import NUMPY, Outcome
from kernpack_sdk.testing.peer import Peer

_ADVICE = (
    "look at what only Kernpack's host has (extensions, global functions), and at what the kernel keeps in it; docs/abi.md, "
    "under another host"
)


def hosts(bench: Bench) -> Iterator[Finding]:
    peer = _peer(bench.op.module.path)
    if peer.function(bench.op) is None:
        raise Skipped("the module has no function of that name for apache-tvm-ffi")
    for call in bench.calls if bench.options.full else bench.few(16):
        found = differs(bench, call, bench.run(call), _there(bench, peer, call), exact=_exact(bench))
        if found:
            yield Finding(f"expected the same results from both hosts, but {found} {_WHO}", call.text(), _ADVICE)
            return
    calls = [*_refused(bench.calls[0]), *((call, NUMPY.values(call)) for call, _ in bench.refused[:4])]
    for call, values in calls:
        here = bench.run(call, values)
        if here.error is None:
            continue  # the contract allows it
        bench.starts(call, f" under {peer.name}")
        there = peer.call_on(call, peer.sharing(values))
        if _said(here) != _said(there):
            text = f"expected the same refusal from both hosts, but got {_said(here)} and {_said(there)} {_WHO}"
            yield Finding(text, call.text(), _ADVICE)
            return


_WHO = "(kernpack, apache-tvm-ffi)"


@functools.cache
def _peer(path: str) -> Peer:
    return Peer(path.split(os.pathsep))


def _there(bench: Bench, peer: Peer, call: Call) -> Outcome:
    bench.starts(call, f" under {peer.name}")
    return peer.call(call)


def _exact(bench: Bench) -> bool | None:
    """Each host may choose another implementation: a module under apache-tvm-ffi knows fewer targets."""
    return False if len(bench.op.module.functions[bench.op.name].variants) > 1 else None


def _refused(call: Call) -> Iterator[tuple[Call, dict[str, Any]]]:
    """The call with one tensor of a dtype that hardly any kernel takes for another, or with other strides; and its arguments."""
    for name, value in call.values.items():
        if isinstance(value, np.ndarray):
            others = [value.astype(np.uint16 if value.dtype != np.uint16 else np.float64)]
            if value.size > 1:
                others.append(np.stack([value, value], axis=-1)[..., 0])
            for other in others:
                yield call.replaced(**{name: other}), {**NUMPY.values(call), name: other}


def _said(outcome: Outcome) -> str:
    """The class that both hosts have for it, and what it says."""
    if outcome.error is None:
        return "results"
    builtin = next(each for each in type(outcome.error).__mro__ if each.__module__ == "builtins")
    text = str(outcome.error).splitlines()
    return f"{builtin.__name__}: {text[0] if text else ''}"
