"""The contract of a kernel, from the annotations of its function."""

from __future__ import annotations

import ast
import builtins
import inspect
import operator
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kernpack_compiler.lang._dtypes import Dtype, TensorType
from kernpack_compiler.lang._source import Source, get_closure

_BINARY = {
    ast.Add: ("{} + {}", "({} + {})", operator.add),
    ast.Sub: ("{} - {}", "({} - {})", operator.sub),
    ast.Mult: ("{} * {}", "({} * {})", operator.mul),
    ast.FloorDiv: ("floordiv({}, {})", "({} // {})", operator.floordiv),
    ast.Mod: ("floormod({}, {})", "({} % {})", operator.mod),
}
_EXTENT = 'an extent is a number, the name of a dim, or text such as "2 * E", with + - * // % and min() and max()'
_PLAIN = {builtins.float: "f32 or f64", builtins.int: "i64 or i32", builtins.bool: "bool_"}


class Parameter(NamedTuple):
    name: str
    dtype: Dtype
    dims: tuple[ast.expr, ...] | None  # None: a scalar
    role: str  # input, inout or result
    any_rank: bool = False  # the first dim stands for any number of dimensions
    default: Any = None
    keyword_only: bool = False

    @property
    def is_scalar(self) -> bool:
        return self.dims is None


class Contract:
    """Parameters and results. header: as ir.func takes it. signature: what the header can't say, or ""."""

    def __init__(self, parameters: list[Parameter], results: list[Parameter]) -> None:
        self.parameters, self.results = parameters, results
        scalars = {p.name for p in parameters if p.is_scalar}
        self.dims = list(dict.fromkeys(name for p in self.all for name in _names(p) if name not in scalars))

    @property
    def all(self) -> list[Parameter]:
        return [*self.parameters, *self.results]

    @property
    def float_type(self) -> str:
        """The type of a number such as 0.5 that meets no other: f64 in a kernel of f64, else f32."""
        names = {p.dtype.name for p in self.all}
        return "f64" if "f64" in names and "f32" not in names else "f32"

    @property
    def header(self) -> str:
        return self._text(in_signature=False)

    @property
    def signature(self) -> str:
        if not any(p.keyword_only or p.default is not None for p in self.parameters):
            return ""
        return self._text(in_signature=True)

    def _text(self, *, in_signature: bool) -> str:
        def of(p: Parameter) -> str:
            name = p.name + ("!" if p.role == "inout" else "")
            if p.dims is None:
                given = f" = {p.default!r}" if in_signature and p.default is not None else ""
                return f"{name}: {_scalar_word(p) if in_signature else p.dtype.name}{given}"
            dims = [_spelled(dim, in_signature) for dim in p.dims]
            if p.any_rank:
                dims[0] = "..." if in_signature else f"{dims[0]}..."
            return f"{name}: {p.dtype.name}[{', '.join(dims)}]"

        params = [of(p) for p in self.parameters if not p.keyword_only]
        keywords = [of(p) for p in self.parameters if p.keyword_only]
        if keywords:
            params += ["*", *keywords] if in_signature else keywords
        return f"({', '.join(params)}) -> ({', '.join(of(p) for p in self.results)})"


def evaluate(dim: ast.expr, dims: Mapping[str, int]) -> int | None:
    """An extent's value; None if a dim isn't known yet."""
    if isinstance(dim, ast.Constant):
        return int(dim.value)  # type: ignore[arg-type]
    if isinstance(dim, ast.Name):
        return dims.get(dim.id)
    if isinstance(dim, ast.BinOp):
        left, right = evaluate(dim.left, dims), evaluate(dim.right, dims)
        if left is None or right is None:
            return None
        return int(_BINARY[type(dim.op)][2](left, right))
    assert isinstance(dim, ast.Call)
    assert isinstance(dim.func, ast.Name)
    values = [evaluate(arg, dims) for arg in dim.args]
    return None if None in values else getattr(builtins, dim.func.id)(values)


