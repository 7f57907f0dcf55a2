"""A kernel function as tracing sees it: its parameters and results, read once from the compiled signature."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from kernpack import FunctionInfo, Module, _contract, _gradients


class Function:
    """One of a callable; see `of`. Immortal like what it describes."""

    def __init__(self, info: FunctionInfo) -> None:
        self.info = info
        self.qualified_name = f"{info.module_name}@{info.digest}/{info.name}"  # what a compiled program stores
        major = info._origin.version.partition(".")[0] if info._origin is not None else ""
        # The name in an exported program, which later builds of the module can run too.
        self.exported_name = f"{info.module_name}@v{major}/{info.name}" if major else self.qualified_name
        self.name: str = info.name
        self.full_name = f"{info.module_name}.{info.name}"  # in jaxprs, HLO and profiles
        contract = _contract.of(info)
        if contract is None:
            raise TypeError(
                f"{self.name}: has no signature, so JAX cannot know its results; give KP_EXPORT one in the kernel's source"
            )
        self.contract = contract
        self.parameters = contract.parameters
        self.mutates = contract.mutates
        self.results = contract.results
        self.num_results = len(contract.results)
        self.returned = contract.returned
        self.independent = frozenset(contract.independent)
        self.nondiff = contract.nondiff

    @functools.cached_property
    def backwards(self) -> tuple[tuple[Function, _gradients.Backward], ...]:
        """The functions that KP_GRAD declares to compute gradients of this one, and how its arguments reach them."""
        module = self.info._origin
        if module is None:
            return ()
        names = {name for pair in module._gradients if pair[0] == self.name for name in pair}
        steps = _gradients.plan(self.name, module._gradients, _contracts(module, names)) if names else ()
        return tuple((of(module.functions[step.name].callable), step) for step in steps)

    @functools.cached_property
    def tangent(self) -> tuple[Function, _gradients.Tangent] | None:
        """The function that KP_JVP declares to compute tangents of this one's results, and how arguments reach it."""
        module = self.info._origin
        names = {name for pair in module._jvps if pair[0] == self.name for name in pair} if module is not None else ()
        if module is None or not names:
            return None
        plan = _gradients.tangent_plan(self.name, module._jvps, _contracts(module, names))
        return None if plan is None else (of(module.functions[plan.name].callable), plan)

    def __repr__(self) -> str:
        return f"<{self.full_name}>"


@functools.cache
def of(callable_: Callable[..., Any]) -> Function:
    """The Function behind `k.rms_norm`, which is a builtin whose `__self__` is its FunctionInfo."""
    return Function(callable_.__self__)  # type: ignore[attr-defined]


def _contracts(module: Module, names: set[str]) -> dict[str, _contract.Contract]:
    return {name: of(module.functions[name].callable).contract for name in names}
