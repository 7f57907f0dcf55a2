"""Runs the checks of a module in processes of their own, and keeps going when one of them dies."""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernpack._suggest import did_you_mean
from kernpack._system import WINDOWS

from kernpack_sdk.testing.bench import Options
from kernpack_sdk.testing.case import Finding, Result
from kernpack_sdk.testing.checks import Check, all_checks
from kernpack_sdk.testing.frameworks import installed

_PATIENCE = {"quick": 180, "full": 600}  # seconds of one check of one op; the first imports torch and JAX


class CannotTest(Exception):
    """The module or the author's file cannot be loaded, or nothing matches."""


@dataclass(frozen=True)
class Plan:
    """The tests to run. source: as kernpack.load takes it; ops, checks: patterns as of file names; empty: all."""

    source: str | Sequence[str]
    options: Options = field(default_factory=Options)
    inputs: Path | None = None
    ops: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    jobs: int = 1
    patience: float = 0.0  # 0: that of the level
    emulate: bool = False  # CUDA devices are emulated
    reference: Path | None = None  # a file of functions in Python that compute what the ops do


class Process:
    """A worker, made when it is first needed and again when it has died."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._folder = tempfile.TemporaryDirectory(prefix="kernpack-test-")
        self._progress = Path(self._folder.name, "progress")
        self._log = Path(self._folder.name, "stderr")
        self._process: subprocess.Popen[bytes] | None = None
        self.facts: dict[str, Any] = {}
        self._unread = b""

    def start(self) -> dict[str, Any]:
        """Facts about the module. CannotTest if it can't be loaded."""
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "kernpack_sdk.testing.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **self._environment()},
            )
        self._unread = b""
        plan = self._plan
        source = plan.source if isinstance(plan.source, str) else list(plan.source)
        asked = {
            "source": source,
            "level": plan.options.level,
            "seed": plan.options.seed,
            "inputs": str(plan.inputs) if plan.inputs else None,
            "reference": str(plan.reference) if plan.reference else None,
            "progress": str(self._progress),
        }
        answer = self._ask(asked, 120)
        if answer is None:
            raise CannotTest(f"loading {plan.source} ended the process: {self._how_it_ended()}{self._last_words()}")
        if "error" in answer:
            raise CannotTest(answer["error"])
        self.facts = answer
        return answer

    def _environment(self) -> dict[str, str]:
        """A worker is killed in the end, so its temporary files lie in a folder that goes with it."""
        variables = {
            "KERNPACK_LOG": os.environ.get("KERNPACK_LOG", ""),
            "JAX_PLATFORMS": "cpu",
            "TMPDIR": self._folder.name,
        }
        if self._plan.emulate:
            variables["KERNPACK_EMULATOR"] = os.environ.get("KERNPACK_EMULATOR") or "sm_90,sm_80"
            # The order in which warps run is one more thing that a seed draws.
            variables["KERNPACK_EMULATOR_SEED"] = os.environ.get("KERNPACK_EMULATOR_SEED") or str(
                self._plan.options.seed
            )
        return variables

    def run(self, op: str, check: Check) -> Result:
        if self._process is None:
            self.start()
        started = time.monotonic()
        patience = self._plan.patience or _PATIENCE[self._plan.options.level]
        answer = self._ask({"op": op, "check": check.name}, patience)
        if answer is not None:
            result = Result.from_json(answer)
            if result.ended:
                self.stop()
            return result
        seconds = time.monotonic() - started
        call = self._progress.read_text(encoding="utf-8", errors="replace") if self._progress.exists() else ""
        if self._process is not None and self._process.poll() is None and seconds >= patience:
            text = f"expected the check to finish within {patience:g} seconds, but it is still running"
            advice = "look for locks, and for loops that end only for some sizes"
        else:
            text = f"expected an answer or an error, but the process ended: {self._how_it_ended()}{self._last_words()}"
            advice = "run the call under gdb, or built with -fsanitize=address (docs/debugging.md)"
        self.stop()
        findings = [Finding(text, call, advice)]
        seed = self._plan.options.seed
        return Result(op, check.name, "failed", seed=seed, seconds=seconds, findings=findings, ended=True)

    def _ask(self, question: dict[str, Any], patience: float) -> dict[str, Any] | None:
        """None: it died, or did not answer in time."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            return None
        end = time.monotonic() + patience
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._unread:
                left = end - time.monotonic()
                if left <= 0 or not selector.select(left):
                    return None
                part = os.read(self._process.stdout.fileno(), 1 << 20)
                if not part:
                    return None
                self._unread += part
        line, self._unread = self._unread.split(b"\n", 1)
        found: dict[str, Any] = json.loads(line)
        return found

    def _how_it_ended(self) -> str:
        assert self._process is not None
        try:
            status = self._process.wait(10)
        except subprocess.TimeoutExpired:
            return "it does not answer"
        return signal.Signals(-status).name if status < 0 else f"status {status}"

    def _last_words(self) -> str:
        """The last line that isn't of a stack."""
        lines = [line for line in self._log.read_text(errors="replace").splitlines() if line.strip()]
        words = [
            line
            for line in lines
            if not line.startswith((" ", "Current thread", "Thread ", "Extension modules", "Fatal Python"))
        ]
        return f" ({words[-1].strip()[:200]})" if words else ""

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            self._process = None

    def close(self) -> None:
        if self._process is not None and self._process.stdin is not None and os.environ.get("KERNPACK_EMULATOR_COUNTS"):
            self._process.stdin.close()  # its end, at which the emulated device writes what it counted
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(10)
        self.stop()
        self._folder.cleanup()


