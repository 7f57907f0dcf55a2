"""The process in which checks run, so that a crash or a hang of a kernel is a finding: `python -m kernpack_sdk.testing.worker`.

It is given one JSON object with what to load, then a line with an op and a check for each job, and answers each with a line. The
call that it is in is always in the file `progress`, for the time when it cannot say so itself.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kernpack

from kernpack_sdk.testing import inputs
from kernpack_sdk.testing.bench import Bench, Options
from kernpack_sdk.testing.case import Finding, Op, Result, Skipped
from kernpack_sdk.testing.checks import Check, all_checks
from kernpack_sdk.testing.device import KIND, DeviceLost, first_device, has_code, only_there

_BEFORE = ("calls", "memory")  # they look at what keeps the others from running


class Worker:
    """Of one module."""

    def __init__(self, source: Any, options: Options, given: inputs.Inputs, announce: Callable[[str], None]) -> None:
        self.module = kernpack.load(source)
        self.options = options
        self._inputs = given
        self._announce = announce
        self._benches: dict[str, Bench] = {}

    def bench(self, name: str) -> Bench:
        if name not in self._benches:
            self._benches = {name: Bench(Op.of(self.module, name), self.options, self._inputs, self._announce)}
        return self._benches[name]

    def run(self, name: str, check: Check) -> Result:
        started = time.monotonic()
        result = Result(name, check.name, "passed", seed=self.options.seed)
        bench: Bench | None = None
        try:
            bench = self.bench(name)
            before = bench.made
            why = _why_not(bench, check)
            if why:
                raise Skipped(why)
            result.findings = list(check.run(bench))
            result.calls = bench.made - before
        except DeviceLost as lost:
            result.ended = True  # the next check needs another process
            advice = "run it under compute-sanitizer on a real device, or look the error up in docs/emulator.md"
            result.findings = [
                Finding(f"expected a call without an error on the device, but {lost}", lost.call.text(), advice)
            ]
        except Skipped as why_not:
            result.status, result.reason = "skipped", str(why_not)
        except Exception as error:  # a mistake of ours or of the author's generator: it belongs into the report
            last = traceback.extract_tb(error.__traceback__)[-1]
            result.findings = [
                Finding(
                    f"the check itself failed: {type(error).__name__}: {error} ({os.path.basename(last.filename)}, line {last.lineno})",
                    "",
                    "look at the generators in tests/kernpack_inputs.py, if there are any; else please report this",
                )
            ]
        if result.findings:
            result.status = "failed"
            reason = self._inputs.allowance(name, check.name)
            if reason:
                result.status, result.reason = "allowed", reason
        result.seconds = time.monotonic() - started
        return result


def _why_not(bench: Bench, check: Check) -> str:
    """Why the check says nothing of the op; empty: it does."""
    contract = bench.op.contract
    if check.device and not has_code(bench.op):
        return f"the function has no code for {KIND}"
    if check.device and first_device() is None:
        return f"there is no {KIND} device; --emulate emulates one"
    if contract is None:
        if not check.untyped:
            return "the function has no contract"
        if bench.inputs.arguments(bench.op.name) is None:
            return f'the function has no contract; write @arguments("{bench.op.name}") in tests/kernpack_inputs.py to test it'
    else:
        if not bench.on_cpu and not only_there(bench.op):
            return f"the function runs on {contract.on} only"
        if not bench.on_cpu and not check.arrays:
            return f"the function runs on {KIND} only, and this check needs a function of the CPU"
        if not bench.on_cpu and first_device() is None:
            return f"the function runs on {KIND} only, and there is no such device; --emulate emulates one"
        lacking = bench.generator.unrepresentable()
        if lacking:
            return f"NumPy has no dtype {lacking}, and neither has ml_dtypes"
    if check.name not in _BEFORE:
        if not bench.calls:
            return "no call was accepted"
        if bench.damages:
            return "the kernel writes outside of its tensors: later results mean nothing (see memory)"
    elif check.name != "calls" and not bench.calls:
        return "no call was accepted"
    return ""


def _answer_to(stream: Any) -> Callable[[dict[str, Any]], None]:
    def answer(data: dict[str, Any]) -> None:
        stream.write(json.dumps(data) + "\n")
        stream.flush()

    return answer


def main() -> int:
    # The output of a kernel must not get between the answers.
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    answer = _answer_to(stream)
    faulthandler.enable()
    warnings.simplefilter("ignore")
    asked = json.loads(sys.stdin.readline())
    progress = os.open(asked["progress"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)

    def announce(text: str) -> None:
        line = text.encode()[:4000]
        os.ftruncate(progress, len(line))
        os.pwrite(progress, line, 0)

    try:
        given = inputs.read(Path(asked["inputs"]) if asked["inputs"] else None)
        if asked["reference"]:
            given = inputs.with_references(given, Path(asked["reference"]))
        if os.environ.get("KERNPACK_EMULATOR"):
            first_device()  # where it can't be had, that is the error
        worker = Worker(asked["source"], Options(asked["level"], asked["seed"]), given, announce)
    except Exception as error:  # the module or the author's file cannot be loaded
        text = str(error)
        loading = (
            "kernpack.load: "  # a sentence for whoever named the module; what an author's file raises has its type
        )
        answer({"error": text.removeprefix(loading) if text.startswith(loading) else f"{type(error).__name__}: {text}"})
        return 1
    functions = sorted(worker.module.functions)
    if asked["reference"] and not given.references.keys() & set(functions):
        listed = ", ".join(functions)
        answer(
            {"error": f"{asked['reference']}: expected a function named as one of the module's ({listed}), found none"}
        )
        return 1
    on_device = [name for name in functions if has_code(Op.of(worker.module, name))]
    facts = {"functions": functions, "module": worker.module.name, "version": worker.module.version}
    answer({**facts, KIND: on_device})
    checks = {check.name: check for check in all_checks()}
    for line in sys.stdin:
        job = json.loads(line)
        announce("")
        with contextlib.suppress(BrokenPipeError):
            answer(worker.run(job["op"], checks[job["check"]]).to_json())
    return 0


if __name__ == "__main__":
    sys.exit(main())
