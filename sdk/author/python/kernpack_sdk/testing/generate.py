"""Calls that a contract allows, of many kinds; which of them a kernel accepts is learnt from those that it refuses."""

from __future__ import annotations

import random
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from kernpack import DType
from kernpack._contract import Contract, Parameter

from kernpack_sdk.testing import values
from kernpack_sdk.testing.case import Call, Op
from kernpack_sdk.testing.inputs import Inputs
from kernpack_sdk.testing.sizes import Sizes, bound_names, has_batch, int_parameters, item_names
from kernpack_sdk.testing.values import Draw

_ODD = (1, 2, 3, 5, 7, 9, 13, 15, 17, 19, 31, 33, 37, 63, 65, 67, 101, 127, 129)
_PREFERRED = ("f32", "f64", "f16", "bf16", "c64", "i32", "i64")


@dataclass(frozen=True)
class Wish:
    """Properties that a call should have. All other properties are chosen."""

    about: str
    profile: str = "small"  # small, odd, one, large, zero
    which: str = ""  # the dim that is zero or large; "...": the batch
    batch: tuple[int, ...] | None = None
    dtypes: dict[str, str] = field(default_factory=dict)
    given: dict[str, bool] = field(default_factory=dict)  # optional parameters
    scalars: dict[str, Any] = field(default_factory=dict)
    floats: str = "normal"
    defaults: bool = True  # numbers with a default have it
    sizes: dict[str, int] = field(default_factory=dict)  # of dims
    largest: int = 0  # elements of a tensor; 0: what the generator was made with


class Unsolved(Exception):
    """No sizes were found that hold the contract's conditions."""


