"""import_tilelang(): kernels of TileLang, which makes CUDA C++ of them without a GPU. Nothing of it is needed where the module runs."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from kernpack_compiler import ir
from kernpack_compiler._imports import _code, _tilelang_maps
from kernpack_compiler._imports._arguments import parse_names
from kernpack_compiler._imports._code import Code
from kernpack_compiler._imports._compile_cuda import compile_cuda, header_folders
from kernpack_compiler._imports._entry import find
from kernpack_compiler._imports._function import Binary, ImportedFunction, Launch, write

_WHO = "import_tilelang"
_FIRST_SPECIFIC = 90  # has instructions, wgmma's for one, that code has for this architecture alone
# TileLang's launcher serves these, launches here don't: the attribute of the kernel, and its name for errors.
_REFUSED = {
    "has_cuda_pdl_sync": "programmatic dependent launch",
}
_COOPERATIVE = "use_cooperative_groups"
_MAPS = "tma_descriptor_args"
_DTYPES = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "float8_e4m3fn": "f8_e4m3fn",
    "float8_e5m2": "f8_e5m2",
    "bool": "bool",
    **{f"{kind}int{bits}": f"{sign}{bits}" for kind, sign in (("", "i"), ("u", "u")) for bits in (8, 16, 32, 64)},
}


@dataclass(frozen=True)
class Lowered:
    """A kernel as TileLang describes it for one architecture. parameters, grid and shared: in TileLang's names."""

    source: str
    entry: str
    parameters: tuple[str, ...]
    grid: tuple[str, ...]
    block: tuple[int, ...]
    shared: str
    cluster: tuple[int, int, int]
    cooperative: bool
    maps: dict[str, tuple[Any, ...]]  # of parameters that are tensor maps (TMA): how TileLang's host half makes them

    def launch(self) -> tuple[object, ...]:
        return self.parameters, self.grid, self.block, self.shared, self.cluster, self.cooperative, repr(self.maps)


def import_tilelang(
    function: Any,
    contract: str,
    *,
    args: Mapping[str, object] | None = None,
    archs: Sequence[int] = (80,),
    ptx: Sequence[int] | None = None,
    pass_configs: Mapping[str, object] | None = None,
    name: str | None = None,
    grad: str = "",
) -> ImportedFunction:
    """Makes a function of a module of a function under @T.prim_func with one T.Kernel. TileLang makes CUDA C++ of it, and NVRTC
    compiles that with TileLang's headers; neither needs a GPU. Grid, block and shared memory are TileLang's.

    contract: as of any function (docs/signature.md).
    args: what parameters and symbolic extents get that aren't named as the contract's: {"A": "a", "M": "N * 2"}.
    archs: compute capabilities to make machine code for. ptx: those to put PTX in for, which newer devices compile; by default
        the lowest.
    pass_configs: of TileLang's passes: {"tl.enable_fast_math": True}.
    name: the function's; by default the kernel's. grad: the function of the module that computes its gradient.

    ImportError without TileLang, NVRTC or NVIDIA's headers; NotImplementedError, by name, for what a launch here doesn't do;
    ValueError where parameters and contract don't fit.
    """
    tilelang = _tilelang()
    _check_function(function, tilelang)
    chosen = name or str(function.attrs["global_symbol"])
    code = sorted(set(archs))
    if not code:
        raise ValueError(f"{chosen}: archs: expected compute capabilities such as 80, got none")
    with_ptx = [code[0]] if ptx is None else sorted(set(ptx))
    lowered = {a: _lower(tilelang, function, a, pass_configs or {}, chosen) for a in sorted({*code, *with_ptx})}
    first = next(iter(lowered.values()))
    for arch, one in lowered.items():
        if one.launch() != first.launch():
            raise NotImplementedError(
                f"{chosen}: for sm_{arch} TileLang launches the kernel otherwise than for sm_{next(iter(lowered))}; import "
                "it for one of them"
            )
    named = {
        arch: f"{arch}a" if arch >= _FIRST_SPECIFIC and "wgmma" in one.source else str(arch)
        for arch, one in lowered.items()
    }
    images = [_image(tilelang, lowered[arch], f"sm_{named[arch]}", chosen) for arch in code]
    images += [_image(tilelang, lowered[arch], f"compute_{named[arch]}", chosen) for arch in with_ptx]
    binaries = [Binary(image, find(dict(image.entries), first.entry, chosen)) for image in images]
    known = parse_names(chosen, contract)
    maps = {name: _tilelang_maps.read(name, words, function, tilelang, chosen) for name, words in first.maps.items()}
    plain = [name for name in first.parameters if name not in maps]
    mapped = [made.tensor for made in maps.values() if made.tensor not in plain]
    given = _arguments(chosen, known, [*plain, *dict.fromkeys(mapped)], dict(args or {}))
    launch = Launch(
        binaries,
        [maps[n].written(given[maps[n].tensor]) if n in maps else given[n] for n in first.parameters],
        [_renamed(extent, given) for extent in first.grid],
        first.block,
        _renamed(first.shared, given),
        first.cluster,
        first.cooperative,
        equal=_extents(tilelang, function, chosen, known, given),
    )
    return write(chosen, contract, [launch], grad)


def _tilelang() -> ModuleType:
    try:
        import tilelang
    except ImportError as error:
        raise ImportError(
            f"{_WHO} needs TileLang, which compiles the kernel: pip install tilelang ({error})"
        ) from error
    return tilelang


def _check_function(function: Any, tilelang: ModuleType) -> None:
    if not isinstance(function, tilelang.tvm.tirx.PrimFunc):
        raise TypeError(
            f"{_WHO}: expected a function under @T.prim_func, got {type(function).__name__}; of what @tilelang.jit makes, pass "
            "the function that it compiles (.prim_func, or .get_tir(...))"
        )


