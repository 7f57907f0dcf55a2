"""The values of a call that the functions declared by KP_GRAD and KP_JVP get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernpack._contract import Parameter

from . import _statics
from ._arguments import Config
from ._function import Function
from ._step import Source


def argument(
    config: Config, derived: Function, parameter: Parameter, source: Source, saved: Mapping[Source, Sequence[Any]]
) -> tuple[_statics.Key, list[Any]]:
    """The slot and the arrays of a parameter that is an argument or a result of the call, or that is left to its default."""
    if source in saved:
        arrays = list(saved[source])
        return ("tensors", len(arrays)) if parameter.is_list else ("tensor", 1), arrays
    if source[0] == "param":  # static, None, or an empty list
        return config.slots[source[1]], []
    return _statics.key(derived, parameter, parameter.default), []
