"""Python's solver of contracts against the C++ check: the same verdict in the same words for the same call."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import kernpack
import pytest
from kernpack._domain import Domain, Tensor
from support.contracts import Draw, described, is_limit, load_checker, solved


@pytest.fixture(scope="module")
def checker() -> kernpack.Module:
    return load_checker()


# Reasons for which drawn calls must be refused at least once, so that each check is compared.
REASONS = (
    "expected a tensor of shape .*, got None",
    "expected a tensor of shape .*, got float",
    "expected a list, got Tensor: put it in brackets",
    "expected a tensor of shape .*, got list: convert it first",
    "expected (int|float|bool|dtype|device|str), got Tensor",
    'expected one of "',
    "expected dtype f32, got",
    r"expected dtype T in \{",
    r"expected dtype T = \S+ \(bound by",
    "expected a tensor of 0 to 64 dims with a shape, got",
    r"expected shape \S+ \(\d dims\), got",
    r"expected shape .* \(at least \d dims\), got",
    r"expected shape .* with N = \d+ \(bound by \w\), got",
    r"expected shape .* with [SP] = \[.*\] \(bound by \w\), got",
    r"expected shape .* with \.\.\. = \[.*\] \(bound by \w\), got",
    "or 1 in place of any of these, got",
    r"expected shape .* with k = -?\d+, got",
    r"expected shape .* with -?\d+ at dim -\d for \w = ",
    r"expected shape .* with -?\d+ at dim -\d for .*l\[\d\] = ",
    r"\n +\^ N is \d+ in \w$",  # drawings
    r"\n +\^ N is \d+ in \w\[0\]$",
    r"\n +\^[\^, ]* [SP] is \[.*\] in \w",
    r"\n +\^[\^, ]* \.\.\. is \[.*\] in \w",
    r"\n +\^ k is -?\d+$",
    r"\n +\^ must be -?\d+$",
    r"(\n    \w.* = \[.*\]){3}\n +\^+ must be",
    r"l: expected a list of at least \d ints, got \d",
    r"x\[\d\]: expected",
    "expected sizes of at least 0 whose product fits 64 bits, got",
    r"expected a contiguous tensor, got shape \[.*\] with strides \[",
    r"expected device \S+ \(that of \w\), got",
    r"expected device cpu, got cuda:\d: call \.cpu",
    "expected tensors on cuda, got cpu: the function runs on cuda only",
    "expected arguments that fix its shape .* and dtype, got only empty lists or numbers",
    "expected shape .*, got a negative size",
    r"expected shape .*, got a division by zero",
    r"expected shape .*, got a value that does not fit 64 bits",
    r"f: expected \S+ *< *\S+, got \w = ",
    r"f: expected .*, got a division by zero for \w = ",
    r"expected workspace = .* to be at least 0 bytes, got -\d+: ",
    r"expected workspace = .* to be at least 0 bytes, got a ",
    "expected arguments that fix workspace = .*, got only empty lists",
)


def test_ten_thousand_calls_get_the_same_verdict_in_the_same_words(checker: kernpack.Module) -> None:
    draw = Draw(20261123)
    refused = []
    for _ in range(10_000):
        parsed = draw.parsed()
        values, traced = draw.call(parsed.contract), draw.chance(0.4)
        verdict = checker.check(parsed.program, traced, [described(value) for value in values])
        if "memory of its own" in verdict:
            continue  # what is written overlaps, which nobody knows before there is memory
        assert solved(parsed.contract, values, traced=traced) == verdict, (parsed.text, values, traced)
        if verdict.startswith(("TypeError: ", "ValueError: ")):
            refused.append(verdict)
    assert 2500 < len(refused) < 7500
    assert not [reason for reason in REASONS if not any(re.search(reason, verdict) for verdict in refused)]


class _Symbol:
    """A size that only comparisons tell anything of."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __str__(self) -> str:
        return str(self.value)

    __hash__ = None  # type: ignore[assignment]


def _number(value: Any) -> int:
    return value.value if isinstance(value, _Symbol) else value


def _defined(function: Callable[[Any, Any], Any], wrap: type, swapped: bool) -> Callable[[Any, Any], Any]:
    def method(self: _Symbol, other: Any) -> Any:
        a, b = _number(self), _number(other)
        return wrap(function(b, a) if swapped else function(a, b))

    return method


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    setattr(_Symbol, f"__{_name}__", _defined(getattr(operator, _name), _Symbol, False))
    setattr(_Symbol, f"__r{_name}__", _defined(getattr(operator, _name), _Symbol, True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(_Symbol, f"__{_name}__", _defined(getattr(operator, _name), bool, False))
_Symbol.__neg__ = lambda self: _Symbol(-self.value)  # type: ignore[attr-defined]


class _Symbols(Domain):
    def type_name(self, value: Any) -> str:
        return "int" if isinstance(value, _Symbol) else super().type_name(value)


def _symbolic(value: Any) -> Any:
    if isinstance(value, list):
        return [_symbolic(item) for item in value]
    if isinstance(value, Tensor):
        return Tensor(tuple(map(_Symbol, value.shape)), value.dtype, value.device, value.strides)
    return _Symbol(value) if type(value) is int else value


def test_symbols_are_checked_as_the_numbers_that_they_stand_for() -> None:
    draw = Draw(11)
    compared = 0
    for _ in range(3_000):
        parsed = draw.parsed()
        values = draw.call(parsed.contract)
        wanted = solved(parsed.contract, values, traced=False)
        if is_limit(wanted):
            continue
        compared += 1
        found = solved(parsed.contract, [_symbolic(value) for value in values], traced=False, domain=_Symbols())
        assert found == wanted, (parsed.text, values)
    assert compared > 2_000
