"""Python's solver of contracts over jax.export's symbolic dims: nothing that fits is refused, whatever the symbols stand for."""

from __future__ import annotations

from typing import Any

import jax.export
from kernpack._domain import Tensor
from kernpack._solve import Solution
from kernpack.jax._symbolic import SYMBOLS
from support.contracts import Draw, Parsed, solved

# One symbol for each size from 1, and what it stands for.
NAMES = {f"n{size}": size for size in range(1, 7)}
DIMS = dict(zip(NAMES.values(), jax.export.symbolic_shape(", ".join(NAMES)), strict=True))


def _symbolic(draw: Draw, value: Any) -> Any:
    if isinstance(value, list):
        return [_symbolic(draw, item) for item in value]
    if not isinstance(value, Tensor):
        return value
    return Tensor(tuple(DIMS.get(size, size) if draw.chance(0.7) else size for size in value.shape), value.dtype)


def _number(size: Any) -> int:
    scope = {"max": max, "min": min, "floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b}
    return size if isinstance(size, int) else eval(str(size).replace("^", "**"), scope, dict(NAMES))


def test_symbols_are_refused_only_where_their_values_would_be() -> None:
    draw = Draw(5)
    fits = refused = 0
    for _ in range(600):
        parsed = draw.parsed()
        values = draw.call(parsed.contract)
        wanted = solved(parsed.contract, values, traced=True)
        symbolic = [_symbolic(draw, value) for value in values]
        if wanted.startswith(("TypeError", "ValueError")):
            found = solved(parsed.contract, symbolic, traced=True, domain=SYMBOLS)
            refused += found.startswith(("TypeError", "ValueError"))
            continue
        solution = Solution(parsed.contract, symbolic, SYMBOLS, traced=True)
        plain = Solution(parsed.contract, values, traced=True)
        fits += 1
        for index in range(len(parsed.contract.results)):
            shape, dtype = solution.result(index)
            assert (tuple(map(_number, shape)), dtype) == plain.result(index), (parsed.text, values)
    assert fits > 150
    assert refused > 150


def test_a_condition_that_cannot_hold_is_an_error_while_tracing() -> None:
    contract = Parsed("(x: f32[N]) -> () where N % 4 == 0, N < 9").contract
    assert Solution(contract, [Tensor((DIMS[3],), "f32")], SYMBOLS, traced=True)
    verdict = solved(contract, [Tensor((4 * DIMS[3] + 1,), "f32")], traced=True, domain=SYMBOLS)
    assert verdict == "ValueError: f: expected N % 4 == 0, got N = 4*n3 + 1 (bound by x)"
    assert solved(contract, [Tensor((4 * DIMS[3],), "f32")], traced=True, domain=SYMBOLS) == ""
