"""import_kernel(): one kernel of another compiler becomes a function with a contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kernpack_compiler import _native, ir
from kernpack_compiler._imports import _code, _expression
from kernpack_compiler._imports._arguments import Arguments, parse_names
from kernpack_compiler._imports._code import Code, Given
from kernpack_compiler._imports._entry import Entry, find
from kernpack_compiler._imports._tensor_map import MapOf, Parameter, parameter_of
from kernpack_compiler._native.ir import PrimFunc, Tracer

_MOST_THREADS = 1024  # of a block, on every device


@dataclass(frozen=True)
class Binary:
    """A kernel of an image. multiples: bit i: parameter i takes multiples of 16 alone. shared: bytes besides the launch's.

    A launch fills in parameters and cooperative.
    """

    code: Code
    entry: Entry
    multiples: int = 0
    shared: int = 0
    args: Sequence[object] | None = None  # None: the launch's
    parameters: tuple[Parameter, ...] = ()  # () : the arguments of the function that stands for it, in order
    cooperative: bool = False


@dataclass(frozen=True)
class Launch:
    """One way to run a function. when: the condition under which it is taken; True: always."""

    binaries: Sequence[Binary]
    args: Sequence[object]
    grid: Sequence[object]
    block: Sequence[object]
    shared: object = 0
    cluster: tuple[int, int, int] = (0, 0, 0)
    cooperative: bool = False
    when: object = True
    names: Mapping[str, object] = field(default_factory=dict)  # besides those of the contract
    # Pairs of expressions that have to be equal, with the beginning of the error.
    equal: Sequence[tuple[object, object, str]] = ()


@dataclass(frozen=True)
class ImportedFunction:
    """A function that launches kernels of another compiler. build_imported() and export_wheel() make modules of such."""

    name: str
    contract: str
    functions: tuple[PrimFunc, ...]  # itself, and what stands for each of its kernels
    kernels: tuple[tuple[str, Binary, tuple[int, int, int]], ...]  # which of the functions, and what is behind it

    @property
    def targets(self) -> list[str]:
        """The targets that it has code for."""
        return list(dict.fromkeys(binary.code.target for _, binary, _ in self.kernels))

    def __repr__(self) -> str:
        return f"<ImportedFunction {self.name} for {', '.join(self.targets)}>"


def import_kernel(
    code: Given,
    contract: str,
    *,
    grid: object,
    block: object,
    args: Sequence[object] | None = None,
    entry: str | None = None,
    name: str | None = None,
    shared: object = 0,
    cluster: Sequence[int] = (),
    cooperative: bool = False,
    grad: str = "",
) -> ImportedFunction:
    """Makes a function of a kernel that another compiler made.

    code: PTX (its text, or bytes), a cubin or a fatbin (bytes), or a pathlib.Path of one; a list of several, for one
        architecture each, or {"sm_90a": cubin, "compute_80": ptx}. A device takes the one that fits best; PTX serves newer
        devices too.
    contract: "(x: f32[R, N], eps: float = 1e-5) -> (y: f32[R, N])", as of any function (docs/signature.md).
    grid, block: up to three extents, each a number or an expression of the contract's dims and scalars: "ceildiv(N, 256)".
    args: the kernel's arguments, in its order: names of tensors, and expressions; "workspace(4 * R)" is memory of so many
        bytes for the call, None a null pointer, "tensor_map(x, [64, 32], swizzle=128)" the CUtensorMap of a tensor, with
        the extents of a block, for kernels that copy by TMA. By default the contract's parameters and results in order, then its dims.
    entry: the kernel's name in the code; needed where there are several.
    name: the function's; by default the kernel's.
    shared: bytes of dynamic shared memory, a number or an expression.
    cluster: blocks of a cluster, for kernels that are compiled to be told.
    cooperative: the blocks wait for each other (grid.sync()), so that the device runs all of them at the same time.
    grad: the function of the module that computes its gradient.

    An int becomes what the kernel's parameter is, and the call checks that it fits. ValueError where code and contract
    don't fit each other, naming the parameter.
    """
    who = "import_kernel"
    images = _code.read(code, who)
    if entry is None:
        entry = _only_entry(images[0], who)
    binaries = [Binary(image, find(dict(image.entries), entry, who)) for image in images]
    chosen = name or entry
    if not chosen.isidentifier():
        raise ValueError(f"{who}: '{chosen}' isn't a valid function name; pass name=")
    launch = Launch(
        binaries, _default_args(chosen, contract) if args is None else args, axes(grid, f"{chosen}: grid"),
        axes(block, f"{chosen}: block"), shared, _parse_cluster(cluster, chosen), check_flag(cooperative, chosen),
    )  # fmt: skip
    return write(chosen, contract, [launch], grad)


def _only_entry(image: Code, who: str) -> str:
    if len(image.entries) != 1:
        there = ", ".join(sorted(image.entries)) or "none"
        raise ValueError(f"{who}: expected code with one kernel, or entry=, got code with these kernels: {there}")
    return next(iter(image.entries))


def axes(given: object, where: str) -> list[object]:
    """One to three extents."""
    extents = list(given) if isinstance(given, (list, tuple)) else [given]
    if not 1 <= len(extents) <= 3:
        raise ValueError(f"{where}: expected 1 to 3 extents, got {len(extents)}")
    return extents


def check_flag(cooperative: object, function: str) -> bool:
    if not isinstance(cooperative, bool):
        raise TypeError(f"{function}: cooperative: expected True or False, got {cooperative!r}")
    return cooperative


def _parse_cluster(given: Sequence[int], function: str) -> tuple[int, int, int]:
    extents = [*given]
    if not extents:
        return 0, 0, 0
    if len(extents) > 3 or not all(type(e) is int and 1 <= e <= 16 for e in extents):
        raise ValueError(f"{function}: cluster: expected 1 to 3 numbers from 1 to 16, got {tuple(given)}")
    x, y, z = [*extents, 1, 1][:3]
    return x, y, z


def _default_args(function: str, contract: str) -> list[str]:
    """Tensors and scalars in the contract's order, then dims."""
    known = parse_names(function, contract)
    dims = [n for n, v in known.items() if not isinstance(v, ir.Buffer) and n[:1].isupper()]
    return [n for n in known if n not in dims] + dims


