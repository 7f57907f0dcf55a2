"""import_triton(): kernels of Triton, compiled where it is installed. Nothing of it is needed where the module runs."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kernpack_compiler import ir
from kernpack_compiler._imports import _ptx, _triton_launcher
from kernpack_compiler._imports._arguments import parse_names
from kernpack_compiler._imports._code import Code
from kernpack_compiler._imports._configs import read_measured
from kernpack_compiler._imports._function import Binary, ImportedFunction, Launch, axes, check_flag, write

_WARP = 32
_ALIGNED = [["tt.divisibility", 16]]
_TYPES = {
    "f16": "fp16",
    "bf16": "bf16",
    "f32": "fp32",
    "f64": "fp64",
    "bool": "i1",
    "f8_e4m3fn": "fp8e4nv",
    "f8_e5m2": "fp8e5",
    **{f"{sign}{bits}": f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)},
}
# Options of a row, and their defaults: those of @triton.Config.
_OPTIONS = {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": None}
_CASTS = {"fp32": "f32", "fp64": "f64", "fp16": "f16", "bf16": "bf16", "i1": "bool_"}


@dataclass(frozen=True)
class Compiled:
    """A kernel for one architecture. scratch: bytes of memory for each program, by the metadata's names. maps: of the parameters
    that are tensor maps, what the metadata says of them."""

    binaries: list[Binary]
    scratch: dict[str, int]
    maps: dict[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Config:
    """One row of configs=."""

    when: object
    constants: dict[str, Any]
    options: dict[str, Any]


def import_triton(
    function: Any,
    contract: str,
    *,
    grid: object,
    constants: Mapping[str, Any] | None = None,
    configs: Sequence[Mapping[str, Any]] | os.PathLike[str] = (),
    args: Mapping[str, object] | None = None,
    types: Mapping[str, str] | None = None,
    archs: Sequence[int] = (80, 90),
    ptx: Sequence[int] | None = None,
    num_warps: int = 4,
    num_stages: int = 3,
    num_ctas: int = 1,
    cooperative: bool = False,
    descriptors: Mapping[str, Sequence[object]] | None = None,
    name: str | None = None,
    grad: str = "",
) -> ImportedFunction:
    """Compiles a function under @triton.jit, and makes a function of a module of it. Triton needs no GPU for that.

    contract: as of any function (docs/signature.md).
    grid: up to three extents, each a number or an expression of dims, scalars and constants: "cdiv(M, BM)".
    constants: values of the parameters that are tl.constexpr.
    configs: several ways to compile it, tried in this order at each call: {"when": "M <= 16", "constants": {"BM": 16},
        "num_warps": 4, "num_stages": 3}; num_ctas and maxnreg are taken too. Without "when" a row is always taken. Or the
        pathlib.Path of a file that `kernpack bench --json` wrote of config_cases(): for each condition its fastest row.
    args: what parameters get that aren't named as the contract's: {"n": "N", "stride": "N * 2"}. The number 1 is compiled
        in, as Triton does.
    types: Triton's types of scalars; by default an int is "i32", which the call checks, and a float "fp32".
    archs: compute capabilities to make machine code for. ptx: those to put PTX in for, which newer devices compile; by
        default the lowest.
    num_warps, num_stages, num_ctas: of rows that don't say it.
    cooperative: the device runs all blocks at the same time, so that they may wait for each other
        (launch_cooperative_grid).
    descriptors: of parameters that are tensor descriptors, the extents of a block: {"x": [1, "BLOCK"]}.
    name: the function's; by default the kernel's. grad: the function of the module that computes its gradient.

    Each row is compiled twice: for pointers and integers that are multiples of 16, and for any. ImportError without Triton;
    NotImplementedError, by name, for what a launch here doesn't do; ValueError where parameters and contract don't fit.
    """
    kernel = _jit_function(function)
    chosen = name or kernel.__name__
    parameters = list(inspect.signature(kernel.fn).parameters)
    # As Triton's launcher does: with a stride of 1 known, loads are wide.
    ones = {n: 1 for n, value in (args or {}).items() if type(value) is int and value == 1}
    options = {**_OPTIONS, "num_warps": num_warps, "num_stages": num_stages, "num_ctas": num_ctas}
    given_rows = read_measured(configs, chosen) if isinstance(configs, os.PathLike) else configs
    rows = _configs(given_rows, {**(constants or {}), **ones}, options, chosen)
    runtime = _runtime(chosen, parameters, rows)
    others = {n: value for n, value in (args or {}).items() if n not in ones}
    known = parse_names(chosen, contract)
    given = _arguments(chosen, known, runtime, others, parameters)
    code = sorted(set(archs))
    if not code:
        raise ValueError(f"{chosen}: archs: expected compute capabilities such as 80, got none")
    with_ptx = [code[0]] if ptx is None else sorted(set(ptx))
    wanted = sorted({*code, *with_ptx})
    check_flag(cooperative, chosen)
    launches = []
    for row in rows:
        ctas = row.options["num_ctas"]
        _triton_launcher.check_clusters(chosen, ctas, wanted)
        tensors = {n: known.get(value) for n, value in given.items() if isinstance(value, str)}
        blocks = _triton_launcher.block_shapes(chosen, descriptors or {}, tensors, row.constants)
        signature = _signature(chosen, known, given, dict(types or {}), blocks)
        made = [
            _compile(kernel, chosen, signature, blocks, row, cooperative, arch, aligned, arch in code, arch in with_ptx)
            for arch in wanted
            for aligned in (True, False)
        ]
        binaries: list[Binary] = []
        scratch = {what: max(one.scratch[what] for one in made) for what in made[0].scratch}
        extents = axes(grid, f"{chosen}: grid")
        if ctas > 1:
            extents[0] = f"({extents[0]}) * {ctas}"
        programs = " * ".join(f"({extent})" for extent in extents)
        for one in made:
            values = [v for n in runtime for v in _values(given[n], signature[n], blocks.get(n), one.maps.get(n))]
            counts = {len(binary.entry.parameters) for binary in one.binaries}
            values += _triton_launcher.extras(chosen, counts, len(values), scratch, programs)
            binaries += [replace(binary, args=values) for binary in one.binaries]
        numbers = {n: v for n, v in row.constants.items() if isinstance(v, (bool, int, float))}
        threads = row.options["num_warps"] * _WARP
        cluster = (ctas, 1, 1) if ctas > 1 else (0, 0, 0)
        launches.append(
            Launch(
                binaries, [], extents, [threads], cluster=cluster, cooperative=cooperative, when=row.when, names=numbers
            )
        )
    return write(chosen, contract, launches, grad)


def _runtime(function: str, parameters: Sequence[str], rows: Sequence[Config]) -> list[str]:
    """The parameters that aren't constants: the same for all rows."""
    for row in rows:
        unknown = [n for n in row.constants if n not in parameters]
        if unknown:
            raise ValueError(
                f"{function}: constants: the kernel has no parameter '{unknown[0]}': {', '.join(parameters)}"
            )
        if set(row.constants) != set(rows[0].constants):
            raise ValueError(
                f"{function}: configs: each row gives values to the same constants; one has {', '.join(row.constants)}, "
                f"the first {', '.join(rows[0].constants)}"
            )
    return [n for n in parameters if n not in rows[0].constants]


