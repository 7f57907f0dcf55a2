"""What there is to know about one kernel function."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

from kernpack import _core

if TYPE_CHECKING:
    from kernpack._module import Module


class FunctionInfo(_core.FunctionBase):
    """One kernel function: `k.functions["rms_norm"]`. The callable itself is `k.rms_norm`, whose `__self__` this is.

    `name`, `module_name`, `text` (the contract, None without one), `doc`, `attributes` (a dict of what its author added), `callable`, `parameters`
    come from the module.
    """

    _origin: Module | None = None  # the Module it was first reached through: how a pickle finds it again

    @property
    def qualified_name(self) -> str:
        """ "<module>@<digest>/<function>": what a compiled program stores of it."""
        return f"{self.module_name}@{self.digest}/{self.name}"

    @property
    def typed(self) -> dict[str, Any] | None:
        """The contract taken apart: parameters, results, conditions, properties. None without a contract."""
        text = self._signature_json()
        return None if text is None else json.loads(text)

    @property
    def signature(self) -> inspect.Signature:
        """Python's view of the parameters."""
        return inspect.signature(self.callable)

    @property
    def variants(self) -> list[dict[str, Any]]:
        """Each implementation: its target, the file it is in, whether it was chosen, and why."""
        found: list[dict[str, Any]] = json.loads(self._variants_json())
        return found

    @property
    def targets(self) -> list[str | None]:
        """What the implementations are compiled for; None is the baseline."""
        return [variant["target"] for variant in self.variants]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.callable(*args, **kwargs)

    def __repr__(self) -> str:
        contract = self.text or self.cxx_types or "(*args)"
        contract = contract.removeprefix(self.name)
        return f"<kernpack function {self.module_name}.{self.name}{contract}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._origin is None:
            raise TypeError(f"cannot pickle {self.name}: it was not reached through a module")
        return _function_of, (self._origin, self.name)


def _function_of(module: Module, name: str) -> FunctionInfo:
    return module.functions[name]
