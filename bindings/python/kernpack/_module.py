"""A loaded kernel module, and what there is to know about its functions."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kernpack import _core
from kernpack._suggest import did_you_mean

if TYPE_CHECKING:
    import inspect


class FunctionInfo(_core.FunctionBase):
    """One kernel function: `k.functions["rms_norm"]`. The callable itself is `k.rms_norm`, whose `__self__` this is.

    `name`, `module_name`, `text` (the contract, None without one), `doc`, `attributes` (a dict of what its author added), `callable`, `parameters`
    come from the module.
    """

    _origin: Module | None = None  # the Module it was first reached through: how a pickle finds it again

    @property
    def qualified_name(self) -> str:
        """ "<module>@<digest>/<function>": the name that a compiled program stores."""
        return f"{self.module_name}@{self.digest}/{self.name}"

    @property
    def typed(self) -> dict[str, Any] | None:
        """The contract taken apart: parameters, results, conditions, properties. None without a contract."""
        text = self._signature_json()
        return None if text is None else json.loads(text)

    @property
    def signature(self) -> inspect.Signature:
        """Python's view of the parameters."""
        import inspect  # here, because it takes a fifth of the time that importing kernpack takes

        return inspect.signature(self.callable)

    @property
    def variants(self) -> list[dict[str, Any]]:
        """Each implementation: its target, the file it is in, whether it was chosen, and why."""
        found: list[dict[str, Any]] = json.loads(self._variants_json())
        return found

    @property
    def targets(self) -> list[str | None]:
        """The targets of the implementations; None is the baseline."""
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
        return _get_function, (self._origin, self.name)


def _get_function(module: Module, name: str) -> FunctionInfo:
    return module.functions[name]


class Functions(Mapping[str, FunctionInfo]):
    """A module's functions by name. Each is made when first asked for."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def __getitem__(self, name: str) -> FunctionInfo:
        return self._module._function(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._module._names())

    def __len__(self) -> int:
        return len(self._module._names())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _core.module_has(self._module._handle(), name)

    def __repr__(self) -> str:
        return f"<functions of {self._module.name}: {', '.join(self)}>"


class _Fact:
    """One of the texts that describe a module. All are asked for with the first: most modules are only called."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, module: Module | None, owner: type) -> str:
        if module is None:
            raise AttributeError(self._name)
        values = module.__dict__
        names = ("name", "version", "path", "digest", "sdk_version")
        values.update(zip(names, _core.module_facts(module._loaded), strict=True))
        fact: str = values[self._name]
        return fact


class Module:
    """Kernel functions, each an attribute: `k.rms_norm(x, w)`.

    The code stays loaded for the life of the process; `close()` only forgets the names. Modules and their functions can be
    pickled: the other process loads the same package or file and checks that its content is the same.
    """

    # An op may have any of these names: it is then reached through `functions`.
    name = _Fact()
    version = _Fact()
    path = _Fact()
    digest = _Fact()
    sdk_version = _Fact()

    def __init__(self, capsule: object, source: str, *, by_path: bool, contracts: str | None = None) -> None:
        self._loaded = capsule  # until the process ends, as the code is
        self._capsule: object | None = capsule
        self._source = source
        self._by_path = by_path
        self._contracts = contracts  # those that its load was given, as the host reads them
        self._rebuild: Callable[[], Module] | None = None  # of a module that was compiled from files: does it again

    @functools.cached_property
    def functions(self) -> Functions:
        """Information about each function, by name."""
        return Functions(self)

    @functools.cached_property
    def _gradients(self) -> list[tuple[str, str]]:
        """(forward, backward) names."""
        return [(forward, backward) for forward, backward in json.loads(_core.module_gradients(self._loaded))]

    @functools.cached_property
    def _jvps(self) -> list[tuple[str, str]]:
        """(forward, tangent) names."""
        return [(forward, tangent) for forward, tangent in json.loads(_core.module_jvps(self._loaded))]

    @functools.cached_property
    def _derivatives(self) -> frozenset[str]:
        """The functions that KP_GRAD or KP_JVP names as what another's derivative is computed by."""
        return frozenset(derivative for _, derivative in (*self._gradients, *self._jvps))

    def _take_over(self, fresh: Module) -> None:
        """Becomes what another load of it gave; nothing that is known of the old code stays."""
        stays = {
            name: fresh.__dict__[name]
            for name in ("_loaded", "_capsule", "_source", "_by_path", "_contracts", "_rebuild")
        }
        self.__dict__.clear()
        self.__dict__.update(stays)

    def _handle(self) -> object:
        if self._capsule is None:
            raise ValueError(f"module {self.name} was closed; load it again")
        return self._capsule

    def _names(self) -> list[str]:
        return _core.module_names(self._handle())

    def _function(self, name: str) -> FunctionInfo:
        info: FunctionInfo = _core.function(self._handle(), name, FunctionInfo)
        if info._origin is None:
            info._origin = self
        return info

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__") or "_capsule" not in self.__dict__:
            raise AttributeError(name)
        try:
            function = self._function(name).callable
        except KeyError:
            raise AttributeError(self._no_such_function(name)) from None
        self.__dict__[name] = function
        return function

    def _no_such_function(self, name: str) -> str:
        return f"module '{self.name}' has no function '{name}'{did_you_mean(name, self._names())}"

    def __dir__(self) -> list[str]:
        """The operations: the functions without derivatives of others, and without names that begin with an underscore.

        Frameworks call derivatives, people rarely do, and an operation may have several. `functions` has them, too.
        """
        if self._capsule is None:
            return []
        return sorted(name for name in self._names() if not name.startswith("_") and name not in self._derivatives)

    def close(self) -> None:
        """Forgets the functions; calling through functions that were taken out before still works."""
        if self._capsule is not None:
            for name in self._names():
                self.__dict__.pop(name, None)
        self._capsule = None

    def __repr__(self) -> str:
        if self._capsule is None:
            return f"<kernpack module {self.name} {self.version}, closed>"
        count = len(self.functions)
        return f"<kernpack module {self.name} {self.version}, {count} function{'s' * (count != 1)}, from {self.path!r}>"

    def __copy__(self) -> Module:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Module:
        return self