def get_contract(source: Source) -> Contract:
    """KernelError, at the annotation, for what a contract can't have."""
    function = source.function
    arguments = source.tree.args
    for extra in (arguments.vararg, arguments.kwarg):
        if extra is not None:
            raise source.error(extra, f"`*{extra.arg}`: a contract names every parameter")
    nodes = {argument.arg: argument for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    parameters = [
        _parameter(source, nodes[name], given) for name, given in inspect.signature(function).parameters.items()
    ]
    results = list(_results(source, parameters))
    _check_names(source, nodes, [*parameters, *results])
    return Contract(parameters, results)


def _parameter(source: Source, node: ast.arg, given: inspect.Parameter) -> Parameter:
    name = node.arg
    if node.annotation is None:
        raise source.error(
            node, f'`{name}` has no type: annotate it, {name}: f32["N", "D"] for a tensor or {name}: f32 for a number'
        )
    kind = _annotation(source, node.annotation, given.annotation)
    keyword_only = given.kind is inspect.Parameter.KEYWORD_ONLY
    default = None if given.default is inspect.Parameter.empty else given.default
    if isinstance(kind, dict):
        raise source.error(node, f"`{name}`: a parameter is one tensor or number, got a dict")
    if isinstance(kind, TensorType):
        if given.default is not inspect.Parameter.empty:
            raise source.error(node, f"`{name}`: a tensor has no default value")
        role = "inout" if kind.written else "input"
        extents = _extents(source, node.annotation, kind)
        return Parameter(name, kind.dtype, extents, role, _any_rank(kind), keyword_only=keyword_only)
    if given.default is not inspect.Parameter.empty and not isinstance(default, bool | int | float):
        raise source.error(node, f"`{name}`: expected a number as the default, got {default!r}")
    return Parameter(name, kind, None, "input", False, default, keyword_only)


def _results(source: Source, parameters: list[Parameter]) -> Iterator[Parameter]:
    node = source.tree.returns
    given = inspect.signature(source.function).return_annotation
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        if any(p.role == "inout" for p in parameters):
            return
        raise source.error(
            source.tree,
            f'{source.tree.name} has no result: write `-> f32["N", "D"]`, which the body writes as out[i, j]',
        )
    value = _annotation(source, node, given)
    for name, kind in (value if isinstance(value, dict) else {"out": value}).items():
        if not isinstance(name, str) or not name.isidentifier():
            raise source.error(node, f"expected names of results, got {name!r}")
        if not isinstance(kind, TensorType):
            raise source.error(
                node, f'{name}: a result is a tensor, such as f32["N"], or f32[1] for one number; got {kind!r}'
            )
        yield Parameter(name, kind.dtype, _extents(source, node, kind), "result", _any_rank(kind))


def _annotation(source: Source, node: ast.expr, given: Any) -> Any:
    if isinstance(given, str):
        given = _evaluated(source, node, given)
    if isinstance(given, TensorType | Dtype):
        return given
    if isinstance(given, dict):
        return {name: _annotation(source, node, each) for name, each in given.items()}
    if given in _PLAIN:
        raise source.error(node, f"`{given.__name__}`: say which type the kernel computes with, {_PLAIN[given]}")
    raise source.error(
        node,
        f'expected a type such as f32["N", "D"], f32 or inout(f32["N"]), or a dict of named results; got {given!r}',
    )


class _Names(dict[str, Any]):
    """Names of an annotation that is text: those that mean nothing else are dims."""

    def __init__(self, source: Source) -> None:
        super().__init__(get_closure(source.function))
        self._outer = {**vars(builtins), **source.function.__globals__}

    def __missing__(self, name: str) -> Any:
        if name in self._outer:
            return self._outer[name]
        return name


def _evaluated(source: Source, node: ast.expr, text: str) -> Any:
    try:
        return eval(text, {"__builtins__": {}}, _Names(source))
    except Exception as error:
        raise source.error(node, f"the annotation isn't a type: {error}") from None


def _any_rank(kind: TensorType) -> bool:
    return bool(kind.dims) and isinstance(kind.dims[0], str) and kind.dims[0].strip().endswith("...")


def _extents(source: Source, node: ast.expr, kind: TensorType) -> tuple[ast.expr, ...]:
    return tuple(_extent(source, node, dim, first=index == 0) for index, dim in enumerate(kind.dims))


def _extent(source: Source, node: ast.expr, dim: Any, *, first: bool) -> ast.expr:
    if isinstance(dim, str):
        text = dim.strip()
        try:
            tree = ast.parse(text.removesuffix("...") if first else text, mode="eval").body
        except SyntaxError:
            raise source.error(node, f"{dim!r}: {_EXTENT}") from None
        if all(_is_extent(part) for part in ast.walk(tree)):
            return tree
    elif not isinstance(dim, bool):
        try:
            return ast.Constant(operator.index(dim))
        except TypeError:
            pass
    raise source.error(node, f"{dim!r}: {_EXTENT}")


def _is_extent(part: ast.AST) -> bool:
    if isinstance(part, ast.Constant):
        return type(part.value) is int
    if isinstance(part, ast.Call):
        return (
            isinstance(part.func, ast.Name)
            and part.func.id in ("min", "max")
            and len(part.args) == 2
            and not part.keywords
        )
    return isinstance(part, (ast.Name, ast.Load, ast.BinOp, *_BINARY))


def _spelled(dim: ast.expr, in_signature: bool) -> str:
    if isinstance(dim, ast.BinOp):
        in_header, signature, _ = _BINARY[type(dim.op)]
        text = signature if in_signature else in_header
        left, right = _spelled(dim.left, in_signature), _spelled(dim.right, in_signature)
        if "(" not in text:
            left, right = (
                f"({side})" if isinstance(part, ast.BinOp) else side
                for part, side in ((dim.left, left), (dim.right, right))
            )
        return text.format(left, right)
    if isinstance(dim, ast.Call):
        assert isinstance(dim.func, ast.Name)
        return f"{dim.func.id}({', '.join(_spelled(arg, in_signature) for arg in dim.args)})"
    return ast.unparse(dim)


def _scalar_word(p: Parameter) -> str:
    return "bool" if p.dtype.name == "bool" else "float" if p.dtype.is_float else "int"


def _names(p: Parameter) -> Iterator[str]:
    for dim in p.dims or ():
        for part in ast.walk(dim):
            if isinstance(part, ast.Name) and part.id not in ("min", "max"):
                yield part.id


def _check_names(source: Source, nodes: dict[str, ast.arg], parameters: list[Parameter]) -> None:
    scalars = {p.name for p in parameters if p.is_scalar and p.dtype.name[0] in "iu"}
    bound = {dim.id for p in parameters if p.role != "result" for dim in p.dims or () if isinstance(dim, ast.Name)}
    names: set[str] = set()
    for p in parameters:
        node: ast.AST | None = source.tree.returns if p.role == "result" else nodes[p.name]
        for fault in _faults(p, names, scalars, bound):
            raise source.error(node or source.tree, fault)
        names.add(p.name)


def _faults(p: Parameter, taken: set[str], scalars: set[str], bound: set[str]) -> Iterator[str]:
    if p.name in taken:
        yield f"`{p.name}` names a parameter and a result: give the result another name"
    if p.name != p.name.lower():
        yield f"`{p.name}`: parameters and results are in lower case; dims begin with a capital letter"
    for name in _names(p):
        if name in scalars:
            continue
        if not name[0].isupper():
            yield f'`{name}`: a dim begins with a capital letter, "{name.capitalize()}", or is an integer parameter'
        if name not in bound:
            yield (
                f"`{name}` has no value: a parameter has to have it as an extent by itself; "
                f'instead of "{name} // 2" in a parameter, call the half E, and write "2 * E" and "E"'
            )
