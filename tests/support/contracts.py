"""Random contracts and calls, and what the C++ check and Python's solver say of them."""

from __future__ import annotations

import ctypes
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import kernpack
from kernpack._contract import Contract, Parameter, read
from kernpack._core import Device, DType
from kernpack._domain import NUMBERS, Domain, Tensor
from kernpack._solve import Solution

from . import host

DTYPES = ("f32", "f16", "bf16", "i32", "c64", "u8", "bool", "i4", "f8_e4m3fn")
DEVICES = ("cpu", "cuda:0", "cuda:1")
_dtype = {name: DType(name) for name in DTYPES}
_device = {name: Device(name) for name in DEVICES}


def load_checker() -> kernpack.Module:
    source = Path(__file__).with_name("contract_check.cc").read_text()
    ffi = Path(__file__).resolve().parents[2] / "ffi"
    return kernpack.load_inline(source, {"check": None}, name="contract_check", include_paths=[str(ffi)])


class Parsed:
    """A contract from its text: as Python reads it, and the address of its program."""

    def __init__(self, text: str) -> None:
        library = host.lib()
        library.kp_signature_program.restype = ctypes.c_void_p
        library.kp_signature_program.argtypes = (ctypes.c_void_p,)
        library.kp_signature_json.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
        library.kp_signature_parse.argtypes = (host.Bytes, ctypes.c_char_p, ctypes.c_void_p)
        signature, value = ctypes.c_void_p(), host.Any()
        encoded = text.encode()
        host.check(library.kp_signature_parse(host.Bytes(encoded, len(encoded)), None, ctypes.byref(signature)))
        host.check(library.kp_signature_json(signature, ctypes.byref(value)))
        self.text = text
        self.program: int = library.kp_signature_program(signature)
        self.contract: Contract = read("f", json.loads(host.get_text(value)))


def described(value: Any) -> Any:
    """A value as the checker takes it."""
    if isinstance(value, Tensor):
        strides = None if value.strides is None else list(value.strides)
        return ["tensor", _dtype[value.dtype], _device[value.device], list(value.shape), strides]
    return ["list", *map(described, value)] if isinstance(value, list) else value


def solved(contract: Contract, values: list[Any], *, traced: bool, domain: Domain = NUMBERS) -> str:
    """The result of `check` of contract_check.cc."""
    try:
        solution = Solution(contract, values, domain, traced=traced)
        found = ""
        for index in range(len(contract.results)):
            shape, dtype = solution.result(index)
            found += f"{dtype}[{', '.join(map(str, shape))}] " + ("" if traced else f"on {solution.device or 'cpu'} ")
        workspace = solution.workspace()
        return found if workspace is None else f"{found}{workspace} bytes"
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def is_limit(verdict: str) -> bool:
    """True if a number itself is refused, which a symbol never is."""
    return "64 bits" in verdict or "negative size" in verdict or "at least 0 bytes" in verdict


