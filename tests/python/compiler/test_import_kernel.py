"""import_kernel(): what code and contract have to agree on. tests/python/emulator/test_imported.py runs such functions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import kernpack
import numpy as np
import pytest
from cubins import make_cubin

kc = pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")

if "llvm" not in kc.list_generators():
    pytest.skip("LLVM makes the functions that launch imported kernels", allow_module_level=True)

PTX = Path(__file__).with_name("rows.ptx")
TEXT = PTX.read_text()
CONTRACT = "(x: f32[R, N], k: float = 1.0) -> (y: f32[R, N])"
ROWS: dict[str, Any] = {
    "code": PTX,
    "contract": CONTRACT,
    "entry": "normalise",
    "args": ["x", "y", "N", "k"],
    "grid": "R",
    "block": 32,
    "shared": 128,
}


def normalise(**changed: Any) -> Any:
    return kc.import_kernel(**{**ROWS, **changed})


def test_a_function_knows_what_it_has_code_for() -> None:
    function = normalise()
    assert (function.name, function.targets) == ("normalise", ["cuda -arch=compute_80"])
    assert repr(function) == "<ImportedFunction normalise for cuda -arch=compute_80>"


@pytest.mark.parametrize("code", [TEXT, TEXT.encode(), TEXT.encode() + b"\0", [PTX], {"compute_80": PTX}])
def test_code_is_taken_as_text_bytes_and_files(code: Any) -> None:
    assert normalise(code=code).targets == ["cuda -arch=compute_80"]


def test_a_module_has_the_contract_and_shows_its_launches() -> None:
    k = kc.build_imported([normalise()], "rows")
    assert k.name == "rows"
    assert k.functions["normalise"].text.endswith(CONTRACT)
    assert k.functions["normalise"].targets == ["cuda -arch=compute_80"]
    assert "launch grid(grid_x, 1, 1) block(32, 1, 1) shared(128)" in k.source


def test_extents_of_tensors_need_no_names() -> None:
    made = normalise(contract="(x: f32[R, _], k: float = 1.0) -> (y: f32[R, 4])", args=["x", "y", "x.shape[1]", "k"])
    assert "call normalise_launch_0(x, y, i32(i64(Any0)), " in kc.build_imported(made).source


def test_arguments_are_the_contracts_names_in_order_unless_said() -> None:
    # x, k, y, N: the kernel takes x, y, n, k
    with pytest.raises(ValueError, match=r"args\[1\]: parameter 1 of kernel 'normalise' \(\.u64\) .*got 'k'"):
        normalise(args=None, contract="(x: f32[N], k: float) -> (y: f32[N])", grid=1)
    reordered = "(x: f64[N], y!: f64[N], n: int, k: float) -> ()"
    made = kc.import_kernel(PTX, reordered, entry="add", grid=1, block=64, args=["x", "y", "n", "k"])
    assert made.name == "add"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"entry": "normalize"}, "expected a kernel named 'normalize', got code with these kernels: add, normalise"),
        ({"entry": None}, "expected code with one kernel, or entry=, got code with these kernels: add, normalise"),
        ({"code": "rows.ptx"}, "code: expected the text of PTX, the bytes of a cubin or a path, got the text 'rows.ptx'"),
        ({"code": b"PTX"}, "code: expected PTX, got text without a line such as '.target sm_80'"),
        ({"code": b"\xff\xfe"}, "code: expected PTX or a cubin, got 2 bytes that are neither"),
        ({"code": b"\x7fELF"}, "code: the cubin is truncated or damaged"),
        ({"code": b"\x7fELF" + bytes(60)}, "expected a cubin, which is an ELF file for CUDA, got one for machine 0"),
        ({"code": bytes.fromhex("50ed55ba")}, "code: the fatbin is truncated or damaged"),
        ({"code": []}, "code: expected PTX or a cubin, got none"),
        ({"code": [PTX, TEXT]}, "code: two images are for 'cuda -arch=compute_80'; leave one of them out"),
        ({"code": {"compute_90": PTX}}, "code['compute_90']: expected code for compute_90, got PTX for compute_80"),
        ({"code": {"sm_80": PTX}}, "code['sm_80']: expected code for sm_80, got PTX for compute_80"),
        ({"args": ["x", "y", "N"]}, "has 4: .u64, .u64, .u32, .f32 parameters, got 3 arguments: x, y, N"),
        ({"args": ["x", "y", "y", "k"]}, "parameter 2 of kernel 'normalise' (.u32) takes no pointer, got the tensor 'y'"),
        ({"args": ["x", "y", "k", "k"]}, "parameter 2 of kernel 'normalise' (.u32) takes an integer, got 'k', a float"),
        ({"args": ["x", "y", "N", "N"]}, "parameter 3 of kernel 'normalise' (.f32) takes a float, got 'N', an integer; write f32(N)"),
        ({"args": ["x", "y", "i16(N)", "k"]}, "(.u32): expected a value of that size and kind, got 'i16(N)', of type i16"),
        ({"args": ["x", "y", "M", "k"]}, "args[2]: 'M': the contract has no dim or scalar 'M'; there are"),
        ({"args": ["x", "y", "N +", "k"]}, "args[2]: 'N +': expected an expression, such as 'ceildiv(N, 64)'"),
        ({"args": ["x", "y", "N.size", "k"]}, "args[2]: 'N.size': 'N.size' isn't supported; write numbers, names"),
        ({"args": ["x", "y", "x + 1", "k"]}, "'x' is a tensor; write dims and scalars"),
        ({"args": ["x", "y", "x.shape[2]", "k"]}, "'x' has 2 dims, got index 2"),
        ({"args": ["x", "y", "N.shape[0]", "k"]}, "the contract has no tensor 'N'; there are x, y"),
        ({"args": ["x", "y", "x.shape[-1]", "k"]}, "'x.shape[-1]' isn't supported; write numbers, names"),
        ({"args": ["x", "workspace(0 - 1)", "N", "k"]}, "args[1]: workspace(): expected a number of bytes from 0, got -1"),
        ({"args": ["x", "y", "workspace(4)", "k"]}, "(.u32) takes no pointer, got 'workspace(4)'"),
        ({"grid": 0}, "normalise: grid.x: expected a whole number from 1 to 2^31 - 1, got 0"),
        ({"grid": 2**31}, "normalise: grid.x: expected a whole number from 1 to 2^31 - 1, got 2147483648"),
        ({"grid": "1 // 0"}, "normalise: grid.x: '1 // 0': "),
        ({"grid": [1, 2, 3, 4]}, "normalise: grid: expected 1 to 3 extents, got 4"),
        ({"grid": ["R", -1]}, "normalise: grid.y: expected a whole number from 1 to 2^31 - 1, got -1"),
        ({"block": 2048}, "block: expected at most 1024 threads, for which kernel 'normalise' is compiled, got 2048"),
        ({"shared": -1}, "normalise: shared: expected a number of bytes from 0 to 2^31 - 1, got -1"),
        ({"cluster": [0]}, "normalise: cluster: expected 1 to 3 numbers from 1 to 16, got (0,)"),
        ({"name": "a b"}, "'a b' isn't a valid function name; pass name="),
        ({"contract": "(x: f32[R, N], k: float) -> y"}, "signature '(x: f32[R, N], k: float) -> y', position "),
        ({"contract": "(x: f32[R, N], k: float) -> ()"}, "the contract writes nothing"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        normalise(**changed)


@pytest.mark.parametrize(
    ("contract", "message"),
    [
        ("(x: T[R, N], k: float) -> (y: T[R, N]) where T in {f32, f64}", "x: a dtype that the call chooses"),
        ("(x: f32[R, N], k: float, w: f32[N]? = None) -> (y: f32[R, N])", "w: an optional argument"),
        ("(x: f32[R, N], k: float, mode: str) -> (y: f32[R, N])", "mode: expected a tensor, an int, a float or a bool"),
    ],
)
def test_contracts_that_no_kernel_has_are_named(contract: str, message: str) -> None:
    with pytest.raises(NotImplementedError, match=re.escape(message)):
        normalise(contract=contract)


def test_threads_are_those_that_the_kernel_is_compiled_for() -> None:
    given: dict[str, Any] = {"entry": "add", "grid": 1, "args": ["x", "y", "N", "k"]}
    contract = "(x: f64[N], y!: f64[N], k: float) -> ()"
    kc.import_kernel(PTX, contract, block=64, **given)
    with pytest.raises(
        ValueError, match="block: expected at most 64 threads, for which kernel 'add' is compiled, got 128"
    ):
        kc.import_kernel(PTX, contract, block=128, **given)
    exact = TEXT.replace(".maxntid 64, 1, 1", ".reqntid 64, 1, 1")
    assert exact != TEXT
    with pytest.raises(
        ValueError, match=re.escape("block: expected (64, 1, 1), for which kernel 'add' is compiled, got (32, 1, 1)")
    ):
        kc.import_kernel(exact, contract, block=32, **given)


def test_structs_are_refused() -> None:
    struct_ptx = TEXT.replace(".param .u64 normalise_param_1", ".param .align 8 .b8 normalise_param_1[16]")
    with pytest.raises(ValueError, match=re.escape("parameter 1 of kernel 'normalise' (.b8[16]) takes no pointer")):
        normalise(code=struct_ptx)
    with pytest.raises(
        ValueError, match=re.escape("(.b8[16]) is a struct passed by value; pointers and numbers are taken")
    ):
        normalise(code=struct_ptx, args=["x", "N", "N", "k"])


def test_a_cubins_parameters_are_compared_too() -> None:
    cubin = make_cubin([8, 8, 4, 4])
    assert normalise(code=cubin, entry="k").targets == ["cuda -arch=sm_90"]
    assert normalise(code={"sm_90a": cubin}, entry="k").targets == ["cuda -arch=sm_90a"]
    with pytest.raises(ValueError, match="has 3: 8 bytes, 8 bytes, 4 bytes parameters, got 4 arguments"):
        normalise(code=make_cubin([8, 8, 4]), entry="k")
    with pytest.raises(ValueError, match=re.escape("parameter 1 of kernel 'k' (4 bytes) takes no pointer")):
        normalise(code=make_cubin([8, 4, 4, 4]), entry="k")
    with pytest.raises(ValueError, match="expected code for sm_80, got a cubin for sm_90; compile it with -arch=sm_80"):
        normalise(code={"sm_80": cubin}, entry="k")


def test_code_for_several_architectures_has_one_kernel() -> None:
    cubin = make_cubin([8, 8, 4, 4])
    renamed = TEXT.replace("normalise", "k")
    assert normalise(code=[cubin, renamed], entry="k").targets == ["cuda -arch=sm_90", "cuda -arch=compute_80"]
    with pytest.raises(ValueError, match="kernel 'k' has other parameters in other code"):
        normalise(code=[make_cubin([8, 8, 8, 4]), renamed], entry="k")


def test_the_processor_is_told_what_runs_it() -> None:
    k = kc.build_imported(normalise(), "rows")
    with pytest.raises(RuntimeError, match=r"normalise.*compute_80"):
        k.normalise(np.ones((2, 3), np.float32))


def test_a_gradient_is_a_function_of_the_module() -> None:
    function = normalise(grad="normalise_backward")
    with pytest.raises(ValueError, match="its gradient 'normalise_backward' isn't a function of this module"):
        kc.build_imported(function)
    backward = normalise(
        name="normalise_backward", contract="(d_y: f32[R, N], x: f32[R, N], k: float = 1.0) -> (d_x: f32[R, N])",
        args=["d_y", "d_x", "N", "k"],
    )  # fmt: skip
    assert kc.build_imported([function, backward]).functions["normalise"].text.endswith(CONTRACT)


def test_a_library_loads_without_the_compiler(tmp_path: Path) -> None:
    library = kc.build_imported(normalise(), "rows").export_library(tmp_path / "rows.so")
    assert kernpack.load(library).functions["normalise"].targets == ["cuda -arch=compute_80"]
    other = kc.build_imported(normalise(), "rows").export_library(tmp_path / "again.so")
    assert library.read_bytes() == other.read_bytes()


def test_modules_are_made_of_imported_functions() -> None:
    with pytest.raises(TypeError, match=r"got ImportedFunction; build_imported\(\) builds those"):
        kc.build(normalise())
    with pytest.raises(TypeError, match="expected what import_kernel"):
        kc.build_imported(["normalise"])
    with pytest.raises(ValueError, match="expected at least one function"):
        kc.build_imported([])
    with pytest.raises(ValueError, match="two functions are named 'normalise'"):
        kc.build_imported([normalise(), normalise()])


@pytest.mark.parametrize(
    ("contract", "header"),
    [
        ("(x: f32[N, D], *, k: float = 2.0, n: int = 1, b: bool = True) -> (y: f32[N, D])",
         "(x: f32[N, D], k: f64, n: i64, b: bool) -> (y: f32[N, D])"),
        ("(x: bf16[..., D], w!: i32[_, 4], v: f16[_]) -> (y: u8[..., D * 2])",
         "(x: bf16[Batch..., D], w!: i32[Any0, 4], v: f16[Any1]) -> (y: u8[Batch..., (D * 2)])"),
        ("(x: f32[*B, Batch]) -> (y: f64[*B])", "(x: f32[B..., Batch]) -> (y: f64[B...])"),
        ("(x: f32[..., Batch]) -> (y: f64[...])", "(x: f32[Batch_..., Batch]) -> (y: f64[Batch_...])"),
        ("(x: f32[N, M], n: int) -> (y: f32[(N + M - 1) // 2, min(N, n), ceildiv(N, 4), n % 3, -N + 8])",
         "(x: f32[N, M], n: i64) -> (y: f32[floordiv(((N + M) - 1), 2), min(N, n), (-floordiv(-N, 4)), floormod(n, 3), ((-N) + 8)])"),
        ("(x: f32[], y: f32[4]) -> (z: f32[])", "(x: f32[], y: f32[4]) -> (z: f32[])"),
    ],
)  # fmt: skip
def test_a_contract_is_a_header(contract: str, header: str) -> None:
    assert kc._native.header_of_contract("f", contract) == header
    kc.ir.PrimFunc.parse(f"func f{header} {{}}")


@pytest.mark.parametrize(
    ("contract", "message"),
    [
        ("(x: f32[*B, D], y: f32[..., D]) -> (z: f32[D])", "f: y: two names for any number of dims"),
        ("(x: f32[D, *B]) -> (z: f32[D])", "f: x: any number of dims that aren't the first"),
        ("(x: f32[N], *, like: f32[N, N] @cpu) -> (z: f32[N])", "f: like: a tensor on the CPU"),
    ],
)
def test_contracts_without_a_header_are_named(contract: str, message: str) -> None:
    with pytest.raises(NotImplementedError, match=re.escape(message)):
        kc._native.header_of_contract("f", contract)
