"""A call with an argument of the wrong type says which one, what was expected and what came."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
import kernpack_compiler as kc
from kernpack_compiler import _native, ir


class Odd:
    """An object that no function accepts."""


def program() -> ir.StageProgram:
    p = ir.StageProgram("copy")
    n = p.dim("N")
    x = p.input("x", "f32", [n])
    p.result(p.compute("out", [n], lambda i: x[i]))
    return p


def schedule() -> ir.Schedule:
    return ir.Schedule(program())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: program().dim(3), "StageProgram.dim: name: expected str, got int 3"),
        (lambda: ir.StageProgram(3), "StageProgram: name: expected str, got int 3"),
        (lambda: ir.Schedule("x"), "Schedule: program: expected StageProgram, got str 'x'"),
        (lambda: ir.IRModule([3]), "IRModule: functions: expected a list of PrimFunc, got list of int"),
        (lambda: ir.IRModule.parse(3), "IRModule.parse: text: expected str, got int 3"),
        (lambda: ir.IRModule([], nme="x"), "IRModule: expected (functions=[], name='module', target=None), got 'nme='"),
        (lambda: schedule().split("out", "i", "8"), "Schedule.split: factor: expected int, got str '8'"),
        (
            lambda: schedule().split("out", "i", 2**70),
            f"Schedule.split: factor: expected an int of fewer bits, got {2**70}",
        ),
        (
            lambda: schedule().split("out"),
            "Schedule.split: expected (stage, axis, factor, tail='peeled'), got no axis and no factor",
        ),
        (
            lambda: schedule().unroll("out", "i", 4),
            "Schedule.unroll: expected (stage, axis), got 3 arguments",
        ),
        (lambda: schedule().unroll("out", stage="out"), "Schedule.unroll: stage: was given twice"),
        (lambda: schedule().reorder("out", [1]), "Schedule.reorder: axes: expected a list of str, got list of int"),
        (lambda: ir.lanes("+", 3), "lanes: x: expected Expr, got int 3"),
        (lambda: _native.ir.extern("f"), "extern: expected (name, type, *args), got no type"),
        (lambda: _native.ir.extern(3, "f32", 1, 2), "extern: name: expected str, got int 3"),
        (lambda: kc.VirtualDevice(3), "VirtualDevice: device_type: expected str or None, got int 3"),
        (lambda: kc.VirtualDevice("cpu", "0"), "VirtualDevice: virtual_device_id: expected int or None, got str '0'"),
        (lambda: kc.CompilationConfig(3), "CompilationConfig: targets: expected an iterable, got int 3"),
    ],
    ids=lambda value: value.split(": ")[0] if isinstance(value, str) else "call",
)
def test_the_argument_is_named(call, message: str) -> None:
    with pytest.raises(TypeError) as raised:
        call()
    assert str(raised.value).endswith(message)


def list_functions(scope: Any, samples: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every function of the extension; methods bound to a sample where there is one."""
    for name, value in vars(scope).items():
        if inspect.ismodule(value):
            yield from list_functions(value, samples)
        elif inspect.isclass(value):
            if not name.startswith("_") and "__init__" in vars(value):
                yield name, value
            if name in samples:
                yield from (
                    (f"{name}.{method}", getattr(samples[name], method))
                    for method in vars(value)
                    if not method.startswith("_") and callable(getattr(samples[name], method))
                )
        elif callable(value) and not name.startswith("_"):
            yield name, value


def test_no_function_answers_with_a_list_of_its_forms() -> None:
    samples = {
        "StageProgram": program(),
        "Schedule": schedule(),
        "Target": kc.Target("c"),
        "VirtualDevice": kc.VirtualDevice("cpu"),
        "CompilationConfig": kc.CompilationConfig(["c"]),
        "IRModule": ir.IRModule([]),
    }
    said = {}
    for name, function in list_functions(_native, samples):
        for count in range(6):
            try:
                function(*[Odd()] * count)
            except Exception as error:
                said[f"{name} of {count}"] = str(error)
    assert len(said) > 400
    assert {call: text for call, text in said.items() if "incompatible" in text or "Invoked with" in text} == {}