def _jit_function(function: Any) -> Any:
    try:
        import triton
    except ImportError as error:
        raise ImportError(
            f"import_triton needs Triton, which compiles the kernel: pip install triton ({error})"
        ) from error
    if isinstance(function, triton.JITFunction):
        return function
    inner = getattr(function, "fn", None)
    if isinstance(inner, triton.JITFunction) or hasattr(inner, "fn"):
        raise TypeError(
            f"import_triton: expected a function under @triton.jit, got {type(function).__name__}, which chooses its "
            "configuration at run time; pass its inner function (.fn), and the configurations as configs="
        )
    raise TypeError(f"import_triton: expected a function under @triton.jit, got {type(function).__name__}")


def _configs(
    given: Sequence[Mapping[str, Any]], constants: dict[str, Any], options: dict[str, Any], function: str
) -> list[Config]:
    rows = []
    for i, row in enumerate(given or [{}]):
        unknown = set(row) - {"when", "constants", *options}
        if unknown:
            raise ValueError(
                f"{function}: configs[{i}]: '{min(unknown)}' isn't supported; write when, constants, {', '.join(options)}"
            )
        chosen = {n: row.get(n, default) for n, default in options.items()}
        rows.append(Config(row.get("when", True), {**constants, **row.get("constants", {})}, chosen))
    always = [i for i, row in enumerate(rows) if row.when is True]
    if always and always[0] != len(rows) - 1:
        raise ValueError(f"{function}: configs[{always[0]}]: a row without 'when' is always taken; put it last")
    return rows


def _arguments(
    function: str,
    known: Mapping[str, Any],
    runtime: Sequence[str],
    args: dict[str, object],
    parameters: Sequence[str],
) -> dict[str, object]:
    """The expression for each parameter. ValueError for a parameter without one. known: the contract's names."""
    for n in args:
        if n not in runtime:
            raise ValueError(f"{function}: args: the kernel has no argument '{n}'; it has {', '.join(runtime)}")
    given = {n: args.get(n, n) for n in runtime}
    for n, value in given.items():
        if n not in args and n not in known:
            raise ValueError(
                f"{function}: the kernel's parameter '{n}' is neither a constant nor a name of the contract "
                f"({', '.join(known)}); pass constants={{'{n}': ...}} or args={{'{n}': 'N'}}"
            )
        if isinstance(value, str) and value in parameters and value not in known:
            raise ValueError(f"{function}: args: '{n}' gets '{value}', which the contract doesn't have")
    return given


