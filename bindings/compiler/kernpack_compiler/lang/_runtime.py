"""Called by rewritten functions: each method builds the IR of one construct of Python."""

from __future__ import annotations

import builtins
import inspect
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

from kernpack_compiler import ir
from kernpack_compiler.lang import _functions, _words
from kernpack_compiler.lang._dtypes import Dtype, TensorType
from kernpack_compiler.lang._folds import Folds
from kernpack_compiler.lang._source import Refusal
from kernpack_compiler.lang._values import (
    Cell,
    check_integers,
    condition,
    describe_kind,
    get_type,
    is_known,
    plain,
    typed,
)


class Runtime(Folds):
    """Records one function. inputs: tensors that it only reads. cells: the types of variables that both branches of an `if` create, in
    their order; tracing finds them, and a second run of the function declares them before the `if`."""

    def __init__(
        self, float_type: str, inputs: frozenset[str], inline: Callable[[Any, Runtime], Any], cells: list[str]
    ) -> None:
        super().__init__(float_type)
        self.declared: list[Cell] = []
        self._inputs, self._inline, self._cells = inputs, inline, cells
        self._masks: list[ir.Expr] = []
        self._inlining: list[Any] = []
        self._loops: list[str] = []  # around this place
        self._made: list[ir.Buffer] | None = None  # in a helper that an expression calls: the memory that it made

    # Elements

    def load(self, owner: Any, index: Any) -> Any:
        if isinstance(owner, ir.Buffer):
            indices = _indices(owner, index)
            mask = self._mask()
            return owner[indices] if mask is None else owner.load(indices, mask, 0)
        if isinstance(owner, Dtype):
            return owner[index]
        if isinstance(owner, tuple | list):
            if isinstance(index, ir.Expr):
                raise Refusal(
                    "a tuple or list of Python is indexed by known numbers; loop over it, "
                    "`for value in values:`, or store its numbers into `local(f32[n])`"
                )
            return plain(owner[index])
        raise Refusal(f"expected a tensor before [...], got {describe_kind(owner)}")

    def store(self, owner: Any, index: Any, value: Any) -> None:
        self.recording("a store")
        if not isinstance(owner, ir.Buffer):
            raise Refusal(f"expected a tensor before [...], got {describe_kind(owner)}")
        if owner.scope == "global" and owner.name in self._inputs:
            raise Refusal(f"`{owner.name}` is an input: to write to it, annotate it as `{owner.name}: inout(...)`")
        if self._made is not None and not any(owner is made for made in self._made):
            raise Refusal(
                f"`{owner.name}` is written by a helper that is called inside an expression, which may read it before or after: "
                "call the helper in a line of its own"
            )
        indices, mask = _indices(owner, index), self._mask()
        if not isinstance(value, ir.Expr) and not is_known(value):
            raise Refusal(f"`{owner.name}` holds numbers, got {describe_kind(value)}")
        if isinstance(value, ir.Expr) and value.type != owner.dtype:
            raise Refusal(
                f"`{owner.name}` is {owner.dtype.name}, and gets {value.type.name}: convert it, {owner.dtype.name}(...)"
            )
        if mask is None:
            owner[indices] = value
        else:
            owner.store(indices, value, mask)

    def attribute(self, owner: Any, name: str) -> Any:
        if isinstance(owner, ir.Buffer) and name not in ("shape", "ndim"):
            raise Refusal(
                f"`{owner.name}.{name}`: a kernel reads elements, {owner.name}[i]; write a loop, or "
                f"sum({owner.name}[i] for i in range(n))"
            )
        if isinstance(owner, ir.Expr):
            raise Refusal(f"`.{name}`: a number of a kernel has no attributes")
        return plain(getattr(owner, name))

    # Conditions

    def truth(self, value: Any) -> Any:
        return condition(value)

    def negate(self, value: Any) -> Any:
        value = condition(value)
        return value ^ ir.bool_(True) if isinstance(value, ir.Expr) else not value

    def choose(self, test: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """`a if test else b`: elements that the chosen side doesn't read aren't read."""
        test = condition(test)
        if not isinstance(test, ir.Expr):
            return then() if test else otherwise()
        a, b = self._under(test, then), self._under(self.negate(test), otherwise)
        if is_known(a) and is_known(b):
            kind = get_type(a if isinstance(a, float) or not isinstance(b, float) else b, self.float_type)
            a, b = (ir.cast(kind, side) for side in (a, b))
        for side in (a, b):
            if not isinstance(side, ir.Expr) and not is_known(side):
                raise Refusal(f"`a if condition else b` chooses between numbers, got {describe_kind(side)}")
        return ir.select(test, a, b)

    def chain(self, ops: tuple[str, ...], first: Any, second: Any, *rest: Callable[[], Any]) -> Any:
        """`a < b < c`: b is computed once."""
        joined: Any = _COMPARED[ops[0]](first, second)
        for op, side in zip(ops[1:], rest, strict=True):
            link = _Link(_COMPARED[op], second, side)
            joined, second = self.both(joined, link), link.right
        return joined

    def both(self, first: Any, *rest: Callable[[], Any]) -> Any:
        joined = condition(first)
        for then in rest:
            if not isinstance(joined, ir.Expr):
                joined = condition(then()) if joined else False
            else:
                second = condition(self._under(joined, then))
                joined = joined & second if isinstance(second, ir.Expr) else joined if second else False
        return joined

    def either(self, first: Any, *rest: Callable[[], Any]) -> Any:
        joined = condition(first)
        for then in rest:
            if not isinstance(joined, ir.Expr):
                joined = True if joined else condition(then())
            else:
                second = condition(self._under(self.negate(joined), then))
                joined = joined | second if isinstance(second, ir.Expr) else True if second else joined
        return joined

    def _under(self, mask: ir.Expr, value: Callable[[], Any]) -> Any:
        self._masks.append(mask)
        try:
            return value()
        finally:
            self._masks.pop()

    def _mask(self) -> ir.Expr | None:
        joined = None
        for mask in self._masks:
            joined = mask if joined is None else joined & mask
        return joined

    def power(self, base: Any, exponent: Any) -> Any:
        """`x ** 2` is a product."""
        if isinstance(base, ir.Expr) and isinstance(exponent, int) and 1 <= exponent <= 4:
            base = self.let(base, "base")
            product = base
            for _ in range(exponent - 1):
                product = product * base
            return product
        return base**exponent

    # Variables

    def let(self, value: Any, name: str, dtype: Any = None) -> Any:
        if dtype is not None:
            value = _annotated(value, name, dtype)
        if isinstance(value, ir.Expr) and not self.is_pure:
            return ir.let(value, name)
        return value

    def cell(self, value: Any, name: str, dtype: Any = None) -> Cell:
        self.recording(f"`{name}`, which changes in a loop or a branch,")
        if dtype is not None:
            value = _annotated(value, name, dtype)
        made = Cell(name, None, self.float_type)
        made.value = value
        return made

    def declare(self, name: str) -> Cell:
        """A variable that both branches of the `if` that follows create."""
        self.recording("a branch")
        index = len(self.declared)
        made = Cell(name, self._cells[index] if index < len(self._cells) else None, self.float_type)
        self.declared.append(made)
        return made

    def unpack(self, value: Any, *names: str) -> list[Any]:
        """Values that are assigned together, all computed before the first is."""
        count = len(names)
        if not isinstance(value, tuple | list):
            raise Refusal(f"expected {count} values, got {describe_kind(value)}")
        if len(value) != count:
            raise Refusal(f"expected {count} values, got {len(value)}")
        return [self.let(part, name) for part, name in zip(value, names, strict=True)]

    def check(self, test: Any, message: str) -> None:
        self.recording("an assert")
        test = condition(test)
        if isinstance(test, ir.Expr):
            ir.check(
                self.either(self.negate(mask), lambda: test) if (mask := self._mask()) is not None else test, message
            )
        elif not test:
            raise Refusal(f"the assertion fails for every call: {message}")

    # Loops and branches: each yields once for every time that its body is traced

    def loop(self, name: str | None, function: Any, *bounds: Any, **options: Any) -> Iterator[Any]:
        if function in (enumerate, zip, reversed) and all(isinstance(b, tuple | list) for b in bounds):
            yield from self._inside("a loop over values of Python", function(*bounds, **options))
            return
        self.recording("a loop")
        if function is _words.launch:
            yield from self._inside("a launch", self._opened(ir.launch(*bounds, **options)))
            return
        if function not in _functions.LOOPS:
            raise _refused_loop(function)
        check_integers(function.__name__, bounds)
        if len(bounds) == 3 and function is range:
            yield from self._inside("", self._steps(name, *bounds))
            return
        if not 1 <= len(bounds) <= 2:
            raise Refusal(f"{function.__name__}(): expected one or two bounds, got {len(bounds)}")
        if function is _words.vectorized and "lanes" not in options:
            raise Refusal("vectorized(): expected lanes=, the number of iterations at once: vectorized(D, lanes=16)")
        kind = "" if function is range else f"a loop over {function.__name__}()"
        yield from self._inside(kind, self._opened(_functions.LOOPS[function](*bounds, name=name, **options)))

    def repeat(self, test: Callable[[], Any]) -> Iterator[None]:
        """`while test:`. The test may need statements, and is evaluated in each round."""
        self.recording("a loop")
        for _ in self._opened(ir.repeat()):
            holds = condition(test())
            if isinstance(holds, ir.Expr):
                with ir.when(self.negate(holds)):
                    ir.break_()
            elif not holds:
                ir.break_()
            yield from self._inside("", iter((None,)))

    def jump(self, word: str) -> None:
        """`break` or `continue`."""
        loop = self._loops[-1]
        if loop:
            raise Refusal(
                f"`{word}` in {loop}, whose rounds don't run one after another: loop over range(), or write an `if`"
            )
        ir.break_() if word == "break" else ir.continue_()

    def _inside(self, kind: str, rounds: Iterator[Any]) -> Iterator[Any]:
        """kind: of the loop, if `break` can't leave it."""
        self._loops.append(kind)
        yield from rounds
        self._loops.pop()

    def _steps(self, name: str | None, first: Any, end: Any, step: Any) -> Iterator[Any]:
        for counter in self._opened(ir.serial(self.count(first, end, step), name=f"{name}_step")):
            yield self.let(first + counter * step, name or "t")

    def _opened(self, block: Any) -> Iterator[Any]:
        inside = block.__enter__()
        yield inside
        block.__exit__(None, None, None)

    def each(self, values: Any) -> Iterator[Any]:
        """A loop over a tuple or a list of Python is written out."""
        if not isinstance(values, tuple | list | range):
            raise Refusal(f"a loop goes over range(n), got {describe_kind(values)}")
        yield from self._inside("a loop over values of Python", (plain(value) for value in values))

    def when(self, test: Any) -> Iterator[None]:
        if isinstance(test, ir.Expr):
            self.recording("a branch")
            yield from self._opened(ir.when(test))
        elif test:
            yield None

    def otherwise(self, test: Any) -> Iterator[None]:
        if isinstance(test, ir.Expr):
            yield from self._opened(ir.otherwise())
        elif not test:
            yield None

    # Calls

    def nested(self, name: str | None, function: Any, *args: Any, **options: Any) -> Any:
        """A call inside an expression."""
        before, self._made = self._made, [] if self._made is None else self._made
        try:
            return self.call(name, function, *args, **options)
        finally:
            self._made = before

    def call(self, name: str | None, function: Any, *args: Any, **options: Any) -> Any:
        """A call that is a line of its own, or whose value a variable gets: that of this name."""
        operation = _functions.operation(function)
        if operation is not None:
            return self._operation(function, operation, args, options)
        if isinstance(function, Dtype) or function in (builtins.int, builtins.float, builtins.bool):
            return _functions.converted(function, args, self.float_type)
        if function in (builtins.max, builtins.min):
            if options:
                raise Refusal(f"{function.__name__}(): {next(iter(options))}=: {_functions.ARGMAX}")
            return _functions.between(function, args)
        if function in _functions.SCOPES:
            self.recording("memory")
            made = _functions.memory(function, args, name)
            if self._made is not None:
                self._made.append(made)
            return made
        if function is _words.barrier:
            self.recording("a barrier")
            return ir.barrier()
        if function is _words.bitcast:
            dtype, value = args
            return ir.bitcast(dtype.type, typed(value, self.float_type))
        if function in _functions.LOOPS or function is _words.launch:
            raise Refusal(f"{function.__name__}() heads a loop: `for i in {function.__name__}(...):`")
        if function is builtins.sum:
            raise Refusal(
                f"sum(): expected a generator, sum(x[j] for j in range(D)), got {describe_kind(args[0] if args else None)}"
            )
        if _functions.is_of_ir(function):
            return function(*args, **options)
        return self._helper(function, args, options)

    def _operation(
        self, function: Any, operation: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        if all(is_known(arg) for arg in args):
            return function(*args, **options)
        for arg in args:
            if not isinstance(arg, ir.Expr) and not is_known(arg):
                raise Refusal(f"{function.__name__}(): expected a number, got {describe_kind(arg)}")
        if options or len(args) != (2 if function is math.pow else 1):
            raise Refusal(f"{function.__name__}(): expected {'two numbers' if function is math.pow else 'one number'}")
        return operation(*args)

    def _helper(self, function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        from kernpack_compiler.lang._kernel import Kernel

        if isinstance(function, Kernel):
            raise Refusal(f"{function.__name__}(): a kernel can't call a kernel; make a function of what both need")
        if not inspect.isfunction(function) or not _functions.may_inline(function):
            raise _functions.refuse(function)
        if function in self._inlining:
            raise Refusal(f"{function.__name__}() calls itself: a kernel has no recursion; write a loop")
        self._inlining.append(function)
        try:
            body = self._inline(function, self)
            given = [self.let(arg, name) for arg, name in zip(args, _parameters(function, len(args)), strict=True)]
            return body(*given, **{name: self.let(value, name) for name, value in options.items()})
        finally:
            self._inlining.pop()


_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}


class _Link:
    """One comparison of a chain, which keeps its right side for the next."""

    def __init__(self, compare: Callable[[Any, Any], Any], left: Any, side: Callable[[], Any]) -> None:
        self._compare, self._left, self._side = compare, left, side
        self.right: Any = False  # not computed where the chain is known to be false

    def __call__(self) -> Any:
        self.right = self._side()
        return self._compare(self._left, self.right)


def _parameters(function: Any, count: int) -> list[str]:
    names = list(function.__code__.co_varnames[: function.__code__.co_argcount])
    return (names + ["t"] * count)[:count]


def _indices(buffer: ir.Buffer, index: Any) -> tuple[Any, ...]:
    indices = index if isinstance(index, tuple) else (index,)
    if len(indices) != buffer.ndim:
        expected = "1 index" if buffer.ndim == 1 else f"{buffer.ndim} indices"
        raise Refusal(
            f"`{buffer.name}`: expected {expected}, got {len(indices)}: a kernel reads and writes one element"
        )
    for axis, each in enumerate(indices):
        if isinstance(each, bool) or not (
            isinstance(each, int) or (isinstance(each, ir.Expr) and each.type.name[0] in "iu")
        ):
            raise Refusal(f"`{buffer.name}`: index {axis}: expected an integer, got {describe_kind(each)}")
        if isinstance(each, int) and each < 0:
            raise Refusal(
                f"`{buffer.name}`: index {axis}: {each} counts from the end; write the extent and minus, as in N - {-each}"
            )
    return indices


def _annotated(value: Any, name: str, dtype: Any) -> Any:
    """`m: f32 = value`."""
    if isinstance(dtype, TensorType):
        raise Refusal(f"`{name}`: memory is made by local(...): {name} = local({dtype.dtype}[n])")
    if not isinstance(dtype, Dtype):
        raise Refusal(f"`{name}`: expected a type of elements such as f32 or i64, got {dtype!r}")
    if isinstance(value, ir.Expr) and value.type != dtype.type:
        raise Refusal(f"`{name}` is {dtype}, and gets {value.type.name}: convert it, {dtype}(...)")
    if not isinstance(value, ir.Expr) and not is_known(value):
        raise Refusal(f"`{name}` holds a number, got {describe_kind(value)}")
    return ir.cast(dtype.type, value)


def _refused_loop(function: Any) -> Refusal:
    name = getattr(function, "__name__", "")
    if getattr(builtins, name, None) is function:
        return _functions.refuse(function)
    return Refusal("a loop goes over range(), parallel(), vectorized(), unrolled() or launch()")