# Later checks that are skipped after a finding of an earlier check: they would report it again in other words, and mislead. If results
# depend on more than the arguments, every check that compares results is skipped; else the checks of processes and frameworks.
_ELSEWHERE = (
    "fork",
    "processes",
    "hosts",
    "torch",
    "opcheck",
    "torch-vmap",
    "torch-export",
    "jax",
    "jax-jit",
    "jax-vmap",
    "jax-export",
)
_ALIKE = ("strided", "rows", "columns", "mirror", "special", "influence", "dtypes", "gradients", "tangents")
_HERE = ("garbage", "state", "misaligned", "readonly", "pool", "callers")
_CONSEQUENCES = {
    **dict.fromkeys(("repeat", "garbage", "state"), (*_HERE, *_ALIKE, *_ELSEWHERE)),
    **dict.fromkeys(("memory", "misaligned", "pool", "callers"), ("state", "callers", *_ELSEWHERE)),
}


class Consequences:
    """Which checks would only say again what one before them has said."""

    def __init__(self) -> None:
        self._failed: dict[tuple[str, str], Result] = {}

    def note(self, result: Result) -> None:
        if result.status == "failed":
            self._failed[result.op, result.check] = result

    def of(self, op: str, check: str) -> str:
        """Why the check is left out; empty: it isn't."""
        first = self._failed.get((op, "calls"))
        if check != "calls" and first is not None and first.ended:
            return "a call ended the process (see calls)"
        for cause, later in _CONSEQUENCES.items():
            if cause != check and check in later and (op, cause) in self._failed:
                return f"it would repeat what {cause} found"
        return ""


