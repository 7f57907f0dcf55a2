"""Plans: where each value of a program lives, which copies that takes, what runs beside what."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernpack_compiler._native import CompilationConfig, Target, TargetKind
from kernpack_compiler._native import program as _native
from kernpack_compiler.program import _explain
from kernpack_compiler.program._layout import Transfer, Work, arrange
from kernpack_compiler.program._program import Program

if TYPE_CHECKING:
    from kernpack_compiler._native import TargetSpec
    from kernpack_compiler.program._run import Executable

Access = tuple[str, str, str, bool]


class Plan:
    """A program in which every value has a device. str() is its text, with streams, waits and buffers as comments."""

    def __init__(self, program: Program, native: _native.Plan) -> None:
        self.program = program
        self.native = native
        self.steps = native.programs[-1].steps
        self.values = native.programs[-1].values

    @property
    def peak(self) -> int:
        """Bytes of the buffers of a run, if their sizes are known before it; without results and inputs."""
        return self.native.programs[-1].memory[0]

    def explain(self) -> str:
        """The plan in words: devices, steps with streams and waits, copies and their reasons, buffers and peak memory."""
        return _explain.explain(self)

    def draw(self, file: str | os.PathLike[str]) -> Path:
        """Writes a picture (.svg, .png, .pdf): devices are lanes, calls boxes, copies arrows. Needs matplotlib."""
        from kernpack_compiler.program._draw import draw

        steps: list[Work | Transfer] = []
        for step in self.steps:
            if step.kind == "copy":
                steps.append(Transfer(step.args[0], step.results[0], self.values[step.results[0]][3]))
            elif step.stream is not None or step.barrier:
                label = step.callee.rpartition(".")[2] or step.kind
                steps.append(Work(self._lane(step), label, tuple(step.args), tuple(step.results)))
        lanes = sorted({step.lane for step in steps if isinstance(step, Work)})
        return draw(arrange(lanes, steps), f"{self.program.name}: {_explain.summary(self)}", file)

    def executable(self, devices: Sequence[Any] = ()) -> Executable:
        """The plan on real devices: those of one type are the virtual devices 0, 1, ... of that type in the given order.

        devices: "opencl:1", kernpack.device("opencl", 1), ...; one may be given twice. None: each virtual device is
            the real one of that type and number.
        """
        from kernpack_compiler.program._run import Executable

        return Executable(self, devices)

    def run(self, *arguments: Any, devices: Sequence[Any] = (), **named: Any) -> Any:
        """executable(devices).run(*arguments), for a plan that runs once."""
        return self.executable(devices).run(*arguments, **named)

    def _lane(self, step: _native.PlanStep) -> str:
        """The device, and which of its streams where it has several for calls."""
        streams = [
            index for index, (device, copies) in enumerate(self.native.streams) if device == step.device and not copies
        ]
        if len(streams) < 2 or step.stream not in streams:
            return step.device
        return f"{step.device} #{streams.index(step.stream)}"

    def __str__(self) -> str:
        return str(self.native)

    def __repr__(self) -> str:
        return f"<Plan of {self.program.name}: {_explain.summary(self)}>"


def plan(
    program: Program,
    targets: Iterable[TargetSpec] | None = None,
    default: str | None = None,
    *,
    streams_per_device: int = 4,
    access: Iterable[Access] = (),
    observe: Callable[[str, str], None] | None = None,
) -> Plan:
    """Assigns a device to each value, and adds the necessary copies.

    targets: one for each kind of device, as for CompilationConfig. None: the first target kind for each device type
        that the program's functions can run on.
    default: the device type for values without constraints; by default "cpu", if it has a target.
    streams_per_device: the number of streams of one device on which independent calls may run.
    access: (type of memory, scope or "", type of device that may use it without a copy, only with the same id).
    observe: observe(pass, text) is called with the plan after each pass.

    ValueError for contradicting constraints: it names both, and where each comes from.
    """
    if not isinstance(program, Program):
        raise TypeError(f"program.plan: expected a Program, got {type(program).__name__}; program.trace() makes one")
    if isinstance(targets, (str, dict, Target)):
        raise TypeError(f"program.plan: targets: expected a list of targets, got {targets!r}; put it in brackets")
    chosen = list(targets) if targets is not None else default_targets(program)
    config = CompilationConfig(chosen, default)
    native = _native.make_plan(program.module, program.functions.table, config, streams_per_device, access, observe)
    return Plan(program, native)


def default_targets(program: Program) -> list[str]:
    """A kind of target for the CPU and for each device type that functions of the program run on."""
    kinds: dict[str, str] = {}
    for name in ("llvm", *TargetKind.list()):
        kinds.setdefault(TargetKind.get(name).device_type, name)
    return [
        kinds[device] for device in dict.fromkeys(["cpu", *program.functions.table.device_types()]) if device in kinds
    ]