def write(name: str, contract: str, launches: Sequence[Launch], grad: str = "") -> ImportedFunction:
    """The function in the IR: checks on the host, and launches."""
    header = _native.header_of_contract(name, contract)
    tracer = Tracer(name, header)
    tracer.set(False, "", contract, grad)
    known = dict(tracer.arguments)
    written = [known[n] for n, role, _, shape in _params(name, header) if role != "input" and shape is not None]
    if not written:
        raise ValueError(f"{name}: the contract writes nothing: a kernel writes results, or parameters marked '!'")
    kernels: list[tuple[str, Binary, tuple[int, int, int]]] = []
    stands: list[PrimFunc] = []
    tracer.begin()
    try:
        with ir.when(_any_elements(written)):  # where there is nothing to write, nothing is launched
            for i, launch in enumerate(launches):
                kernel = f"{name}_launch_{i}"
                writer = _Writer(name, kernel, launch, known, written)
                stands.append(writer.write())
                kernels += [(kernel, binary, launch.cluster) for binary in writer.binaries]
            if launches[-1].when is not True:
                ir.check(ir.bool_(False), f"{name}: none of its configurations is for these sizes")
    except BaseException:
        tracer.abandon()
        raise
    return ImportedFunction(name, contract, (tracer.end(), *stands), tuple(kernels))


def _params(name: str, header: str) -> list[Any]:
    return PrimFunc.parse(f"func {name}{header} {{}}").params


def _any_elements(buffers: Sequence[Any]) -> Any:
    result: Any = None
    for buffer in buffers:
        elements: Any = ir.i64(1)
        for extent in buffer.shape:
            elements = elements * ir.i64(extent)
        result = elements > 0 if result is None else result | (elements > 0)
    return result