class Session:
    """One module, and its processes: one without torch and JAX, in which a fork is safe, and one with them."""

    def __init__(self, plan: Plan, consequences: Consequences | None = None) -> None:
        self.plan = plan
        self.consequences = consequences or Consequences()
        self._processes: dict[bool, Process] = {}

    def process(self, frameworks: bool) -> Process:
        if frameworks not in self._processes:
            self._processes[frameworks] = Process(self.plan)
        return self._processes[frameworks]

    @property
    def facts(self) -> dict[str, Any]:
        plain = self.process(False)
        return plain.facts or plain.start()

    def run(self, op: str, check: Check) -> Result:
        if check.needs and not installed(check.needs):
            return Result(op, check.name, "skipped", f"{check.needs} is not installed")
        why = self.consequences.of(op, check.name)
        if why:
            return Result(op, check.name, "skipped", why)
        result = self.process(bool(check.needs)).run(op, check)
        self.consequences.note(result)
        return result

    def close(self) -> None:
        for process in self._processes.values():
            process.close()
        self._processes = {}

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def chosen_checks(patterns: Sequence[str]) -> list[Check]:
    found = [
        check for check in all_checks() if not patterns or any(fnmatch.fnmatchcase(check.name, p) for p in patterns)
    ]
    unknown = [p for p in patterns if not any(fnmatch.fnmatchcase(check.name, p) for check in all_checks())]
    if unknown:
        names = [check.name for check in all_checks()]
        near = _near(unknown, names)
        raise CannotTest(
            f"expected names of checks, got {', '.join(unknown)}{near or '; there are ' + ', '.join(names)}"
        )
    return found


def chosen_ops(names: Iterable[str], patterns: Sequence[str]) -> list[str]:
    names = list(names)
    unknown = [p for p in patterns if not any(fnmatch.fnmatchcase(name, p) for name in names)]
    if unknown:
        near = _near(unknown, names) or f"; the module has {', '.join(names)}"
        raise CannotTest(f"expected names of functions, got {', '.join(unknown)}{near}")
    return [name for name in names if not patterns or any(fnmatch.fnmatchcase(name, p) for p in patterns)]


def _near(unknown: Sequence[str], known: Iterable[str]) -> str:
    """ "; did you mean 'softmax'?", or "" where there is more than one unknown name, or nothing near it."""
    return did_you_mean(unknown[0], known) if len(unknown) == 1 else ""


def run(plan: Plan, told: Callable[[Result], None] = lambda result: None) -> tuple[dict[str, Any], list[Result]]:
    """(what the module is, all results in the order of the ops and checks). `told` hears of each when it is there."""
    if WINDOWS:  # its checks fork, and its workers answer through pipes that are waited for
        raise CannotTest("not supported on Windows yet; test the sources on Linux")
    with Session(plan) as first:
        facts = first.facts
        ops = chosen_ops(facts["functions"], plan.ops)
        if plan.emulate and not set(ops) & set(facts["cuda"]):
            raise CannotTest(
                f"--emulate: expected functions with code for cuda, but {facts['module']} has none"
                + (" among those that --op names" if facts["cuda"] else "")
            )
        checks = chosen_checks(plan.checks)
        # Op by op, so that an op's calls are generated once, and first without frameworks.
        jobs = [(op, check) for needs in (False, True) for op in ops for check in checks if bool(check.needs) == needs]
        done: dict[tuple[str, str], Result] = {}
        lock = threading.Lock()

        def share(session: Session, part: Iterator[tuple[str, list[Check]]]) -> None:
            while True:
                with lock:
                    job = next(part, None)
                if job is None:
                    return
                op, some = job
                for check in some:
                    result = session.run(op, check)
                    with lock:
                        done[op, check.name] = result
                        told(result)

        groups: dict[tuple[str, bool], list[Check]] = {}
        for op, check in jobs:
            groups.setdefault((op, bool(check.needs)), []).append(check)
        queue = iter([(op, some) for (op, _), some in groups.items()])
        sessions = [first, *(Session(plan, first.consequences) for _ in range(plan.jobs - 1))]
        try:
            with ThreadPoolExecutor(plan.jobs) as pool:
                for future in [pool.submit(share, session, queue) for session in sessions]:
                    future.result()
        finally:
            for session in sessions[1:]:
                session.close()
    return facts, [done[op, check.name] for op in ops for check in checks]
