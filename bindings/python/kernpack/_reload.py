"""kernpack.reload: a module's code as it is on disk now, in a process that runs."""

from __future__ import annotations

import os
import types
from typing import TypeVar

from kernpack import _load
from kernpack._module import Module

_T = TypeVar("_T", Module, types.ModuleType)


def reload(module: _T) -> _T:
    """Loads a module's files again, if they changed: `module.op` is then the new code; function objects from before keep
    the old code.

    module: a module from load(), or a Python module, whose kernel modules are reloaded. Returns the same object.
    Raises the errors of load() if the files are missing or invalid; then the module is unchanged.
    """
    if isinstance(module, types.ModuleType):
        for value in list(vars(module).values()):
            if isinstance(value, Module):
                reload(value)
        return module
    if not isinstance(module, Module):
        raise TypeError(
            f"kernpack.reload: expected a module that kernpack.load returned, or a Python module, got {type(module).__name__}"
        )
    if module._rebuild is not None:
        fresh = module._rebuild()
    else:
        fresh = _load.load(module._source.split(os.pathsep) if module._by_path else module._source)
    module._take_over(fresh)
    _load.announce(module)
    return module