class Generator:
    """Of one op."""

    def __init__(self, op: Op, seed: int, inputs: Inputs, largest: int = 1 << 15) -> None:
        self.op = op
        self.inputs = inputs
        self.largest = largest
        self._seed = (seed, zlib.crc32(op.name.encode()))
        self._count = 0
        self.accepted: Counter[tuple[str, Any]] = Counter()  # what calls that a kernel took were made of
        self._choices: list[tuple[str, Any]] = []

    @property
    def contract(self) -> Contract:
        assert self.op.contract is not None
        return self.op.contract

    # -------------------------------------------------------------- what to try

    def allowed_dtypes(self, variable: str) -> list[str]:
        """Those that NumPy can hold, the preferred first."""
        names = self.contract.dtype_vars[variable] or ("f32", "f64", "i32", "i64", "u8", "bool", "f16", "bf16")
        found = [name for name in names if values.numpy_dtype(name) is not None]
        return sorted(found, key=lambda name: _PREFERRED.index(name) if name in _PREFERRED else len(_PREFERRED))

    def unrepresentable(self) -> str:
        """The dtype, of a tensor that every call has, for which NumPy has none."""
        for parameter in self.contract.parameters:
            if parameter.tensor is None or parameter.optional:
                continue
            form, name = parameter.tensor.dtype
            if form == "fixed" and values.numpy_dtype(name) is None:
                return name
            if form == "var" and not self.allowed_dtypes(name):
                return "/".join(self.contract.dtype_vars[name] or ())
        fixed = [result.tensor.dtype[1] for result in self.contract.results if result.tensor.dtype[0] == "fixed"]
        return next((name for name in fixed if values.numpy_dtype(name) is None), "")

    def wishes(self, odd: int) -> Iterator[Wish]:
        """odd: how many calls of odd sizes."""
        contract = self.contract
        yield Wish("small sizes")
        everything = frozenset(each.name for each in contract.parameters)
        dims, _ = bound_names(contract, everything)
        batched = has_batch(contract, everything)
        for variable in contract.dtype_vars:
            for name in self.allowed_dtypes(variable):
                yield Wish(f"{variable} = {name}", dtypes={variable: name})
                yield Wish(f"{variable} = {name}, odd sizes", profile="odd", dtypes={variable: name})
        for parameter in contract.parameters:
            if parameter.optional:
                yield Wish(f"with {parameter.name}", given={parameter.name: True})
                yield Wish(f"without {parameter.name}", given={parameter.name: False})
            elif parameter.kind == "bool" or parameter.choices:
                for value in values.scalars(parameter):
                    yield Wish(f"{parameter.name} = {value}", scalars={parameter.name: value})
            elif item_names(contract, parameter.name) or (parameter.kind in ("int", "float") and not parameter.is_list):
                yield Wish(f"other values of {parameter.name}", defaults=False)
        for _ in range(odd):
            yield Wish("odd sizes", profile="odd")
        yield Wish("all sizes 1", profile="one", batch=(1,) if batched else None)
        yield Wish("one size large", profile="large", which=dims[-1] if dims else "...")
        for name in [*dims, *(["..."] if batched else [])]:
            yield Wish(f"{'the batch' if name == '...' else name} is empty", profile="zero", which=name)
        if batched:
            yield Wish("no batch dims", batch=())
            yield Wish("many rows", batch=(257,))
            yield Wish("three batch dims", batch=(2, 3, 2))

    # -------------------------------------------------------------- making calls

    def call(self, wish: Wish) -> Call:
        """One such call, another each time. Unsolved where no sizes were found."""
        self._count += 1
        rng = np.random.default_rng((*self._seed, self._count))
        chooser = random.Random(int(rng.integers(1 << 62)))
        self._choices = []
        whole = self.inputs.arguments(self.op.name)
        if whole is not None:
            return self._whole(whole(rng))
        if self.op.contract is None:
            raise Unsolved("the function has no contract")
        sizes = self._sizes(wish, chooser, rng)
        return self._filled(sizes, wish, chooser, rng)

    def learn(self) -> None:
        """The last call was accepted: what it was made of is likelier from now on."""
        self.accepted.update(self._choices)

    def _whole(self, given: Any) -> Call:
        if isinstance(given, dict):
            named = given
        elif isinstance(given, (tuple, list)):
            parameters = self.op.contract.parameters if self.op.contract else ()
            names = [each.name for each in parameters] or [str(i) for i in range(len(given))]
            named = dict(zip(names, given, strict=False))
        else:
            raise ValueError(f"{self.op.name}: arguments: expected a dict or a tuple, got {type(given).__name__}")
        for parameter in self.op.contract.parameters if self.op.contract else ():
            if parameter.name not in named and parameter.has_default:
                named[parameter.name] = DType(parameter.default) if parameter.kind == "dtype" else parameter.default
        if self.op.contract is not None:
            named = {each.name: named[each.name] for each in self.op.contract.parameters if each.name in named}
        return Call(self.op, named, "the author's arguments")

    def _sizes(self, wish: Wish, chooser: random.Random, rng: np.random.Generator) -> Sizes:
        contract = self.contract
        present = frozenset(each.name for each in contract.parameters if self._is_given(each, wish, chooser))
        dims, tuples = bound_names(contract, present)
        sizes = Sizes(contract, present)
        for name in dims:
            sizes.dims[name] = self._wished(wish, name, chooser)
        for name in tuples:
            sizes.tuples[name] = self._several(wish, name, chooser, chooser.choice((1, 2, 2, 3)))
        for variable in contract.dtype_vars:
            names = self.allowed_dtypes(variable)
            sizes.dtypes[variable] = wish.dtypes.get(variable, names[0] if names else "f32")
        sizes.batch = self._batch(wish, present, chooser)
        for name in tuples:  # a kernel may want what a contract can't say: the shape of another tensor
            if self._chosen((name, "shape"), ["its own", "another's"], chooser) == "another's":
                sizes.tuples[name] = self._like_another(sizes, name) or sizes.tuples[name]
        fixed = {*wish.sizes, *([wish.which] if wish.profile == "zero" else [])}
        for parameter in int_parameters(contract):
            if parameter.name in present:
                sizes.ints[parameter.name] = self._scalar(parameter, wish, chooser, sizes, rng)
                if (wish.defaults and parameter.has_default) or parameter.name in wish.scalars:
                    fixed.add(parameter.name)
        for parameter in contract.parameters:
            for i, name in enumerate(item_names(contract, parameter.name)):
                keeps = wish.defaults and parameter.has_default
                sizes.ints[name] = parameter.default[i] if keeps else self._chosen(name, [1, 2, 3], chooser)
        for name in list(sizes.dims):
            make = self.inputs.argument(self.op.name, name)
            if make is not None:
                sizes.dims[name] = int(make(Draw(rng, self.op.name, name, None, None, dict(sizes.dims))))
                fixed.add(name)
        largest = wish.largest or self.largest
        if not sizes.repaired(chooser, largest, frozenset(fixed)) and (
            wish.sizes or not sizes.repaired(chooser, largest)
        ):
            raise Unsolved(f"no sizes were found for which {self._conditions()} holds")
        return sizes

    def _like_another(self, sizes: Sizes, name: str) -> tuple[int, ...] | None:
        for parameter in self.contract.parameters:
            tensor = parameter.tensor
            if tensor is not None and parameter.name in sizes.present and ("tuple", name) not in tensor.dims:
                return sizes.shape(tensor)
        return None

    def _conditions(self) -> str:
        return ", ".join(condition.text for condition in self.contract.where) or "the contract"

    def _is_given(self, parameter: Parameter, wish: Wish, chooser: random.Random) -> bool:
        if not parameter.optional:
            return True
        return wish.given.get(parameter.name, chooser.random() < 0.7)

    def _wished(self, wish: Wish, name: str, chooser: random.Random) -> int:
        if name in wish.sizes:
            return wish.sizes[name]
        if wish.profile in ("zero", "large") and name == wish.which:
            return 0 if wish.profile == "zero" else chooser.randint(1000, 3000)
        if wish.profile == "one":
            return 1
        return chooser.choice(_ODD) if wish.profile == "odd" else chooser.randint(2, 7)

    def _several(self, wish: Wish, name: str, chooser: random.Random, count: int) -> tuple[int, ...]:
        """Several dims, of which together are not many more elements than of one."""
        sizes = [self._wished(wish, name, chooser) for _ in range(count)]
        for i in range(1, count):
            sizes[i] = min(sizes[i], 5)
        chooser.shuffle(sizes)
        return tuple(sizes)

    def _batch(self, wish: Wish, present: frozenset[str], chooser: random.Random) -> tuple[int, ...]:
        if not has_batch(self.contract, present):
            return ()
        if wish.batch is not None:
            return wish.batch
        batch = self._several(wish, "...", chooser, 1 if wish.profile == "large" else chooser.choice((1, 1, 2)))
        if not bound_names(self.contract, present)[0] or wish.profile not in ("odd", "large"):
            return batch
        return tuple(min(size, 5) for size in batch)  # a dim of the contract is what is odd or large

    # -------------------------------------------------------------- values

    def _filled(self, sizes: Sizes, wish: Wish, chooser: random.Random, rng: np.random.Generator) -> Call:
        near = tuple(chooser.choice((size, size, 1)) if size else size for size in sizes.batch)
        filled: dict[str, Any] = {}
        lists = [each.name for each in self.contract.parameters if each.is_list and each.tensor is not None]
        # Most kernels of several lists want them alike, which a contract can't say: as many tensors in each, of the same sizes.
        alike = len(lists) > 1 and self._chosen("lists", [True, False], chooser)
        items = (
            [self._wished(wish, "_", chooser) for _ in range(self._chosen("items", [2, 1, 3], chooser))]
            if alike
            else []
        )
        for parameter in self.contract.parameters:
            items_of_ints = item_names(self.contract, parameter.name)
            if parameter.name not in sizes.present:
                filled[parameter.name] = None
            elif items_of_ints:
                filled[parameter.name] = [sizes.ints[name] for name in items_of_ints]
            elif parameter.is_list:
                own: list[int | None] = [*items]
                if not alike or parameter.tensor is None:
                    own = [None] * self._chosen(parameter.name, [2, 1, 3], chooser)
                filled[parameter.name] = [
                    self._one(parameter, sizes, wish, chooser, rng, near, filled, size) for size in own
                ]
            else:
                filled[parameter.name] = self._one(parameter, sizes, wish, chooser, rng, near, filled)
        return Call(self.op, filled, wish.about, {**sizes.dims, **sizes.ints}, sizes.batch)

    def _one(
        self,
        parameter: Parameter,
        sizes: Sizes,
        wish: Wish,
        chooser: random.Random,
        rng: np.random.Generator,
        near: tuple[int, ...],
        before: dict[str, Any],
        wild: int | None = None,
    ) -> Any:
        """wild: the size of its dims `_`; None: any."""
        if parameter.tensor is None:
            if parameter.name in sizes.ints:
                return sizes.ints[parameter.name]
            return self._scalar(parameter, wish, chooser, sizes, rng, before)
        form, name = parameter.tensor.dtype
        name = sizes.dtypes[name] if form == "var" else name
        shape = sizes.shape(parameter.tensor, self._wished(wish, "_", chooser) if wild is None else wild, near)
        dtype = values.numpy_dtype(name)
        if shape is None or dtype is None:
            raise Unsolved(f"NumPy has no tensor for {parameter.name}: {name}{parameter.tensor.text}")
        draw = Draw(rng, self.op.name, parameter.name, shape, dtype, {**sizes.dims, **sizes.ints}, dict(before))
        make = self.inputs.argument(self.op.name, parameter.name)
        if make is not None:
            return np.array(make(draw), dtype)  # a copy: the author may give the same array twice
        style = "below"
        if dtype.kind in "iu":
            style = self._chosen((parameter.name, "style"), list(values.INTEGER_STYLES), chooser)
        bound, total = _extents(self.contract, sizes, parameter.name, chooser)
        return values.tensor(draw, integers=style, floating=wish.floats, bound=bound, total=total)

    def _scalar(
        self,
        parameter: Parameter,
        wish: Wish,
        chooser: random.Random,
        sizes: Sizes,
        rng: np.random.Generator,
        before: dict[str, Any] | None = None,
    ) -> Any:
        if parameter.name in wish.scalars:
            return wish.scalars[parameter.name]
        make = self.inputs.argument(self.op.name, parameter.name)
        if make is not None:
            return make(Draw(rng, self.op.name, parameter.name, None, None, dict(sizes.dims), before or {}))
        choices = values.scalars(parameter)
        if wish.defaults and parameter.has_default and parameter.default is not None and not parameter.is_list:
            return choices[0]
        return self._chosen(parameter.name, choices, chooser)

    def _chosen(self, name: Any, choices: list[Any], chooser: random.Random) -> Any:
        """The first at first; what was accepted before is likelier than what never was."""
        known = [choice for choice in choices if self.accepted[name, choice]]
        if known:
            chosen = chooser.choice(known) if chooser.random() < 0.85 else chooser.choice(choices)
        else:
            chosen = choices[0] if self._count <= 2 else chooser.choice(choices)
        self._choices.append((name, chosen))
        return chosen


def _extents(contract: Contract, sizes: Sizes, name: str, chooser: random.Random) -> tuple[int, int]:
    """(the smallest size of any other tensor's dims, one of these sizes): what indices stay below, what offsets cover."""
    own = next(each.tensor for each in contract.parameters if each.name == name)
    taken = set(own.dims) if own else set()
    found: list[int] = []
    for parameter in contract.parameters:
        if parameter.tensor is None or parameter.name == name or parameter.name not in sizes.present:
            continue
        for term in parameter.tensor.dims:
            if term not in taken and term[0] in ("var", "const"):
                found.append(int(term[1]) if term[0] == "const" else sizes.dims[term[1]])
    found = found or [*sizes.dims.values(), *sizes.batch] or [4]
    return min(found), chooser.choice(found)
