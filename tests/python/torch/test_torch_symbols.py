"""Python's solver of contracts over torch's symbols: what they stand for is checked as numbers are."""

from __future__ import annotations

from typing import Any

import torch
from kernpack._domain import Tensor
from kernpack._solve import Solution
from kernpack.torch._shapes import SYMBOLS
from support.contracts import Draw, Parsed, is_limit, solved
from torch._dynamo.source import ConstantSource
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv


class _Symbols:
    """Symbols of one program, by the size that each stands for."""

    def __init__(self) -> None:
        self.env = ShapeEnv(specialize_zero_one=False, duck_shape=False)
        self.count = 0

    def of(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.of(item) for item in value]
        if isinstance(value, Tensor):
            return Tensor(tuple(map(self.of, value.shape)), value.dtype, value.device, value.strides)
        return self.symbol(value) if type(value) is int else value

    def symbol(self, value: int) -> torch.SymInt:
        self.count += 1
        source = ConstantSource(f"size_{self.count}")
        made = self.env.create_symbol(value, source, dynamic_dim=DimDynamic.DYNAMIC, positive=None)
        found = self.env.create_symintnode(made, hint=value, source=source)
        assert isinstance(found, torch.SymInt)
        return found

    def unknown(self) -> torch.SymInt:
        """A size that only the run tells."""
        found = self.env.create_unbacked_symint()
        torch._check(found >= 0)
        return found


def test_symbols_with_values_are_checked_as_the_values() -> None:
    draw = Draw(7)
    compared = 0
    for _ in range(150):
        parsed = draw.parsed()
        values = draw.call(parsed.contract)
        wanted = solved(parsed.contract, values, traced=False)
        if is_limit(wanted) or any(size > 1 << 20 for v in values if isinstance(v, Tensor) for size in v.shape):
            continue
        compared += 1
        symbolic = _Symbols().of(values)
        if wanted.startswith(("TypeError", "ValueError")):
            found = solved(parsed.contract, symbolic, traced=False, domain=SYMBOLS)
            assert found.partition(", got ")[0].split(" with ")[0] == wanted.partition(", got ")[0].split(" with ")[0]
        else:
            solution, plain = Solution(parsed.contract, symbolic, SYMBOLS), Solution(parsed.contract, values)
            for index in range(len(parsed.contract.results)):
                shape, dtype = solution.result(index)
                assert (tuple(map(int, shape)), dtype) == plain.result(index), (parsed.text, values)
    assert compared > 90


def test_what_only_the_run_tells_is_taken_for_granted_and_checked_then() -> None:
    symbols = _Symbols()
    n, m = symbols.unknown(), symbols.unknown()
    contract = Parsed("(x: f32[N], y: f32[N]) -> (a: f32[2 * N])").contract
    solution = Solution(contract, [Tensor((n,), "f32"), Tensor((m,), "f32")], SYMBOLS)
    assert str(solution.result(0)[0][0]) == f"2*{n}"
    assert bool(n == m)  # known from now on

    contract = Parsed("(x: f32[..., 2], y: f32[~..., 2]) -> (a: f32[..., 2])").contract
    n, m = symbols.unknown(), symbols.unknown()
    Solution(contract, [Tensor((n, 2), "f32"), Tensor((m, 2), "f32")], SYMBOLS)
    asserted = [str(each.expr) for asserts in symbols.env.deferred_runtime_asserts.values() for each in asserts]
    assert f"Eq({m}, 1) | Eq({m}, {n})" in asserted
