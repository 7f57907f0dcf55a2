"""A module's operators. torch gets their schemas and kernels when the module is loaded; everything written in Python comes with the
first use of a function, by `k.op`, by name or through the dispatcher, because it costs a hundred times as much."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch
from kernpack import FunctionInfo, _contract, _core, _gradients
from kernpack._system import after_fork

from . import _caches, _deferred, _operator
from ._function import Function

_by_digest: dict[str, Operators] = {}
_building = threading.RLock()


def _after_fork() -> None:
    global _building
    _building = threading.RLock()  # a thread that is not here may have held it


after_fork(_after_fork)


class Operators:
    """The functions of one module, for torch tensors. `namespace` is theirs under `torch.ops`."""

    def __init__(self, module: Any) -> None:
        self._module = module._handle()  # its functions stay, whether or not the module is closed
        self._gradients = module._gradients
        self._jvps = module._jvps
        self._derivatives = module._derivatives
        self._contracts = _Contracts(self._module)
        self._functions: dict[str, Function] = {}
        self._unfinished: dict[str, Function] = {}
        self._kernels = _Kernels(self)
        self.namespace: str = _core.torch_register(self._module)
        # Kept: a Library takes its registrations back when it goes.
        self._library = torch.library.Library(self.namespace, "FRAGMENT")
        self.packet = _complete_on_use(self)
        names = self._names()
        for name in names:
            self._enter(name)
        _caches.key_by(self.namespace, ((name, _info(self._module, name).text) for name in names))

    def _enter(self, name: str) -> None:
        """Puts a kernel at torch's Autograd key that completes the function when the dispatcher first comes to it. Not left to the first
        use from Python: a program that was saved calls operators without, and would lose its gradients."""
        kernels = self._kernels
        overloads = (name, f"{name}.out") if self._contracts[name].results else (name,)
        for overload in overloads:
            self._library.impl(overload, _first_kernel(kernels, overload), "Autograd", with_keyset=True)

    def is_derivative(self, name: str) -> bool:
        """True if this function is the derivative of another one (KP_GRAD or KP_JVP)."""
        return name in self._derivatives

    def differentiated_by(self, name: str) -> list[str]:
        """The functions of which KP_GRAD says that this one computes their gradients."""
        return [function for function, derivative in self._gradients if derivative == name]

    def has(self, name: str) -> bool:
        """True if there is an operator of this name."""
        return name in self._functions or (
            _core.module_has(self._module, name) and _info(self._module, name).text is not None
        )

    def _names(self) -> list[str]:
        """Of all operators. A function whose contract is refused, as one of a later ABI is, says so where it is asked for."""

        def is_operator(name: str) -> bool:
            try:
                return self.has(name)
            except (ImportError, ValueError):
                return False

        return [name for name in _core.module_names(self._module) if is_operator(name)]

    def function(self, name: str) -> Function:
        """Return the operator of this name, registering it first if necessary."""
        found = self._functions.get(name)
        if found is None:
            with _building:
                found = self._functions.get(name) or self._unfinished.get(name) or self._build(name)
        return found

    def _build(self, name: str) -> Function:
        steps = _gradients.plan(name, self._gradients, self._contracts)
        tangent = _gradients.tangent_plan(name, self._jvps, self._contracts)
        function = Function(self, _info(self._module, name), self._contracts[name], steps, tangent)
        self._unfinished[name] = function  # its backward ops may ask for it; no other thread does
        try:
            kernel, out = _operator.register(function, self._library)
            self._kernels[name] = kernel
            if out is not None:
                self._kernels[f"{name}.out"] = out
            function.shorten()
            _deferred.add_function(function)
        finally:
            del self._unfinished[name]
        _core.torch_calls(function.info, function.call)
        self._functions[name] = function  # from here on other threads take it without the lock
        return function

    def __iter__(self) -> Iterator[Function]:
        return (self.function(name) for name in self._names())

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or not self.has(name):
            raise AttributeError(f"no function '{name}' with a signature: it isn't a torch operator")
        call: Callable[..., Any] = self.function(name).call
        return call

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names()]


class _Kernels(dict[str, Callable[..., Any]]):
    """The kernels at torch's Autograd key, by the operator's name and overload. Asking completes the function."""

    def __init__(self, operators: Operators) -> None:
        super().__init__()
        self._operators = operators

    def __missing__(self, overload: str) -> Callable[..., Any]:
        self._operators.function(overload.removesuffix(".out"))
        return self[overload]


def _first_kernel(kernels: _Kernels, overload: str) -> Callable[..., Any]:
    def kernel(keys: Any, /, *args: Any, **kwargs: Any) -> Any:
        return kernels[overload](keys, *args, **kwargs)

    return kernel


class _Contracts(dict[str, Any]):
    """By the function's name."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self._module = module

    def __missing__(self, name: str) -> Any:
        found = self[name] = _contract.of(_info(self._module, name))
        return found


def _info(module: Any, name: str) -> Any:
    return _core.function(module, name, FunctionInfo)


def _complete_on_use(operators: Operators) -> Callable[[str], Any]:
    """Makes `torch.ops.<namespace>.<name>`, which is how programs from elsewhere find an operator too, complete it first. Returns
    what finds it without that."""
    space: Any = getattr(torch.ops, operators.namespace)
    base: Any = type(space)

    class Namespace(base):
        __module__ = base.__module__  # torch names operators by it

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_") and operators.has(name):
                operators.function(name)
                return self.__dict__[name]  # finding it again would make another object
            return super().__getattr__(name)

    space.__class__ = Namespace
    return functools.partial(base.__getattr__, space)


def operators(module: Any) -> Operators:
    """Registers the module's functions with torch, once a content."""
    found = _by_digest.get(module.digest)
    if found is None:
        with _building:
            found = _by_digest.get(module.digest)
            if found is None:
                found = _by_digest[module.digest] = Operators(module)
                _deferred.add_module(found)
    return found


def of(callable_: Any) -> Function:
    """The Function behind `k.rms_norm`."""
    info = callable_.__self__
    if info.text is None:
        raise TypeError(
            f"{info.name}: has no signature, so that torch cannot trace, batch or differentiate it; give it one in "
            "KP_EXPORT, or pass plain tensors outside torch.compile and torch.func, under torch.no_grad()"
        )
    found = _by_digest.get(info.digest)
    return (operators(info._origin) if found is None else found).function(info.name)
