"""The signature's shape rules on sizes that may be symbols: what a call's results will be, without running it.

Only what torch traces comes here; calls with real memory are checked by the signature's compiled form, with the same words.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import torch

from . import _dtypes
from ._spec import Form, Param, Result, Spec

_FUNCTIONS = {"min": torch.sym_min, "max": torch.sym_max, "__builtins__": {}}


class Rules:
    """The shape rules of one function, compiled once."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._code: dict[str, Any] = {}
        texts = [*spec.where]
        for form in [*(p.form for p in spec.params if p.form), *(r.form for r in spec.results)]:
            texts += [term for term in form.shape if not term.startswith(("_", "*"))]
        for text in texts:
            self._code[text] = compile(text, f"<{spec.name}: {text}>", "eval")

    def results(self, values: Sequence[Any]) -> list[torch.Tensor]:
        """Empty tensors like the results. TypeError and ValueError as the call itself would raise them."""
        binding = _Binding(self.spec, self._code)
        tensors = [
            (param, item)
            for param, value in zip(self.spec.params, values, strict=True)
            if param.is_tensor and value is not None
            for item in (value if param.is_list else (value,))
        ]
        for param, value in zip(self.spec.params, values, strict=True):
            if param.kind == "int" and not param.is_list and value is not None:
                binding.dims[param.name] = value
        for param, tensor in tensors:
            binding.bind(param, tensor)
        for param, tensor in tensors:
            binding.check(param, tensor)
        binding.check_conditions()
        given = dict(zip((param.name for param in self.spec.params), values, strict=True))
        return [
            torch.empty(binding.shape(result), dtype=binding.dtype(result, given), device=binding.device)
            for result in self.spec.results
        ]


def same(a: Any, b: Any) -> bool:
    """Whether two sizes are equal; of sizes that nobody knows before the program runs, it is taken for granted and checked."""
    equal = a == b
    if isinstance(equal, builtins.bool):
        return equal
    try:
        return builtins.bool(equal)
    except torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode:
        torch._check(equal)
        return True


