"""A plan in words: what Plan.explain() prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kernpack_compiler.program._layout import shown_bytes

if TYPE_CHECKING:
    from kernpack_compiler._native import program as _native
    from kernpack_compiler.program._plan import Plan


def summary(plan: Plan) -> str:
    """ "12 calls and 4 copies on cpu:0, opencl:0"."""
    calls = sum(step.kind == "call" for step in plan.steps)
    copies = sum(step.kind == "copy" for step in plan.steps)
    devices = sorted({step.device for step in plan.steps if step.stream is not None})
    return f"{_count(calls, 'call')} and {_count(copies, 'copy', 'copies')} on {', '.join(devices) or 'no device'}"


def explain(plan: Plan) -> str:
    sections = [
        ("", [f"{plan.program.name}: {summary(plan)}"]),
        ("streams", _streams(plan)),
        ("steps (stream; what it waits for on other streams)", _steps(plan)),
        ("copies", _copies(plan)),
        ("buffers", _buffers(plan)),
    ]
    return "\n\n".join(
        "\n".join([title, *(f"  {line}" for line in lines)] if title else lines) for title, lines in sections
    )


def _count(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _streams(plan: Plan) -> list[str]:
    return [f"s{i}: {device}{', copies' if copies else ''}" for i, (device, copies) in enumerate(plan.native.streams)]


def _steps(plan: Plan) -> list[str]:
    names = [value[0] for value in plan.values]
    width = len(str(len(plan.steps)))
    lines = []
    for index, step in enumerate(plan.steps):
        if step.stream is None and not step.barrier:
            continue  # constants, tuples, shapes: nothing runs
        stream = "all" if step.barrier else f"s{step.stream}"
        waits = f" after {', '.join(map(str, step.waits))}" if step.waits else ""
        what = f"{step.callee or step.kind}({', '.join(names[value] for value in step.args)})"
        where = f"on {step.device}" if step.kind != "copy" else f"to {step.device}"
        results = ", ".join(names[value] for value in step.results)
        lines.append(f"{index:>{width}}  {stream}{waits}: {results} = {what} {where}{_describe_buffer(plan, step)}")
    return lines


def _describe_buffer(plan: Plan, step: _native.PlanStep) -> str:
    buffers = [plan.values[value][4] for value in step.results]
    taken = ", ".join(f"b{buffer}" for buffer in buffers if buffer is not None)
    return f", in {taken}" if taken else ""


def _copies(plan: Plan) -> list[str]:
    """Each with its reason: who gives the value where, and who needs it elsewhere."""
    makers = {value: step for step in plan.steps for value in step.results}
    lines = []
    for step in plan.steps:
        if step.kind != "copy":
            continue
        source, copied = step.args[0], step.results[0]
        name, _, device, nbytes, _ = plan.values[source]
        maker = makers.get(source)
        made = f"{maker.callee or maker.kind} computes it" if maker is not None else "it is an argument"
        lines.append(f"{name}, {shown_bytes([nbytes])}: {made} on {device}, {_need(plan, copied, step.device)}")
    return lines or ["none"]


def _need(plan: Plan, value: int, device: str) -> str:
    users = dict.fromkeys(user.callee or user.kind for user in plan.steps if value in user.args)
    if not users:
        return f"and the caller expects it on {device}"
    return f"{' and '.join(_few(users))} run{'s' if len(users) == 1 else ''} on {device}"


def _few(names: Iterable[str], most: int = 3) -> list[str]:
    listed = list(names)
    return listed if len(listed) <= most else [*listed[: most - 1], f"{len(listed) - most + 1} others"]


def _buffers(plan: Plan) -> list[str]:
    main = plan.native.programs[-1]
    lines = [
        f"b{index}: {shown_bytes([nbytes]) if nbytes is not None else size + ' bytes'} on {device}, for {_count(len(values), 'value')}"
        for index, (device, size, nbytes, values) in enumerate(main.buffers)
    ]
    return [*lines, _peak(main)]


def _peak(main: _native.PlanProgram) -> str:
    together, apart = main.memory
    open_sizes = Counter(size for _, size, nbytes, _ in main.buffers if nbytes is None)
    if not open_sizes:
        return f"peak {shown_bytes([together])}; {shown_bytes([apart])} if each value had memory of its own"
    if "?" in open_sizes:
        return "peak not known before the run"
    terms = [size if count == 1 else f"{count} * {size}" for size, count in open_sizes.items()]
    return (
        f"peak {' + '.join([*([str(together)] if together else []), *terms])} bytes, known when a run has its extents"
    )