class _Writer:
    """Writes one launch, with what is checked before it."""

    def __init__(
        self, function: str, kernel: str, launch: Launch, known: dict[str, Any], written: Sequence[Any]
    ) -> None:
        self.function = function
        self.kernel = kernel
        self.launch = launch
        self.known = {**known, **launch.names}
        self.written = written
        self.binaries: list[Binary] = []  # with their parameters, once it is written

    def write(self) -> PrimFunc:
        when = self.evaluated(self.launch.when, "when")
        if isinstance(when, (bool, int)):
            if not when:
                raise ValueError(
                    f"{self.function}: when: '{self.launch.when}' never holds; leave the configuration out"
                )
            return self.body()
        with ir.when(when):
            made = self.body()
            ir.return_()
        return made

    def check_equal(self, given: object, wanted: object, said: str) -> None:
        a, b = self.evaluated(given, said), self.evaluated(wanted, said)
        if isinstance(a, ir.Expr) or isinstance(b, ir.Expr):
            known = not isinstance(b, ir.Expr)
            text = f"{self.function}: {said}: expected {b if known else f'{{}} ({wanted})'}, got {{}}"
            ir.check(a == b, text, "ValueError", [a] if known else [b, a])
        elif a != b:
            raise ValueError(f"{self.function}: {said}: expected {b}, got {a}")

    def body(self) -> PrimFunc:
        for pair in self.launch.equal:
            self.check_equal(*pair)
        grid = self.extents("grid", self.launch.grid)
        block = self.extents("block", self.launch.block)
        self.check_block(block)
        shared = self.evaluated(self.launch.shared, "shared")
        if isinstance(shared, ir.Expr):
            ir.check(
                (shared >= 0) & (shared < 2**31),
                f"{self.function}: shared: expected at least 0 and less than 2^31 bytes, got {{}}",
                "ValueError",
                [shared],
            )
        elif type(shared) is not int or not 0 <= shared < 2**31:
            raise ValueError(f"{self.function}: shared: expected a number of bytes from 0 to 2^31 - 1, got {shared!r}")
        arguments = Arguments(self.function, self.known, self.written)
        given = self.arguments(arguments)
        with ir.launch(grid, block, shared=shared):
            ir.call(self.kernel, *given)
        return arguments.declare(self.kernel, given)

    def arguments(self, arguments: Arguments) -> list[Any]:
        """Returns the arguments of the function that stands for the kernels. Fills binaries."""
        groups: dict[str, list[Binary]] = {}
        for binary in self.launch.binaries:
            groups.setdefault(repr(self.launch.args if binary.args is None else binary.args), []).append(binary)
        given: list[Any] = []
        rows: dict[str, tuple[Parameter, ...]] = {}
        for key, binaries in groups.items():
            args = self.launch.args if binaries[0].args is None else binaries[0].args
            values = arguments.checked(args, [binary.entry for binary in binaries])
            rows[key] = tuple(parameter_of(value, given) for value in values)
            if len(groups) == 1 and not any(isinstance(value, MapOf) for value in values):
                rows[key] = ()  # in order
        for binary in self.launch.binaries:
            key = repr(self.launch.args if binary.args is None else binary.args)
            made = replace(binary, parameters=rows[key], cooperative=self.launch.cooperative)
            self.binaries.append(made)
        return given

    def evaluated(self, given: object, what: str) -> Any:
        return _expression.evaluate(given, self.known, f"{self.function}: {what}")

    def extents(self, what: str, given: Sequence[object]) -> tuple[Any, ...]:
        made = []
        for axis, one in zip("xyz", given, strict=False):
            extent = self.evaluated(one, f"{what}.{axis}")
            if isinstance(extent, ir.Expr):
                extent = ir.let(ir.i64(extent), f"{what}_{axis}")
                ir.check(
                    extent > 0,
                    f"{self.function}: {what}.{axis}: expected at least 1, got {{}} ({one})",
                    "ValueError",
                    [extent],
                )
            elif type(extent) is not int or not 1 <= extent < 2**31:
                raise ValueError(
                    f"{self.function}: {what}.{axis}: expected a whole number from 1 to 2^31 - 1, got {extent!r}"
                )
            made.append(extent)
        return tuple(made)

    def check_block(self, block: Sequence[Any]) -> None:
        """Refuses a number of threads that the kernels aren't compiled for."""
        if any(isinstance(extent, ir.Expr) for extent in block):
            return
        x, y, z = (*block, 1, 1)[:3]
        for entry in (binary.entry for binary in self.launch.binaries):
            most = min(entry.most_threads or _MOST_THREADS, _MOST_THREADS)
            if entry.threads is not None and entry.threads != (x, y, z):
                raise ValueError(
                    f"{self.function}: block: expected {entry.threads}, for which kernel '{entry.name}' is compiled, "
                    f"got {(x, y, z)}"
                )
            if x * y * z > most:
                raise ValueError(
                    f"{self.function}: block: expected at most {most} threads, for which kernel '{entry.name}' is "
                    f"compiled, got {x * y * z}: {(x, y, z)}"
                )
            if entry.needs_cluster and self.launch.cluster == (0, 0, 0):
                raise ValueError(
                    f"{self.function}: cluster: kernel '{entry.name}' is compiled to be told the size of its clusters; "
                    "pass cluster=(2, 1, 1)"
                )
