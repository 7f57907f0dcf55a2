"""import_tilelang(): what it asks for and refuses. scripts/emulator-tilelang makes and runs a kernel with TileLang itself."""

from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
import kernpack_compiler as kc
from kernpack_compiler import _nvrtc
from kernpack_compiler._imports import _code, _compile_cuda, _tilelang, _tilelang_maps
from kernpack_compiler._imports._arguments import parse_names
from kernpack_compiler._imports._function import Binary, Launch, write

if "llvm" not in kc.list_generators():
    pytest.skip("LLVM makes the functions that launch imported kernels", allow_module_level=True)

needs_nvrtc = pytest.mark.skipif(not _nvrtc.find(), reason="no NVRTC: pip install nvidia-cuda-nvrtc")


def test_without_tilelang_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tilelang", None)
    with pytest.raises(
        ImportError, match="import_tilelang needs TileLang, which compiles the kernel: pip install tile"
    ):
        kc.import_tilelang(print, "(x: f32[N]) -> (y: f32[N])")


class Attributes(dict):  # type: ignore[type-arg]
    """As TVM's, which can't be iterated."""

    __iter__ = None  # type: ignore[assignment]


def fake(kernels: int = 1, device: dict[str, Any] | None = None, host: dict[str, Any] | None = None) -> Any:
    """The part of TileLang that is used, with a kernel of these attributes."""
    extents = {"blockIdx.x": "(M + 63) // 64", "blockIdx.y": "2", "threadIdx.x": "128"}
    of_kernel = Attributes({"thread_extent": extents, "dyn_shared_memory_buf": "16384", **(device or {})})
    kernel = SimpleNamespace(attrs=of_kernel, params=[SimpleNamespace(name=n) for n in ("A", "M")])
    functions = SimpleNamespace(items=lambda: [(SimpleNamespace(name_hint=f"k{i}"), kernel) for i in range(kernels)])
    with_host = SimpleNamespace(attrs=Attributes(host or {}))
    made = SimpleNamespace(
        device_mod=SimpleNamespace(functions=functions),
        host_mod=SimpleNamespace(functions={"main": with_host}),
        kernel_source="source",
    )
    nothing = contextlib.nullcontext
    return SimpleNamespace(
        lower=lambda function, target: made,
        tvm=SimpleNamespace(
            tirx=SimpleNamespace(PrimFunc=int),
            target=SimpleNamespace(Target=lambda words: nothing()),
            transform=SimpleNamespace(PassContext=lambda **options: nothing()),
        ),
    )


def test_the_launch_is_tilelangs() -> None:
    lowered = _tilelang._lower(fake(device={"cluster_dims": [2, 1]}), 1, 80, {}, "f")
    assert lowered.launch() == (("A", "M"), ("(M + 63) // 64", "2", "1"), (128, 1, 1), "16384", (2, 1, 1), False, "{}")
    assert (lowered.source, lowered.entry) == ("source", "k0")
    assert _tilelang._lower(fake(), 1, 80, {}, "f").cluster == (0, 0, 0)
    for where in ("device", "host"):
        assert _tilelang._lower(fake(**{where: {"use_cooperative_groups": True}}), 1, 80, {}, "f").cooperative


@pytest.mark.parametrize(
    ("tilelang", "said"),
    [
        (fake(kernels=2), "f: expected a function with one T.Kernel, got 2"),
        (fake(kernels=0), "f: expected a function with one T.Kernel, got 0"),
        (
            fake(device={"has_cuda_pdl_sync": 1}),
            "for sm_90 TileLang's code needs programmatic dependent launch, which isn't supported",
        ),
    ],
)
def test_launches_of_another_kind_are_refused_by_name(tilelang: Any, said: str) -> None:
    with pytest.raises(NotImplementedError, match=re.escape(said)):
        _tilelang._lower(tilelang, 1, 90, {}, "f")


TILED = ("__tvm_tensormap_create_tiled", "A_desc", 6, 2, "A", 128, "M", 2, 256, 32, 64, 1, 1, 0, 2, 3, 1)


def read_map(words: tuple[object, ...]) -> _tilelang_maps.TileLangMap:
    buffer = SimpleNamespace(name="A", data=SimpleNamespace(name="A"), shape=["M", 128], dtype="float16")
    analyzer = SimpleNamespace(can_prove_equal=lambda a, b: a == b)
    tvm = SimpleNamespace(arith=SimpleNamespace(Analyzer=lambda: analyzer), DataType=lambda _: SimpleNamespace(bits=16))
    function = SimpleNamespace(buffer_map={"A_handle": buffer})
    return _tilelang_maps.read("A_desc", words, function, SimpleNamespace(tvm=tvm), "f")