@contextlib.contextmanager
def _within(target: Any, configs: Mapping[str, object], tilelang: ModuleType) -> Iterator[None]:
    with target, tilelang.tvm.transform.PassContext(opt_level=3, config=dict(configs)):
        yield


def _lower(tilelang: ModuleType, function: Any, arch: int, configs: Mapping[str, object], chosen: str) -> Lowered:
    target = tilelang.tvm.target.Target({"kind": "cuda", "arch": f"sm_{arch}"})
    with _within(target, configs, tilelang):
        made = tilelang.lower(function, target=target)
    kernels = list(made.device_mod.functions.items())
    if len(kernels) != 1:
        raise NotImplementedError(f"{chosen}: expected a function with one T.Kernel, got {len(kernels)}")
    [(symbol, kernel)] = kernels
    attributes = {key: kernel.attrs[key] for key in kernel.attrs.keys()}  # noqa: SIM118 (not a dict)
    for host in made.host_mod.functions.values():
        attributes |= {key: host.attrs[key] for key in host.attrs.keys() if key in (*_REFUSED, _COOPERATIVE, _MAPS)}  # noqa: SIM118
    for what, said in _REFUSED.items():
        if attributes.get(what):
            raise NotImplementedError(f"{chosen}: for sm_{arch} TileLang's code needs {said}, which isn't supported")
    extents = {axis: str(extent) for axis, extent in attributes["thread_extent"].items()}
    cluster = [int(extent) for extent in attributes.get("cluster_dims") or ()]
    x, y, z = (*cluster, 1, 1)[:3] if cluster else (0, 0, 0)
    return Lowered(
        str(made.kernel_source),
        str(symbol.name_hint),
        tuple(str(parameter.name) for parameter in kernel.params),
        tuple(extents.get(f"blockIdx.{axis}", "1") for axis in "xyz"),
        tuple(int(extents.get(f"threadIdx.{axis}", "1")) for axis in "xyz"),
        str(attributes.get("dyn_shared_memory_buf", 0)),
        (x, y, z),
        bool(attributes.get(_COOPERATIVE)),
        {str(name): tuple(words) for name, words in dict(attributes.get(_MAPS) or {}).items()},
    )


def _image(tilelang: ModuleType, lowered: Lowered, arch: str, chosen: str) -> Code:
    """The kernel, compiled as TileLang's own NVRTC back end does."""
    from tilelang import env

    folders = [Path(env.TILELANG_TEMPLATE_PATH), Path(env.CUTLASS_INCLUDE_DIR), *header_folders(_WHO)]
    options = ["-default-device", "-std=c++20", "-w", *(f"-I{folder}" for folder in folders)]
    source = f"#include <tl_templates/cuda/nvrtc_std.h>\n{lowered.source}"
    [image] = _code.read({arch: compile_cuda(source, arch, options, chosen)}, chosen)
    return image


def _arguments(
    function: str, known: Mapping[str, Any], parameters: Sequence[str], args: dict[str, object]
) -> dict[str, object]:
    """The expression for each parameter of the kernel."""
    for n in args:
        if n not in parameters:
            raise ValueError(f"{function}: args: the kernel has no parameter '{n}'; it has {', '.join(parameters)}")
    for n in parameters:
        if n not in args and n not in known:
            raise ValueError(
                f"{function}: the kernel's parameter '{n}' isn't a name of the contract ({', '.join(known)}); pass "
                f"args={{'{n}': ...}}"
            )
    return {n: args.get(n, n) for n in parameters}


def _is_contiguous(buffer: Any, tilelang: ModuleType) -> bool:
    equal = tilelang.tvm.arith.Analyzer().can_prove_equal
    expected: Any = 1
    for extent, stride in zip(reversed(buffer.shape), reversed(buffer.strides), strict=False):
        if not equal(stride, expected):
            return False
        expected = extent * expected
    return True


def _extents(
    tilelang: ModuleType, function: Any, chosen: str, known: Mapping[str, Any], given: Mapping[str, object]
) -> list[tuple[object, object, str]]:
    """That tensors of the contract are as TileLang's: compared here, and extents by the calls that know them."""
    equal: list[tuple[object, object, str]] = []
    for buffer in function.buffer_map.values():
        name = given.get(str(buffer.name))
        tensor = known.get(name) if isinstance(name, str) else None
        if not isinstance(tensor, ir.Buffer):
            continue  # the kernel doesn't use it, or it isn't given a tensor, which its parameter's type refuses
        wanted = _DTYPES.get(str(buffer.dtype), str(buffer.dtype))
        strided = "" if _is_contiguous(buffer, tilelang) else ", with strides of its own"
        if wanted != tensor.dtype.name or len(buffer.shape) != tensor.ndim or strided:
            shape = ", ".join(map(str, buffer.shape))
            raise ValueError(
                f"{chosen}: '{name}': TileLang has {wanted}[{shape}]{strided}, and the contract a contiguous "
                f"{tensor.dtype.name} tensor of {tensor.ndim} dims"
            )
        for d, extent in enumerate(buffer.shape):
            theirs = _renamed(str(extent), given)
            if theirs != str(tensor.shape[d]):
                equal.append((f"{name}.shape[{d}]", theirs, f"{name}: dim {d}"))
    return equal


def _renamed(extent: str, given: Mapping[str, object]) -> str:
    """An extent in the contract's names."""

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return ast.parse(f"({given.get(node.id, node.id)})", mode="eval").body

    return ast.unparse(Rename().visit(ast.parse(extent, mode="eval")))