def _signature(
    function: str,
    known: Mapping[str, Any],
    given: Mapping[str, object],
    types: Mapping[str, str],
    blocks: Mapping[str, Sequence[int]],
) -> dict[str, str]:
    """Triton's types of the arguments."""
    signature = {}
    for n, value in given.items():
        thing = known.get(value) if isinstance(value, str) else None
        if isinstance(thing, ir.Buffer) and n in blocks:
            signature[n] = f"tensordesc<{_TYPES[thing.dtype.name]}[{','.join(map(str, blocks[n]))}]>"
        elif isinstance(thing, ir.Buffer):
            signature[n] = "*" + _TYPES[thing.dtype.name]
        elif n in types:
            signature[n] = types[n]
        else:
            is_float = isinstance(value, float) or (isinstance(thing, ir.Expr) and thing.type.name == "f64")
            is_bool = isinstance(value, bool) or (isinstance(thing, ir.Expr) and thing.type.name == "bool")
            signature[n] = "fp32" if is_float else "i1" if is_bool else "i32"
    for n in types:
        if n not in given or signature[n].startswith(("*", "tensordesc")):
            raise ValueError(f"{function}: types: '{n}' isn't a number that the kernel gets")
        if types[n] not in _TYPES.values():
            raise ValueError(f"{function}: types: '{types[n]}' isn't a type; write one of {', '.join(_TYPES.values())}")
    return signature


def _values(
    value: object, kind: str, block: Sequence[int] | None, tensor_map: Mapping[str, Any] | None
) -> list[object]:
    """The arguments of the kernel's parameters that stand for one of Triton's."""
    if block is not None and tensor_map is not None:
        return _triton_launcher.mapped(str(value), len(block), tensor_map)
    if block is not None:
        return _triton_launcher.decomposed(str(value), len(block))
    # As text with its type, where the type of the parameter doesn't say it.
    return [f"{_CASTS[kind]}({value})" if kind in ("fp16", "bf16") else value]


def _multiples(
    aligned: Sequence[str],
    signature: Mapping[str, str],
    blocks: Mapping[str, Sequence[int]],
    maps: Mapping[str, Mapping[str, Any]],
) -> int:
    """A bit for each of the kernel's parameters. A descriptor is several."""
    multiples = 0
    at = 0
    for n in signature:
        multiples |= 1 << at if n in aligned else 0
        at += len(_values(n, signature[n], blocks.get(n), maps.get(n)))
    return multiples


def _compile(
    kernel: Any,
    function: str,
    signature: Mapping[str, str],
    blocks: Mapping[str, Sequence[int]],
    row: Config,
    cooperative: bool,
    arch: int,
    aligned: bool,
    with_cubin: bool,
    with_ptx: bool,
) -> Compiled:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = list(inspect.signature(kernel.fn).parameters)
    runtime = [n for n in names if n in signature]
    numbers = ("i32", "i64", "u32", "u64")
    may_align = [n for n in runtime if signature[n].startswith("*") or signature[n] in numbers] if aligned else []
    source = ASTSource(
        kernel,
        {n: signature.get(n, "constexpr") for n in names},
        constexprs=row.constants,
        attrs={(i,): _ALIGNED for i, n in enumerate(names) if n in may_align},
    )
    options = {what: value for what, value in row.options.items() if value is not None}
    options["launch_cooperative_grid"] = cooperative
    made = triton.compile(source, target=GPUTarget("cuda", arch, _WARP), options=options)
    _triton_launcher.refuse(function, arch, made.metadata)
    text = made.asm["ptx"]
    target, entries = _ptx.read(text.encode(), f"{function}: PTX of Triton")
    entry = entries[made.metadata.name]
    maps = _triton_launcher.tensor_maps(function, arch, made.metadata, [n for n in runtime if n in blocks])
    multiples = _multiples(may_align, {n: signature[n] for n in runtime}, blocks, maps)
    codes = []
    if with_cubin:
        codes.append(Code(bytes(made.asm["cubin"]), "cubin", f"cuda -arch={target}", entries))
    if with_ptx:
        codes.append(Code(text.encode(), "ptx", f"cuda -arch={target.replace('sm_', 'compute_')}", entries))
    binaries = [Binary(code, entry, multiples, made.metadata.shared) for code in codes]
    return Compiled(binaries, _triton_launcher.scratch_bytes(made.metadata), maps)