class Draw(random.Random):
    """Contracts and calls from one seed."""

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    # ---------------------------------------------------------- contracts

    def parsed(self) -> Parsed:
        """A contract that compiles."""
        while True:
            try:
                return Parsed(self._text())
            except host.Raised:
                continue

    def _text(self) -> str:
        self._sure: list[str] = []
        self._tuples: list[str] = []
        self._batch = False
        self._vars: list[str] = []
        self._list = self.chance(0.5)
        params = [self._param(name) for name in "xyzwv"[: self.randint(0, 4)]]
        scalars = [f"k: int{self.choice(('', '', ' = 2'))}", "j: int", *self._other_scalars()]
        scalars = scalars[: self.choice((0, 1, 2, 2, 3, 4))]
        self._list = any(scalar.startswith("l:") for scalar in scalars)
        parts = params + (["*", *scalars] if scalars else [])
        results = [self._result(name) for name in "abc"[: self.randint(0, 3)]]
        text = f"({', '.join(parts)}) -> ({', '.join(results)})"
        where = [self._set(var) for var in dict.fromkeys(self._vars)]
        where += [self._condition() for _ in range(self.choice((0, 0, 1, 2)))]
        if where:
            text += f" where {', '.join(where)}"
        marks = []
        if self.chance(0.2):
            marks.append(f"workspace = {self._size(2, workspace=True)}")
        if self.chance(0.1):
            marks.append("on 'cuda'")
        return text + (f" with {', '.join(marks)}" if marks else "")

    def _other_scalars(self) -> list[str]:
        return self.sample(
            [
                "e: float",
                "m: str in {'mean', 'sum'}",
                "s: str",
                "b: bool",
                "t: dtype",
                "d: device",
                "o: int?",
                "l: list[int]",
            ],
            3,
        )

    def _param(self, name: str) -> str:
        terms = [self._term() for _ in range(self.randint(0, 3))]
        optional, is_list = self.chance(0.15), self.chance(0.12)
        if self.chance(0.25):
            terms.insert(0, self.choice(("...", "...", "~...")))
        elif self.chance(0.2):
            terms.insert(self.randint(0, len(terms)), "*" + self.choice("SP"))
        if not optional:
            self._sure += [term for term in terms if term.isalpha() and term.isupper()]
            self._tuples += [term for term in terms if term.startswith("*")]
            self._batch |= "..." in terms
        var = self.choice("TU")
        dtype = self.choice(DTYPES) if self.chance(0.5) else var
        if dtype == var:
            self._vars.append(var)
        written = self.choice(("", "", "", "", "!"))
        marks = self.choice(("", "", "", " strided", " strided" if written else " compact"))
        marks += self.choice(("", "", "", "", " @cpu"))
        spaced = self.choice((", ", ",", " , "))
        kind = f"{dtype}[{spaced.join(terms)}]{marks}"
        if is_list:
            kind = f"list[{kind}]"
        return f"{name}{written}: {kind}{'?' if optional and not is_list else ''}"

    def _term(self) -> str:
        if self.chance(0.6):
            return self.choice("NMKD")
        return self.choice(("_", "3", "16777216", "1", "k", "j", self._size(2, dims="NMKD")))

    def _size(self, depth: int, *, dims: Any = None, workspace: bool = False) -> str:
        dims = self._sure if dims is None else dims
        if depth == 0 or self.chance(0.2):
            leaves = ["1", "2", "0", "7", "4611686018427387904", "k", "j", *dims, *dims]
            leaves += ["l[0]", "l[1]"] if self._list else []
            if workspace:
                leaves += ["numel(x)", "numel(y)", *(f"itemsize({var})" for var in self._vars)]
            return self.choice(leaves)
        a, b = (self._size(depth - 1, dims=dims, workspace=workspace) for _ in range(2))
        form = self.choice(
            (
                "{} + {}",
                "{} - {}",
                "{} * {}",
                "{} // {}",
                "{} % {}",
                "min({}, {})",
                "max({},{})",
                "ceildiv({}, {})",
                "-{}",
            )
        )
        return "(" + form.format(a, b) + ")" if self.chance(0.7) else form.format(a, b)

    def _set(self, var: str) -> str:
        if self.chance(0.3):
            return f"{var} in any"
        return f"{var} in {{{', '.join(self.sample(DTYPES, self.randint(1, 5)))}}}"

    def _condition(self) -> str:
        count = self.choice((2, 2, 2, 3))
        space = self.choice((" ", "", "  "))
        relations = [space + self.choice(("<", "<=", ">", ">=", "==", "!=")) + space for _ in range(count - 1)]
        parts = [self._size(1, dims="NMKD") for _ in range(count)]
        return "".join(part + relation for part, relation in zip(parts, [*relations, ""], strict=True))

    def _result(self, name: str) -> str:
        terms = [
            self._size(1) if self.chance(0.4) else self.choice([*self._sure, "4", "k"])
            for _ in range(self.randint(0, 3))
        ]
        if self._tuples and self.chance(0.3):
            terms.insert(self.randint(0, len(terms)), self.choice(self._tuples))
        if self._batch and self.chance(0.4):
            terms.insert(0, "...")
        dtypes = ["f32", "i64", "t"]
        for var in self._vars:
            dtypes += [var, var, f"real({var})", f"complex({var})"]
        return f"{name}: {self.choice(dtypes)}[{', '.join(terms)}]"

    # ---------------------------------------------------------- calls

    def call(self, contract: Contract) -> list[Any]:
        """Values that fit, mostly, and then maybe some that do not."""
        names = ("N", "M", "K", "D", "k", "j", "l[0]", "l[1]")
        self._known: dict[str, Any] = {name: self.randint(0, 5) for name in names}
        self._parts = {name: tuple(self.randint(0, 4) for _ in range(self.randint(0, 3))) for name in ("S", "P", "...")}
        self._names = {var: self.choice(allowed or DTYPES) for var, allowed in contract.dtype_vars.items()}
        self._place = self.choice(DEVICES) if self.chance(0.2) else "cuda:0" if contract.on else "cpu"
        values = [self._value(parameter) for parameter in contract.parameters]
        for _ in range(self.choice((0, 0, 0, 1, 1, 2))):
            if values:
                at = self.randrange(len(values))
                values[at] = self._changed(values[at])
        return values

    def _value(self, parameter: Parameter) -> Any:
        if parameter.optional and self.chance(0.4):
            return None
        if parameter.name == "l":
            return [self._known["l[0]"], self._known["l[1]"], 9][: self.choice((1, 2, 2, 2, 3, 3))]
        if parameter.is_list:
            return [self._item(parameter) for _ in range(self.choice((0, 1, 2, 3)))]
        return self._item(parameter)

    def _item(self, parameter: Parameter) -> Any:
        if parameter.is_tensor:
            if parameter.scalar_ok and self.chance(0.3):
                return self.choice((1, 2.5, True))
            return self._tensor(parameter)
        if parameter.kind == "int":
            return self._known[parameter.name] if parameter.name in self._known else self.randint(-2, 5)
        return {
            "float": 0.5,
            "bool": True,
            "dtype": _dtype[self.choice(DTYPES)],
            "device": _device[self.choice(DEVICES)],
            "str": self.choice(parameter.choices or ("any",)),
        }[parameter.kind]

    def _tensor(self, parameter: Parameter) -> Tensor:
        assert parameter.tensor is not None
        shape: list[int] = list(self._parts["..."]) if parameter.tensor.batch else []
        if parameter.tensor.batch == "~...":
            shape = [1 if self.chance(0.3) else size for size in shape]
        for op, operand in parameter.tensor.dims:
            if op == "tuple":
                shape += self._parts[operand]
            elif op in ("var", "int"):
                shape.append(self._known.get(operand, 1))
            else:
                shape.append(operand if op == "const" else self._evaluated(operand))
        form, name = parameter.tensor.dtype
        return Tensor(
            tuple(shape), name if form == "fixed" else self._names[name], "cpu" if parameter.on_cpu else self._place
        )

    def _evaluated(self, operand: Any) -> int:
        """The value of an expression for the given dims; any size if there is none."""
        if operand is None:
            return self.randint(0, 4)
        stack: list[int] = []
        scope = {"min": min, "max": max, "ceildiv": lambda a, b: -(-a // b)}
        for op, leaf in operand.code:
            if op in ("const", "name"):
                stack.append(leaf if op == "const" else self._known[leaf])
                continue
            b = stack.pop()
            a = 0 if op == "-x" else stack.pop()
            try:
                stack.append(scope[op](a, b) if op in scope else eval(f"({a}) {op.removesuffix('x')} ({b})"))
            except ZeroDivisionError:
                return self.randint(0, 4)
        return stack[0] if 0 <= stack[0] < 1 << 60 else self.randint(0, 4)

    def _changed(self, value: Any) -> Any:
        if isinstance(value, list) and value and self.chance(0.7):
            at = self.randrange(len(value))
            return [*value[:at], self._changed(value[at]), *value[at + 1 :]]
        if isinstance(value, Tensor) and self.chance(0.85):
            return self._changed_tensor(value)
        if type(value) is int and self.chance(0.7):
            return self.choice((0, -1, 1, 1 << 40, 1 << 62, -(1 << 63)))
        tensor = Tensor((2,), "f32", self._place)
        return self.choice(
            (None, 3, 2.5, True, "sum", "a word " * 20, _dtype["f32"], _device["cpu"], [], [1, 2], tensor, [tensor])
        )

    def _changed_tensor(self, value: Tensor) -> Tensor:
        shape = list(value.shape)
        at = self.randrange(len(shape) + 1)
        kind = self.randrange(8)
        if kind <= 2 and at < len(shape):
            shape[at] = self.choice((0, 1, 2, 3, 6, 1 << 31, 1 << 40, 1 << 56, 1 << 62, -1))
        elif kind == 3 and at < len(shape):
            del shape[at]
        elif kind == 4:
            shape.insert(at, self.randint(0, 3)) if self.chance(0.9) else shape.extend([1] * 70)
        elif kind == 5:
            return replace(value, dtype=self.choice(DTYPES))
        elif kind == 6:
            return replace(value, device=self.choice(DEVICES))
        elif kind == 7:
            return self._strided(value)
        return replace(value, shape=tuple(shape))

    def _strided(self, value: Tensor) -> Tensor:
        strides, step = [], 2 if self.chance(0.5) else 1
        for size in value.shape:  # columns first, or with gaps
            strides.append(step)
            step *= max(size, 1)
        wanted = 1
        contiguous = True
        for size, stride in zip(reversed(value.shape), reversed(strides), strict=True):
            contiguous &= size == 1 or stride == wanted
            wanted *= size
        return value if contiguous or 0 in value.shape or step >= 1 << 60 else replace(value, strides=tuple(strides))