def test_tensor_maps_are_tilelangs() -> None:
    lowered = _tilelang._lower(fake(host={"tma_descriptor_args": {"A_desc": TILED}}), 1, 90, {}, "f")
    assert lowered.maps == {"A_desc": TILED}
    made = read_map(TILED)
    assert (made.tensor, made.written("a")) == (
        "A",
        "tensor_map(a, [64, 32], swizzle=64, l2=256, element=6, fill_nan=1)",
    )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({0: "__tvm_tensormap_create_im2col"}, "that __tvm_tensormap_create_im2col makes, which isn't supported"),
        ({4: "W"}, "needs a tensor map 'A_desc' of 'W', which isn't a parameter"),
        ({5: 64}, "needs a tensor map 'A_desc' of a part of 'A'"),
        ({8: 512}, "needs a tensor map 'A_desc' of a part of 'A'"),
        ({11: 2}, "with interleaving, steps or such swizzling"),
        ({13: 1}, "with interleaving, steps or such swizzling"),
        ({14: 4}, "with interleaving, steps or such swizzling"),
    ],
)
def test_tensor_maps_of_another_kind_are_refused_by_name(changed: dict[int, object], said: str) -> None:
    words = tuple(changed.get(i, word) for i, word in enumerate(TILED))
    with pytest.raises(NotImplementedError, match=re.escape(said)):
        read_map(words)


def test_only_functions_of_tilelang_are_taken() -> None:
    with pytest.raises(
        TypeError, match=r"expected a function under @T.prim_func, got str; of what @tilelang.jit makes"
    ):
        _tilelang._check_function("f", fake())


def test_extents_are_in_the_contracts_names() -> None:
    assert _tilelang._renamed("(M + 63) // 64", {"M": "N * 2"}) == "(N * 2 + 63) // 64"
    assert _tilelang._renamed("16384", {"M": 3}) == "16384"


def test_parameters_without_an_argument_are_named() -> None:
    known = parse_names("f", "(a: f16[M, 64]) -> (c: f16[M, 64])")
    assert _tilelang._arguments("f", known, ["A", "M", "c"], {"A": "a"}) == {"A": "a", "M": "M", "c": "c"}
    with pytest.raises(
        ValueError, match=re.escape("the kernel's parameter 'A' isn't a name of the contract (M, a, c); pass")
    ):
        _tilelang._arguments("f", known, ["A", "M"], {})
    with pytest.raises(ValueError, match="args: the kernel has no parameter 'B'; it has A, M"):
        _tilelang._arguments("f", known, ["A", "M"], {"A": "a", "B": "a"})


def _with_equal(contract: str, *equal: tuple[object, object, str]) -> Any:
    [image] = _code.read(Path(__file__).with_name("rows.ptx"), "test")
    binary = Binary(image, image.entries["normalise"])
    return write("f", contract, [Launch([binary], ["x", "y", 1, 1.0], ["R"], [32], equal=equal)])


def test_extents_that_the_kernel_is_compiled_for_are_compared_at_import_and_at_calls() -> None:
    contract = "(x: f32[R, 4], z: f32[N]) -> (y: f32[R, 4])"
    with pytest.raises(ValueError, match="f: x: dim 1: expected 8, got 4"):
        _with_equal(contract, ("x.shape[1]", "8", "x: dim 1"))
    function = _with_equal(
        contract, ("x.shape[1]", "4", "x"), ("z.shape[0]", "16", "z: dim 0"), ("z.shape[0]", "R * 2", "z: dim 0")
    )
    source = kc.build_imported(function).source
    assert 'ValueError "f: z: dim 0: expected 16, got {}", i64(N)' in source
    assert 'ValueError "f: z: dim 0: expected {} (R * 2), got {}", (R * 2), i64(N)' in source.replace(
        "R * 2, i64", "(R * 2), i64"
    )
    assert source.count("z: dim 0") == 2


@needs_nvrtc
def test_cuda_becomes_ptx_and_a_cubin() -> None:
    source = 'extern "C" __global__ void k(const float* x, int n) {}'
    for arch, target in (("compute_80", "cuda -arch=compute_80"), ("sm_90", "cuda -arch=sm_90")):
        [image] = _code.read(_compile_cuda.compile_cuda(source, arch, ["-w"], "test"), "test")
        assert (image.target, [p.size for p in image.entries["k"].parameters]) == (target, [8, 4])


@needs_nvrtc
def test_what_nvrtc_says_of_the_source_is_in_the_error() -> None:
    with pytest.raises(
        RuntimeError, match=r'test: NVRTC doesn\'t compile the source for sm_80: .*identifier "missing"'
    ):
        _compile_cuda.compile_cuda('extern "C" __global__ void k() { missing(); }', "sm_80", [], "test")


def test_headers_and_nvrtc_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_compile_cuda.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    with pytest.raises(ImportError, match=r"f needs NVIDIA's headers, such as cuda_fp16.h: pip install nvidia-cuda"):
        _compile_cuda.header_folders("f")
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "cuda_fp16.h").touch()
    assert _compile_cuda.header_folders("f") == [tmp_path / "include"]
    monkeypatch.setattr(_nvrtc, "find", lambda: str(tmp_path / "libnvrtc.so.13"))
    with pytest.raises(ImportError, match="f needs NVRTC, which compiles the kernel: pip install nvidia-cuda-nvrtc"):
        _compile_cuda.compile_cuda("", "sm_80", [], "f")
