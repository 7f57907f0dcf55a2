"""Int parameters whose values a contract determines from sizes: by an equation such as `O == (H - K) // stride + 1`, or by the shape of an
argument, `w: f32[2 * k]`.

Where such a size is 1, many values may fit, and all mean the same: a stride does nothing where there is one place. So two values say
something only where all sizes of the equations are larger.
"""

from __future__ import annotations

from collections.abc import Iterator

from kernpack._contract import Contract
from kernpack._expression import Expression, parse_item

from kernpack_sdk.testing.case import Call


def is_tied(contract: Contract, parameter: str) -> bool:
    """True if an equation determines the parameter."""
    return any(parameter in names for _, names in _equations(contract))


def matters(call: Call, parameter: str) -> bool:
    """True if the call has all sizes of the equations that determine the parameter, and each is larger than 1."""
    contract = call.op.contract
    assert contract is not None
    ints = {each.name for each in contract.parameters}
    for owner, names in _equations(contract):
        if parameter not in names:
            continue
        if owner and call.values[owner] is None:
            return False
        sizes = (name for name in names if name not in ints and parse_item(name) is None)
        if any(call.dims.get(name, 0) < 2 for name in sizes):
            return False
    return call.has_elements()


def _equations(contract: Contract) -> Iterator[tuple[str, frozenset[str]]]:
    """The names in each equation, with the argument whose shape it is ("": it is a condition)."""
    for condition in contract.where:
        for i, relation in enumerate(condition.relations):
            if relation == "==":
                yield "", _determined(condition.operands[i]) | _determined(condition.operands[i + 1])
    for parameter in contract.parameters:
        for op, operand in parameter.tensor.dims if parameter.tensor is not None else ():
            if op in ("int", "code"):
                yield parameter.name, frozenset([operand]) if op == "int" else _determined(operand)


def _determined(expression: Expression) -> frozenset[str]:
    """Its names, but for those of which it takes a remainder: `D % group == 0` leaves a choice."""
    stack: list[frozenset[str]] = []
    for op, operand in expression.code:
        if op in ("const", "name", "numel", "itemsize"):
            stack.append(frozenset([operand] if op == "name" else []))
        elif op == "%":
            stack[-2:] = [frozenset()]
        elif op != "-x":
            stack[-2:] = [stack[-2] | stack[-1]]
    return stack[0]
