"""Checks a call against its contract where nothing runs yet: what a framework traces. The same checks in the same order with the same
words as ffi/include/kernpack/signature/check.h, over sizes that may be symbols (tests/python/core/test_solver.py compares the two)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kernpack._contract import Contract, Parameter, TensorType
from kernpack._core import Device, DType
from kernpack._domain import NUMBERS, Domain, Tensor
from kernpack._drawing import Drawn, draw, find_sizes
from kernpack._expression import Value, parse_item, values_text

MAX_NDIM = 64
MAX_ELEMENTS = 1 << 56  # the widest element has 16 bytes, and sizes in bytes fit 63 bits
_CONVERT = "\n    convert it first (NumPy and JAX: x.astype(dtype), torch: x.to(dtype))"
_CONTIGUOUS = "pass a contiguous one (torch: x.contiguous(), NumPy: np.ascontiguousarray(x))"


class CallCheck:
    """A call that fits its contract. values: one for each parameter: a Tensor, a list, None, a DType, a Device, or what the domain
    has for numbers and strings. traced: shapes and dtypes are all that is known, nothing yet of memory and devices. TypeError and
    ValueError as the call itself raises them."""

    def __init__(
        self, contract: Contract, values: Sequence[Any], domain: Domain = NUMBERS, *, traced: bool = False
    ) -> None:
        self.contract = contract
        self.domain = domain
        self._traced = traced
        self.device: str | None = None
        self.values = dict(zip((parameter.name for parameter in contract.parameters), values, strict=True))
        self.dims: dict[str, Any] = {}
        self.tuples: dict[str, tuple[Any, ...]] = {}
        self.batch: tuple[Any, ...] | None = None
        self.dtypes: dict[str, str] = {}
        self._get_dlpack_device = ""
        self._check_parameters()
        self._check_computed()
        self._settle_device()
        self._check_conditions()

    # -------------------------------------------------------------- what expressions name

    def get_value(self, name: str) -> Any:
        if name in self.dims:
            return self.dims[name]
        item = parse_item(name)
        return self.values.get(name) if item is None else self.values[item[0]][item[1]]

    def numel(self, parameter: str) -> Any:
        value = self.values[parameter]
        return math.prod(value.shape) if isinstance(value, Tensor) else 1  # a number stands for a tensor of rank 0

    def itemsize(self, variable: str) -> int:
        return DType(self.dtypes[variable]).itemsize if variable in self.dtypes else 0

    # -------------------------------------------------------------- the check

    def _check_parameters(self) -> None:
        """Everything but what is computed."""
        for parameter in self.contract.parameters:
            value = self.values[parameter.name]
            if value is None and not parameter.optional:
                raise self._wrong_type(parameter, parameter.name, value)
            if parameter.is_list and self.domain.type_name(value) != "list":
                advice = ": put it in brackets" if isinstance(value, Tensor) else ""
                raise self.error(TypeError, parameter.name, "a list", self.domain.type_name(value) + advice)
            least = self.contract.least_items.get(parameter.name, 0)
            if least and len(value) < least:
                expected = f"a list of at least {least} ints"
                raise self.error(ValueError, parameter.name, expected, str(len(value)))
            for where, item in self._items(parameter):
                if parameter.tensor is not None and isinstance(item, Tensor):
                    self._check_dtype(where, parameter.tensor, item.dtype)
                    if len(item.shape) > MAX_NDIM:
                        expected = "a tensor of 0 to 64 dims with a shape"
                        raise self.error(ValueError, where, expected, f"{len(item.shape)} dims")
                    self._check_shape(where, parameter.tensor, item.shape)
                    self.check_memory(where, parameter.name, item, parameter.strided, parameter.on_cpu)
                else:
                    self._check_value(parameter, where, item)

    def _items(self, parameter: Parameter) -> Iterator[tuple[str, Any]]:
        """Yields each given value with its name in errors."""
        value = self.values[parameter.name]
        if parameter.is_list:
            yield from ((f"{parameter.name}[{i}]", item) for i, item in enumerate(value))
        elif value is not None:
            yield parameter.name, value

    def _check_value(self, parameter: Parameter, where: str, value: Any) -> None:
        got = self.domain.type_name(value)
        if parameter.is_tensor:
            fits = parameter.scalar_ok and got in ("int", "float", "bool")
        else:
            fits = got == parameter.kind or (parameter.kind == "float" and got == "int")
        if not fits:
            raise self._wrong_type(parameter, where, value)
        if parameter.choices and value not in parameter.choices:
            choices = ", ".join(f'"{choice}"' for choice in parameter.choices)
            short = value.encode()[:64].decode(errors="replace")
            raise self.error(ValueError, where, f"one of {choices}", f'"{short}"')

    def _check_dtype(self, where: str, tensor: TensorType, got: str) -> None:
        form, name = tensor.dtype
        if form == "fixed":
            if got != name:
                raise self.error(TypeError, where, f"dtype {name}", got + _CONVERT)
        elif name in self.dtypes:
            if got != self.dtypes[name]:
                bound = self._bound_by("dtype", name)
                raise self.error(TypeError, where, f"dtype {name} = {self.dtypes[name]}{bound}", got + _CONVERT)
        else:
            allowed = self.contract.dtype_vars[name]
            if allowed is not None and got not in allowed:
                raise self.error(TypeError, where, f"dtype {name} in {{{', '.join(allowed)}}}", got + _CONVERT)
            self.dtypes[name] = got

    def _check_shape(self, where: str, tensor: TensorType, shape: tuple[Any, ...]) -> None:
        parts = _split(tensor, shape)
        if parts is None:
            raise self._wrong_rank(where, tensor, shape)
        batch, sizes = parts
        if tensor.batch == "...":
            if self.batch is None:
                self.batch = batch
            elif not self.all_same(batch, self.batch):
                raise self._wrong_batch(where, tensor, shape)
        for i, ((op, operand), size) in enumerate(zip(tensor.dims, sizes, strict=True)):
            if op == "var":
                if not self.domain.same(self.dims.setdefault(operand, size), size):
                    raise self._bound_otherwise(where, tensor, shape, i, str(self.dims[operand]))
            elif op == "const":
                if not self.domain.same(size, operand):
                    drawn = self._draw(where, tensor, shape, i, f"must be {operand}")
                    raise self._wrong_shape(where, tensor, "", shape, drawn)
            elif op == "tuple" and not self.all_same(size, self.tuples.setdefault(operand, size)):
                raise self._bound_otherwise(where, tensor, shape, i, sizes_text(self.tuples[operand]))

    def _check_computed(self) -> None:
        """Expressions, int parameters as sizes and "~...", for which all dims have to be bound."""
        for parameter in self.contract.parameters:
            tensor = parameter.tensor
            if tensor is None or not tensor.is_computed:
                continue
            for where, item in self._items(parameter):
                if isinstance(item, Tensor):
                    self._check_computed_shape(where, tensor, item.shape)

    def _check_computed_shape(self, where: str, tensor: TensorType, shape: tuple[Any, ...]) -> None:
        parts = _split(tensor, shape)
        assert parts is not None  # _check_shape saw to it
        batch, sizes = parts
        if tensor.batch == "~..." and self.batch is not None:
            same_rank = len(batch) == len(self.batch)
            if not same_rank or not all(map(self.domain.same_or_one, batch, self.batch)):
                raise self._wrong_batch(where, tensor, shape, " or 1 in place of any of these")
        for i, ((op, operand), size) in enumerate(zip(tensor.dims, sizes, strict=True)):
            if op not in ("int", "code"):
                continue
            value, wanted = self.dim_value(op, operand)
            if value is Value.OK and not self.domain.same(size, wanted):
                if op == "int":
                    drawn = self._draw(where, tensor, shape, i, f"{operand} is {wanted}")
                    raise self._wrong_shape(where, tensor, f" with {operand} = {wanted}", shape, drawn)
                names = values_text(value, (operand,), self)
                at = f" with {wanted} at dim {i - len(tensor.dims)}"
                binders = [self._find_binder("var", name) for name in operand.names if name in self.dims]
                drawn = self._draw(where, tensor, shape, i, f"must be {wanted}", filter(None, binders))
                raise self._wrong_shape(where, tensor, f"{at} for {names}" if names else at, shape, drawn)
            if value not in (Value.OK, Value.UNBOUND):  # UNBOUND: an optional parameter that would bind it is absent
                raise self.error(ValueError, where, f"shape {tensor.text}", values_text(value, (operand,), self))

    def dim_value(self, op: str, operand: Any) -> tuple[Value, Any]:
        if op == "code":
            value, size = operand.evaluate(self)
            return value, size
        size = operand if op == "const" else self.get_value(operand)
        return (Value.UNBOUND if size is None else Value.OK), size

    def check_memory(self, where: str, name: str, tensor: Tensor, strided: bool, on_cpu: bool) -> None:
        if _is_insane(self.domain, tensor.shape):
            raise self.error(
                ValueError, where, "sizes of at least 0 whose product fits 64 bits", sizes_text(tensor.shape)
            )
        if self._traced:
            return
        if tensor.strides is not None and not strided:
            got = f"shape {sizes_text(tensor.shape)} with strides {sizes_text(tensor.strides)}: {_CONTIGUOUS}"
            raise self.error(ValueError, where, "a contiguous tensor", got)
        if on_cpu:
            if tensor.device != "cpu":
                raise self.error(ValueError, where, "device cpu", f"{tensor.device}: call .cpu() first")
        elif self.device is None:
            self.device, self._get_dlpack_device = tensor.device, name
        elif tensor.device != self.device:
            expected = f"device {self.device} (that of {self._get_dlpack_device})"
            raise self.error(ValueError, where, expected, f"{tensor.device}: move one of them")

    def _settle_device(self) -> None:
        """Where no tensor fixed the device, a device parameter does, then `on`."""
        on = self.contract.on
        if self.device is None:
            given = (device_text(value) for value in self.values.values() if isinstance(value, Device))
            self.device = next(given, on and device_text(Device(on)))
        if on and not self._traced and Device(self.device).type != Device(on).type:
            raise ValueError(
                f"{self.contract.name}: expected tensors on {on}, got {self.device}: the function runs on {on} only"
            )

    def _check_conditions(self) -> None:
        for condition in self.contract.where:
            value, holds = condition.evaluate(self)
            if value is not Value.UNBOUND and not holds:
                got = values_text(value, condition.operands, self, lambda name: self._bound_by("var", name))
                raise ValueError(f"{self.contract.name}: expected {condition.text}, got {got}")

    def all_same(self, a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
        return len(a) == len(b) and all(map(self.domain.same, a, b))

    # -------------------------------------------------------------- errors

    def error(self, kind: type[Exception], where: str, expected: str, got: str) -> Exception:
        return kind(f"{self.contract.name}: {where}: expected {expected}, got {got}")

    def _wrong_type(self, parameter: Parameter, where: str, value: Any) -> Exception:
        expected = f"a tensor of shape {parameter.tensor.text}" if parameter.tensor else parameter.kind
        got = self.domain.type_name(value)
        if parameter.tensor and got == "list":
            got += ": convert it first (NumPy: np.array(x, dtype), torch: torch.tensor(x))"
        return self.error(TypeError, where, expected, got)

    def _wrong_rank(self, where: str, tensor: TensorType, shape: tuple[Any, ...]) -> Exception:
        least = "at least " if tensor.batch or tensor.has_tuple else ""
        expected = f"shape {tensor.text} ({least}{_dims(len(tensor.terms) - tensor.has_tuple)})"
        return self.error(ValueError, where, expected, f"{sizes_text(shape)} ({_dims(len(shape))})")

    def _wrong_shape(
        self, where: str, tensor: TensorType, known: str, shape: tuple[Any, ...], drawn: str = ""
    ) -> Exception:
        return self.error(ValueError, where, f"shape {tensor.text}{known}", sizes_text(shape) + drawn)

    def _wrong_batch(self, where: str, tensor: TensorType, shape: tuple[Any, ...], note: str = "") -> Exception:
        assert self.batch is not None
        return self._bound_otherwise(where, tensor, shape, None, sizes_text(self.batch), note)

    def _bound_otherwise(
        self, where: str, tensor: TensorType, shape: tuple[Any, ...], term: int | None, bound: str, note: str = ""
    ) -> Exception:
        """term: the number of the dim that another tensor, or this one, has bound; None: the batch."""
        kind, name = ("batch", "...") if term is None else tensor.dims[term]
        binder = self._find_binder(kind, name)
        drawn = self._draw(
            where,
            tensor,
            shape,
            term,
            f"{name} is {bound}{f' in {binder.name}' if binder else ''}",
            [binder] if binder else (),
        )
        known = f" with {name} = {bound}{self._bound_by(kind, name)}{note}"
        return self._wrong_shape(where, tensor, known, shape, drawn)

    def _draw(
        self,
        where: str,
        tensor: TensorType,
        shape: tuple[Any, ...],
        term: int | None,
        note: str,
        others: Iterable[Drawn] = (),
    ) -> str:
        name, _, item = where.partition("[")
        value = self.values[name][int(item[:-1])] if item else self.values[name]
        return draw(others, Drawn(where, tensor, value), find_sizes(tensor, shape, term), note)

    def _bound_by(self, kind: str, name: str) -> str:
        binder = self._find_binder(kind, name)
        return f" (bound by {binder.name.partition('[')[0]})" if binder else ""

    def _find_binder(self, kind: str, name: str) -> Drawn | None:
        """The first tensor given that binds it; of a list the first item."""
        for parameter in self.contract.parameters:
            if parameter.tensor is None or (kind, name) not in parameter.tensor.binds:
                continue
            value = self.values[parameter.name]
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, Tensor):
                    where = f"{parameter.name}[0]" if parameter.is_list else parameter.name
                    return Drawn(where, parameter.tensor, item)
        return None


def _split(tensor: TensorType, shape: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[Any]] | None:
    """The batch, and for each term its size, or the sizes that "*S" stands for; None: the rank does not fit."""
    spare = len(shape) - len(tensor.terms)
    if tensor.batch:
        return (shape[:spare], list(shape[spare:])) if spare >= 0 else None
    if not tensor.has_tuple:
        return ((), list(shape)) if spare == 0 else None
    if spare < -1:
        return None
    at = next(i for i, term in enumerate(tensor.terms) if term.startswith("*"))
    end = at + spare + 1
    return (), [*shape[:at], shape[at:end], *shape[end:]]


def _is_insane(domain: Domain, shape: tuple[Any, ...]) -> bool:
    """True if a size is negative, or if the product of the sizes before the first unknown size overflows."""
    elements = 1
    for size in reversed(shape):
        known = domain.known(size)
        if known is None:
            return False
        elements *= known
        if known < 0 or elements >= 1 << 63:
            return True
    return elements >= MAX_ELEMENTS


def sizes_text(sizes: tuple[Any, ...]) -> str:
    return f"[{', '.join(map(str, sizes))}]"


def device_text(device: Device) -> str:
    """As error messages write it."""
    return "cpu" if device.type == "cpu" else str(device)


def _dims(count: int) -> str:
    return f"{count} dim" if count == 1 else f"{count} dims"
