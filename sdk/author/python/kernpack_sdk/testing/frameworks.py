"""The frameworks that an op is called from: arguments in, NumPy arrays out."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import kernpack
import numpy as np
from kernpack import _numpy

from kernpack_sdk.testing.case import Call


@dataclass(frozen=True)
class Outcome:
    """The outcome of a call: its results, then the content of its mutated parameters; or the error that it raised."""

    arrays: tuple[np.ndarray, ...] = ()
    error: Exception | None = None

    @property
    def refusal(self) -> str:
        return "" if self.error is None else f"{type(self.error).__name__}: {str(self.error).splitlines()[0][:300]}"


_LINE = 64  # bytes of a cache line


def at_offset(array: np.ndarray, offset: int) -> np.ndarray:
    """A copy whose start lies so many bytes behind a cache line's."""
    memory = np.zeros(array.nbytes + 2 * _LINE + offset, np.uint8)
    start = -memory.ctypes.data % _LINE + offset
    placed = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    placed[...] = array
    return placed


class Framework:
    """NumPy; others override how tensors are made and read."""

    name = "numpy"

    def make(self, array: np.ndarray) -> Any:
        """A tensor of its own memory. From NumPy always at the same place of a cache line: what depends on it has its own check."""
        return at_offset(array, 0)

    def read(self, tensor: Any) -> np.ndarray:
        return _numpy.numpy_from_tensor(tensor) if isinstance(tensor, kernpack.Tensor) else np.asarray(tensor)

    def values(self, call: Call) -> dict[str, Any]:
        return {name: self._made(value) for name, value in call.values.items()}

    def _made(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._made(item) for item in value]
        return self.make(value) if isinstance(value, np.ndarray) else value

    def call(self, call: Call, **keywords: Any) -> Outcome:
        """The op, on copies of the arguments."""
        return self.call_on(call, self.values(call), **keywords)

    def call_on(self, call: Call, values: dict[str, Any], **keywords: Any) -> Outcome:
        positional, named = call.arguments(values)
        try:
            given = call.op.function(*positional, **named, **keywords)
        except Exception as error:  # whatever a kernel may raise
            return Outcome(error=error)
        return Outcome(tuple(map(self.read, (*as_tuple(given), *mutated(call, values)))))


def accepted(program: Callable[..., tuple[Any, ...]], given: list[Any], instead: list[Any], of: Framework) -> list[Any]:
    """Returns `given` if the program accepts it, else `instead`: some kernels need special values, such as packed weights."""
    try:
        for result in program(*given):
            of.read(result)
    except Exception:  # whatever a kernel may raise
        return instead
    return given


def as_tuple(given: Any) -> tuple[Any, ...]:
    if given is None:
        return ()
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


def mutated(call: Call, values: dict[str, Any]) -> list[Any]:
    """The tensors that the call writes to."""
    found: list[Any] = []
    for parameter in call.op.contract.parameters if call.op.contract else ():
        if parameter.mutated and values[parameter.name] is not None:
            given = values[parameter.name]
            found += given if isinstance(given, list) else [given]
    return found


def mutated_names(call: Call) -> list[str]:
    """One for each of `mutated`."""
    names: list[str] = []
    for parameter in call.op.contract.parameters if call.op.contract else ():
        value = call.values[parameter.name]
        if parameter.mutated and value is not None:
            names += (
                [f"{parameter.name}[{i}]" for i in range(len(value))] if isinstance(value, list) else [parameter.name]
            )
    return names


def list_names(call: Call, outcome: Outcome) -> list[str]:
    """The name of each array of the outcome."""
    after = mutated_names(call)
    count = len(outcome.arrays) - len(after)
    if call.op.contract is None:
        return [f"result {i}" for i in range(count)] + after
    return [call.op.contract.results[i].name for i in call.op.contract.returned] + after


class Torch(Framework):
    name = "torch"

    def __init__(self) -> None:
        import torch

        self.torch = torch

    def make(self, array: np.ndarray) -> Any:
        if array.dtype.isbuiltin == 1:
            return self.torch.from_numpy(array.copy())
        dtype = getattr(self.torch, array.dtype.name)  # bfloat16 and the float8s are ml_dtypes'
        unsigned = {1: np.uint8, 2: np.int16}[array.dtype.itemsize]
        return self.torch.from_numpy(array.copy().view(unsigned)).view(dtype)

    def read(self, tensor: Any) -> np.ndarray:
        tensor = tensor.detach().resolve_conj().resolve_neg()
        try:
            return np.asarray(tensor.numpy())
        except TypeError:
            import ml_dtypes

            unsigned = {1: self.torch.uint8, 2: self.torch.int16}[tensor.element_size()]
            name = str(tensor.dtype).removeprefix("torch.")
            return np.asarray(tensor.contiguous().view(unsigned).numpy()).view(getattr(ml_dtypes, name))


class Jax(Framework):
    name = "jax"

    def __init__(self) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        self.jax = jax

    def make(self, array: np.ndarray) -> Any:
        return self.jax.numpy.array(array)

    def call_on(self, call: Call, values: dict[str, Any], **keywords: Any) -> Outcome:
        contract = call.op.contract
        if contract is None or not contract.mutates:
            return super().call_on(call, values, **keywords)
        return self.jitted(call, values)

    def jitted(self, call: Call, values: dict[str, Any]) -> Outcome:
        """Under jit, where the tensors are traced and all else is static. Written parameters are given back first."""
        traced, rebuild = split(values, self.jax.Array)
        before = len(mutated_names(call))

        def program(tensors: Sequence[Any]) -> Any:
            positional, named = call.arguments(rebuild(tensors))
            return call.op.function(*positional, **named)

        try:
            import kernpack.jax

            with kernpack.jax.errors():
                given = as_tuple(self.jax.block_until_ready(self.jax.jit(program)(traced)))
        except Exception as error:  # whatever a kernel may raise
            return Outcome(error=error)
        flat = [item for each in given for item in (each if isinstance(each, (list, tuple)) else [each])]
        return Outcome(tuple(map(self.read, (*flat[before:], *flat[:before]))))


def split(values: dict[str, Any], tensor_type: type) -> tuple[list[Any], Any]:
    """The tensors, and a function that puts others into their places."""
    tensors: list[Any] = []

    def take(value: Any) -> Any:
        if isinstance(value, list):
            return [take(item) for item in value]
        if isinstance(value, tensor_type):
            tensors.append(value)
            return _Place(len(tensors) - 1)
        return value

    places = {name: take(value) for name, value in values.items()}

    def rebuild(given: Sequence[Any]) -> dict[str, Any]:
        def put(value: Any) -> Any:
            if isinstance(value, list):
                return [put(item) for item in value]
            return given[value.index] if isinstance(value, _Place) else value

        return {name: put(value) for name, value in places.items()}

    return tensors, rebuild


@dataclass(frozen=True)
class _Place:
    index: int


_FRAMEWORKS: dict[str, type[Framework]] = {"numpy": Framework, "torch": Torch, "jax": Jax}
_made: dict[str, Framework] = {}


def installed(name: str) -> bool:
    return name in sys.modules or importlib.util.find_spec(name) is not None


def framework(name: str) -> Framework:
    """Imported when first asked for."""
    if name not in _made:
        _made[name] = _FRAMEWORKS[name]()
    return _made[name]


NUMPY = Framework()