class _Binding:
    """What one call binds."""

    def __init__(self, spec: Spec, code: dict[str, Any]) -> None:
        self.spec = spec
        self.dims: dict[str, Any] = {}
        self.dtypes: dict[str, torch.dtype] = {}
        self.stars: dict[str, tuple[Any, ...]] = {}
        self.batch: tuple[Any, ...] | None = None
        self.device = torch.device(spec.on or "cpu")
        self._device_known = False
        self._bound_by: dict[str, str] = {}
        self._code = code

    def _error(self, kind: type[Exception], param: Param, expected: str, got: str) -> Exception:
        return kind(f"{self.spec.name}: {param.name}: expected {expected}, got {got}")

    def _split(self, form: Form, tensor: torch.Tensor) -> tuple[tuple[Any, ...], list[tuple[str, Any]]] | None:
        """The leading dims that batch or "*S" stand for, and each other term with its size; None: the rank does not fit."""
        terms = list(form.shape)
        star = next((i for i, term in enumerate(terms) if term.startswith("*")), None)
        fixed = len(terms) - (star is not None)
        spare = tensor.dim() - fixed
        if spare < 0 or (spare > 0 and star is None and form.batch is None):
            return None
        sizes = tuple(tensor.shape)
        if star is None:
            return sizes[:spare], list(zip(terms, sizes[spare:], strict=True))
        pairs = list(zip(terms[:star], sizes[:star], strict=True))
        pairs += zip(terms[star + 1 :], sizes[star + spare :], strict=True)
        return sizes[star : star + spare], pairs

    def bind(self, param: Param, tensor: torch.Tensor) -> None:
        form = _form(param)
        self._bind_dtype(param, form, tensor)
        split = self._split(form, tensor)
        if split is None:
            raise self._error(ValueError, param, f"shape {form.text}", _got(tensor))
        lead, pairs = split
        if form.batch == "..." and self.batch is None:
            self.batch = lead
        for term in form.shape:
            if term.startswith("*"):
                self.stars.setdefault(term[1:], lead)
        for term, size in pairs:
            if term.isidentifier() and term != "_" and term not in self.dims:
                self.dims[term] = size
                self._bound_by[term] = param.name
        if not self._device_known and not param.on_cpu:
            self.device, self._device_known = tensor.device, True

    def _bind_dtype(self, param: Param, form: Form, tensor: torch.Tensor) -> None:
        got = _dtypes.name_of(tensor.dtype)
        if "fixed" in form.dtype:
            if got != form.dtype["fixed"]:
                raise self._error(TypeError, param, f"dtype {form.dtype['fixed']}", got)
            return
        var = form.dtype["var"]
        if var not in self.dtypes:
            allowed = self.spec.dtype_vars[var]
            if allowed is not None and got not in allowed:
                raise self._error(TypeError, param, f"dtype {var} in {{{', '.join(allowed)}}}", got)
            self.dtypes[var] = tensor.dtype
            self._bound_by[var] = param.name
        elif tensor.dtype != self.dtypes[var]:
            known = f"{_dtypes.name_of(self.dtypes[var])} (bound by {self._bound_by[var]})"
            raise self._error(TypeError, param, f"dtype {var} = {known}", got)

    def check(self, param: Param, tensor: torch.Tensor) -> None:
        """Everything that needs all dims."""
        form = _form(param)
        split = self._split(form, tensor)
        assert split is not None  # bind saw to it
        lead, pairs = split
        for term, size in pairs:
            if term != "_" and not same(self._value(term), size):
                bound = f" with {term} = {self._value(term)}"
                by = f" (bound by {self._bound_by[term]})" if term in self._bound_by else ""
                raise self._error(ValueError, param, f"shape {form.text}{bound}{by}", _got(tensor))
        expected = self.batch if form.batch == "..." else None
        for term in form.shape:
            expected = self.stars[term[1:]] if term.startswith("*") else expected
        if expected is not None and not _all_same(expected, lead):
            raise self._error(ValueError, param, f"shape {form.text} with leading dims {list(expected)}", _got(tensor))
        if form.batch == "~..." and not self._broadcasts(lead):
            raise self._error(ValueError, param, f"leading dims {list(self.batch or ())}, each or 1", _got(tensor))
        if not param.strided and not tensor.is_contiguous():
            strides = f"{_got(tensor)} with strides {list(tensor.stride())}"
            raise self._error(ValueError, param, "a contiguous tensor", f"shape {strides}: call .contiguous() first")
        if not param.on_cpu and tensor.device != self.device:
            raise self._error(ValueError, param, f"a tensor on {self.device}", f"one on {tensor.device}")

    def _broadcasts(self, lead: tuple[Any, ...]) -> bool:
        batch = self.batch or ()
        return len(lead) == len(batch) and all(same(a, 1) or same(a, b) for a, b in zip(lead, batch, strict=True))

    def check_conditions(self) -> None:
        for text in self.spec.where:
            try:
                holds = builtins.bool(self._value(text))
            except NameError:  # it names a dim of an optional parameter that is absent
                continue
            except torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode:
                continue  # the call itself checks it
            if not holds:
                got = ", ".join(
                    f"{name} = {self.dims[name]}" for name in self._code[text].co_names if name in self.dims
                )
                raise ValueError(f"{self.spec.name}: expected {text}, got {got}")

    def _value(self, term: str) -> Any:
        if term in self.dims:
            return self.dims[term]
        try:
            return eval(self._code[term], _FUNCTIONS, self.dims)
        except ZeroDivisionError:
            raise ValueError(f"{self.spec.name}: {term}: division by zero") from None

    def shape(self, result: Result) -> list[Any]:
        sizes: list[Any] = list(self.batch or ()) if result.form.batch else []
        for term in result.form.shape:
            sizes += self.stars[term[1:]] if term.startswith("*") else [self._value(term)]
        return sizes

    def dtype(self, result: Result, given: dict[str, Any]) -> torch.dtype:
        ((form, name),) = result.form.dtype.items()
        if form == "fixed":
            return _dtypes.TO_TORCH[name]
        if form == "param":
            chosen: torch.dtype = given[name]
            return chosen
        dtype = self.dtypes[name]
        return _dtypes.real_of(dtype) if form == "real" else _dtypes.complex_of(dtype) if form == "complex" else dtype


def _form(param: Param) -> Form:
    assert param.form is not None
    return param.form


def _all_same(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))


def _got(tensor: torch.Tensor) -> str:
    return str(list(tensor.shape))
