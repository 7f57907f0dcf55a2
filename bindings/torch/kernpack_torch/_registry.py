"""A module's operators: registered once, found by module, by function, by callable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from kernpack import _core, _gradients

from . import _late
from ._function import Function

_by_digest: dict[str, Operators] = {}
by_callable: dict[Any, Function] = {}


class Operators:
    """The functions of one module, for torch tensors. `namespace` is theirs under `torch.ops`."""

    def __init__(self, module: Any) -> None:
        self.namespace: str = _core.torch_register(module._handle())
        # Kept: a Library takes its registrations back when it goes.
        self._library = torch.library.Library(self.namespace, "FRAGMENT")
        infos = {name: module.functions[name] for name in module.functions}
        typed = {name: info.typed for name, info in infos.items() if info.text is not None}
        self._functions: dict[str, Function] = {}
        for name in typed:
            steps = _gradients.plan(name, module._gradients, typed)
            self._functions[name] = Function(self, infos[name], typed[name], steps)
        for function in self._functions.values():
            function.register(self._library)
            function.shorten()

    def function(self, name: str) -> Function:
        return self._functions[name]

    def __iter__(self) -> Any:
        return iter(self._functions.values())

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            function = self.__dict__["_functions"][name]
        except KeyError:
            raise AttributeError(f"no function '{name}' with a signature: it is no torch operator") from None
        call: Callable[..., Any] = function.call
        return call

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._functions]


def operators(module: Any) -> Operators:
    """Registers the module's functions with torch, once a content."""
    found = _by_digest.get(module.digest)
    if found is None:
        found = _by_digest[module.digest] = Operators(module)
        for function in found:
            by_callable[function.info.callable] = function
        _late.add(found)
    return found


def of(callable_: Any) -> Function:
    """The Function behind `k.rms_norm`."""
    function = by_callable.get(callable_)
    if function is None:
        info = callable_.__self__
        if info.text is None:
            raise TypeError(
                f"{info.name}: has no signature, so that torch cannot trace, batch or differentiate it; give it one in "
                "KP_EXPORT, or pass plain tensors outside torch.compile and torch.func, under torch.no_grad()"
            )
        operators(info._origin)
        function = by_callable[callable_]
    return function
