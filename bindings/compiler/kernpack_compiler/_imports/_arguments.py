"""The arguments of a kernel: a contract's tensors and expressions, compared with the parameters that the code declares."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from kernpack_compiler import _native, ir
from kernpack_compiler._imports import _expression, _tensor_map
from kernpack_compiler._imports._entry import Entry, Parameter
from kernpack_compiler._native.ir import PrimFunc, Tracer

_POINTER = 8
_WORKSPACE = re.compile(r"workspace\((.*)\)", re.DOTALL)
_INTEGERS = {1: ir.i8, 2: ir.i16, 4: ir.i32, 8: ir.i64}
_FLOATS = {4: ir.f32, 8: ir.f64}


def parse_names(function: str, contract: str) -> dict[str, Any]:
    """The tensors, scalars and dims of a contract, as a function of the IR has them."""
    return Tracer(function, _native.header_of_contract(function, contract)).arguments


class Arguments:
    """Of the launches of one function. `written`: the tensors that the contract lets it write."""

    def __init__(self, function: str, known: Mapping[str, Any], written: Sequence[Any]) -> None:
        self.function = function
        self.known = known
        self.written = written
        # Kernels for several architectures may take other parameters, and share this memory: one of them runs.
        self.workspaces: dict[tuple[str, int], Any] = {}
        self.uses: Counter[str] = Counter()  # of each text in the parameters at hand

    def checked(self, args: Sequence[object], entries: Sequence[Entry]) -> list[Any]:
        """A tensor or a typed expression for each parameter. Adds checks of what is known at a call only."""
        first = entries[0]
        self.uses.clear()
        for entry in entries:
            if len(args) != len(entry.parameters):
                listed = ", ".join(str(arg) for arg in args)
                raise ValueError(
                    f"{self.function}: args: kernel '{entry.name}' has {entry.listed()} parameters, "
                    f"got {len(args)} arguments: {listed}"
                )
            sizes = [(a, b) for a, b in zip(entry.parameters, first.parameters, strict=True) if a.size != b.size]
            if sizes:
                raise ValueError(
                    f"{self.function}: kernel '{entry.name}' has other parameters in other code: {entry.listed()}, "
                    f"and {first.listed()}"
                )
        # PTX names the types of its parameters, a cubin doesn't.
        named = next((e for e in entries if all(p.type for p in e.parameters)), first)
        pairs = zip(args, named.parameters, strict=True)
        return [self.argument(i, arg, parameter, named.name) for i, (arg, parameter) in enumerate(pairs)]

    def argument(self, i: int, given: object, parameter: Parameter, kernel: str) -> Any:
        where = f"{self.function}: args[{i}]"
        into = f"parameter {i} of kernel '{kernel}' ({parameter.text})"
        tensor = self.known.get(given.strip()) if isinstance(given, str) else None
        bytes_ = _WORKSPACE.fullmatch(given.strip()) if isinstance(given, str) else None
        if bytes_ is not None and parameter.size == _POINTER and not parameter.type.startswith("f"):
            return self.workspace(bytes_[1], i, where)
        if isinstance(given, str) and _tensor_map.is_map(given):
            return _tensor_map.parse(given, self.known, parameter, where, into)
        if isinstance(tensor, ir.Buffer) or given is None or bytes_ is not None:
            if parameter.size != _POINTER or parameter.type.startswith("f"):
                what = "a null pointer" if given is None else f"'{given}'" if bytes_ else f"the tensor '{given}'"
                raise ValueError(f"{where}: {into} takes no pointer, got {what}")
            return ir.i64(0) if given is None else tensor
        if parameter.type == "array":
            more = (
                "; write tensor_map(x, [64, 32]) if it's a CUtensorMap" if parameter.size == _tensor_map.BYTES else ""
            )
            raise ValueError(f"{where}: {into} is a struct passed by value; pointers and numbers are taken{more}")
        value = _expression.evaluate(given, self.known, where)
        return self.number(value, given, parameter, where, into)

    def workspace(self, given: str, i: int, where: str) -> Any:
        """Memory of the device for one call, whose contents are undefined."""
        count = _expression.evaluate(given, self.known, where)
        if not isinstance(count, ir.Expr) and (type(count) is not int or count < 0):
            raise ValueError(f"{where}: workspace(): expected a number of bytes from 0, got {count!r}")
        self.uses[given] += 1
        key = given, self.uses[given]
        if key not in self.workspaces:
            self.workspaces[key] = ir.alloc("u8", [count], "workspace", f"workspace_{i}")
        return self.workspaces[key]

    def number(self, value: Any, given: object, parameter: Parameter, where: str, into: str) -> Any:
        floats = isinstance(value, float) or (isinstance(value, ir.Expr) and value.type.name in ("f32", "f64"))
        if isinstance(value, ir.Expr) and value.type.name not in ("i64", "f64"):
            return self.typed(value, given, parameter, where, into)
        types = _FLOATS if floats or parameter.type.startswith("f") else _INTEGERS
        if floats and parameter.type[:1] in ("u", "s"):
            takes = "a pointer or an integer" if parameter.size == _POINTER else "an integer"
            raise ValueError(f"{where}: {into} takes {takes}, got '{given}', a float")
        if not floats and isinstance(value, ir.Expr) and types is _FLOATS:
            raise ValueError(f"{where}: {into} takes a float, got '{given}', an integer; write f32({given})")
        made = types.get(parameter.size)
        if made is None:
            raise ValueError(
                f"{where}: {into}: expected a value of {parameter.size} bytes, got '{given}'; write its type, such as "
                f"f16({given})"
            )
        if isinstance(value, ir.Expr) and types is _INTEGERS and parameter.size < 8:
            self.check_fits(value, given, parameter, where)
        return made(value)

    def typed(self, value: Any, given: object, parameter: Parameter, where: str, into: str) -> Any:
        """A value to which the author gave a type, or a bool."""
        name = value.type.name
        size = 1 if name == "bool" else int(name.lstrip("iufb")) // 8
        is_float = name.lstrip("b").startswith("f")
        wrong_kind = is_float if parameter.type[:1] in ("u", "s") and parameter.size > 2 else False
        if size != parameter.size or wrong_kind or (parameter.type.startswith("f") and not is_float):
            raise ValueError(f"{where}: {into}: expected a value of that size and kind, got '{given}', of type {name}")
        return ir.u8(value) if name == "bool" else value

    def check_fits(self, value: Any, given: object, parameter: Parameter, where: str) -> None:
        bits = 8 * parameter.size - 1
        ir.check(
            (value >= -(2**bits)) & (value < 2**bits),
            f"{self.function}: {given}: expected a number that fits {bits + 1} bits, which the kernel takes, got {{}}",
            "ValueError",
            [value],
        )

    def declare(self, kernel: str, given: Sequence[Any]) -> PrimFunc:
        """The private function that stands for the kernel: parameters alone."""
        parameters = []
        for i, value in enumerate(given):
            if not isinstance(value, ir.Buffer):
                parameters.append(f"p{i}: {value.type.name}")
                continue
            mark = "!" if any(value is tensor for tensor in self.written) else ""
            dims = ", ".join(f"D{i}_{d}" for d in range(value.ndim))
            parameters.append(f"p{i}{mark}: {value.dtype.name}[{dims}]")
        return PrimFunc.parse(f"private func {kernel}({', '.join(parameters)}) -> () {{}}")
