"""The calls of one op that its kernel accepts, and what the checking mode says of each."""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import kernpack

from kernpack_sdk.testing.case import Call, Op
from kernpack_sdk.testing.derived import DerivedGenerator, find_forward
from kernpack_sdk.testing.device import OnDevice, first_device, only_there
from kernpack_sdk.testing.frameworks import NUMPY, Framework, Outcome
from kernpack_sdk.testing.generate import Generator, Unsolved, Wish
from kernpack_sdk.testing.inputs import Inputs

_TRIES = 12  # calls of one wish, until one is accepted
_FIRST_TRIES = 80  # of the first wish, which learns what the kernel takes
# Memory that is not the op's own was written: what the process does afterwards proves nothing.
_DAMAGE = re.compile(
    r"memory (past its end|before its start) was written|between its elements.*written|earlier call|the call that lent it"
)


@dataclass(frozen=True)
class Options:
    """level: "quick" or "full"."""

    level: str = "quick"
    seed: int = 0

    @property
    def full(self) -> bool:
        return self.level == "full"


@dataclass
class Bench:
    """announce: told of each call before it is made, so that a crash has a name."""

    op: Op
    options: Options
    inputs: Inputs
    announce: Callable[[str], None] = lambda text: None
    refused: list[tuple[Call, str]] = field(default_factory=list)
    check_errors: list[tuple[Call, str]] = field(default_factory=list)
    unsolved: list[str] = field(default_factory=list)
    made: int = 0
    _by_floats: dict[str, list[Call]] = field(default_factory=dict)

    @functools.cached_property
    def on_cpu(self) -> bool:
        return (self.op.contract is None or self.op.contract.on in (None, "cpu")) and not only_there(self.op)

    @functools.cached_property
    def _framework(self) -> Framework:
        """NumPy; for what runs on a device only, that device, where there is one."""
        return NUMPY if self.on_cpu or first_device() is None else OnDevice()

    @functools.cached_property
    def generator(self) -> Generator:
        largest = 1 << (17 if self.options.full else 15)
        forward = find_forward(self.op) if self.inputs.arguments(self.op.name) is None else None
        if forward is not None:
            return DerivedGenerator(self.op, *forward, self.options.seed, self.inputs, largest, self._framework)
        return Generator(self.op, self.options.seed, self.inputs, largest)

    @functools.cached_property
    def calls(self) -> list[Call]:
        """Accepted calls of every kind."""
        if self.op.contract is None:
            wishes = [Wish("the author's arguments")] * (12 if self.options.full else 6)
        else:
            wishes = list(self.generator.wishes(16 if self.options.full else 6))
        found = [self._accepted(wishes[0], _FIRST_TRIES)]
        if found[0] is not None:  # where no plain call is accepted, others are not either
            found += [self._accepted(wish, _TRIES) for wish in wishes[1:]]
        accepted = [call for call in found if call is not None]
        if accepted:
            self._look_again(accepted[0])
        return accepted

    @property
    def damages(self) -> bool:
        return bool(self.calls) and any(_DAMAGE.search(text) for _, text in self.check_errors)

    def accepted(self, wish: Wish) -> Call | None:
        """A further call, or None where none is accepted."""
        return self._accepted(wish, _TRIES) if self.calls else None

    def few(self, count: int) -> list[Call]:
        """So many of the calls, from all over the list."""
        step = max(1, len(self.calls) // count)
        return self.calls[::step][:count]

    def few_with_elements(self, quick: int, full: int) -> list[Call]:
        """At most so many at the level; frameworks may leave a call out that computes nothing."""
        return [call for call in self.few(full if self.options.full else quick) if call.has_elements()]

    def _accepted(self, wish: Wish, tries: int) -> Call | None:
        for _ in range(tries):
            try:
                call = self.generator.call(wish)
            except Unsolved as why:
                self.unsolved.append(str(why))
                continue
            outcome = self.checked(call)
            if isinstance(outcome.error, kernpack.CheckError):
                self._note(call, outcome.error)
            elif outcome.error is not None:
                self.refused.append((call, outcome.refusal))
                continue
            self.generator.learn()
            return call
        return None

    def _note(self, call: Call, error: Exception) -> None:
        """Records the lines of the error that name this op. An effect of another op after its call shows in calls of any op."""
        own = [line for line in str(error).splitlines() if line.startswith(f"{self.op.name}: ")]
        if own:
            self.check_errors.append((call, "\n".join(own)))

    def _look_again(self, call: Call) -> None:
        """A moment later: whether memory of the calls before was written after they had returned."""
        time.sleep(0.02)
        outcome = self.checked(call)
        if isinstance(outcome.error, kernpack.CheckError):
            self._note(call, outcome.error)

    # -------------------------------------------------------------- making calls

    def checked(self, call: Call, values: dict[str, Any] | None = None) -> Outcome:
        """From NumPy, in the checking mode, which is of the CPU."""
        if not self.on_cpu:
            return self.run(call, values)
        with kernpack.checking(trace=False):
            return self.run(call, values)

    def run(self, call: Call, values: dict[str, Any] | None = None, **keywords: Any) -> Outcome:
        """From NumPy, or on the device of what runs there only; on these values, or on copies of the call's."""
        self.starts(call)
        if values is None:
            return self._framework.call(call, **keywords)
        return self._framework.call_on(call, values, **keywords)

    def starts(self, call: Call, how: str = "") -> None:
        self.made += 1
        self.announce(f"{call.text()}{how}")
