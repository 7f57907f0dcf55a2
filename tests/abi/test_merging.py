"""One module of several shared objects: the variants of an op meet by name, whatever the order; what does not fit is refused."""

from __future__ import annotations

import ctypes
import itertools
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import host

SOURCE = Path(__file__).parent / "fake" / "variant.c"
CPU, CUDA, VULKAN = 1, 2, 7
Build = Callable[..., Path]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Compiles fake/variant.c: the variant for `target` (None: the baseline), which answers `number`."""

    def compile_variant(number: int, target: str | None, **macros: str) -> Path:
        out = tmp_path / f"part{number}.so"
        macros = {
            "NUMBER": str(number),
            "TARGET": "NULL" if target is None else f'"{target}"',
            "OWN": f'"only_in_{number}"',
            "TEST": f'"{tmp_path.name}"',
            **macros,
        }
        defines = [f"-DVARIANT_{key}={value}" for key, value in macros.items()]
        command = ["gcc", "-std=c99", "-Wall", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{host.INCLUDE}"]
        subprocess.run([*command, *defines, str(SOURCE), "-o", str(out)], check=True)
        return out

    return compile_variant


def answer_on(function: host.LoadedFunction, device_type: int) -> int:
    """The answer of the variant for that device."""
    call, instance, result = ctypes.c_void_p(), ctypes.c_void_p(), host.Any()
    device = host.Device(device_type, 0)
    host.check(
        host.lib().kp_function_resolve(ctypes.byref(function), device, ctypes.byref(call), ctypes.byref(instance))
    )
    code = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)
    host.check(code(call.value)(instance, None, 0, ctypes.byref(result)))
    return result.bits


def variants(function: host.LoadedFunction) -> list[dict[str, Any]]:
    text = host.Any()
    host.check(host.lib().kp_function_variants(ctypes.byref(function), ctypes.byref(text)))
    return json.loads(host.get_text(text))


def refusal(*paths: Path) -> host.Raised:
    with pytest.raises(host.Raised) as refused:
        host.load(*paths)
    return refused.value


def test_variants_of_three_files_meet_in_every_order(build: Build) -> None:
    files = [build(1, None), build(2, "llvm -mcpu=x86-64"), build(3, "cuda", DOC='"what op does"')]
    for order in itertools.permutations(files):
        module = host.load(*order)
        assert host.names(module) == ["only_in_1", "only_in_2", "only_in_3", "op"]
        op = host.function(module, "op")
        assert op.doc == b"what op does"  # whichever file says it
        assert [v["module_path"] for v in variants(op)] == list(map(str, order))
        assert [v["target"] for v in variants(op) if v["chosen"]] == ["llvm -mcpu=x86-64"]
        assert [answer_on(op, CPU), answer_on(op, CUDA)] == [2, 3]
        assert answer_on(host.function(module, "only_in_3"), CPU) == 3
        with pytest.raises(host.Raised, match="op: no variant runs on vulkan:0") as none:
            answer_on(op, VULKAN)
        assert none.value.kind == "RuntimeError"


def test_a_file_named_twice_counts_once(build: Build) -> None:
    base, cuda = build(1, None, VERSION='"twice"'), build(2, "cuda", VERSION='"twice"')
    assert host.load(base, cuda).value == host.load(base, cuda, base, cuda).value


def test_files_serve_one_by_one_and_together(build: Build) -> None:
    base, cuda = build(1, None, VERSION='"alone"'), build(2, "cuda", VERSION='"alone"')
    alone, together = host.load(base), host.load(base, cuda)
    assert alone.value != together.value
    assert answer_on(host.function(together, "op"), CUDA) == 2
    with pytest.raises(host.Raised, match="no variant runs on cuda:0"):
        answer_on(host.function(alone, "op"), CUDA)
    assert host.names(host.load(cuda)) == ["only_in_2", "op"]  # a file for another device needs no baseline


def test_a_gradient_may_be_in_another_file(build: Build) -> None:
    base = build(
        1,
        None,
        VERSION='"gradient"',
        MORE='.name="op_backward",.call=answer',
        INFO='.signature="(d_y: f32[N]) -> (d_x: f32[N])"',
    )
    gradient = build(
        2, "cuda", VERSION='"gradient"', MORE='.name="op"', INFO='.kind=KP_DEF_GRADIENT,.target="op_backward"'
    )
    module, text = host.load(base, gradient), host.Any()
    host.check(host.lib().kp_module_gradients(module, ctypes.byref(text)))
    assert json.loads(host.get_text(text)) == [["op", "op_backward"]]
    assert "KP_GRAD(op, op_backward): the module exports no function op_backward" in refusal(gradient).message


def test_another_signature_is_refused(build: Build) -> None:
    base, other = build(1, None), build(2, "cuda", SIGNATURE='"(x: f64[N]) -> (y: f64[N])"')
    error = refusal(base, other)
    assert (error.kind, error.message) == (
        "ValueError",
        f"kernpack.load: '{other}': op has another signature than its variant in '{base}': '(x: f64[N]) -> (y: f64[N])' "
        "against '(x: f32[N]) -> (y: f32[N])'; variants of one function share one signature",
    )
    untyped = build(3, "cuda", SIGNATURE="NULL")
    assert "op has another signature than its variant" in refusal(base, untyped).message


@pytest.mark.parametrize(("target", "what"), [(None, "the baseline"), ("cuda -arch=sm_90", "cuda -arch=sm_90")])
def test_two_files_for_one_target_are_refused(target: str | None, what: str, build: Build) -> None:
    files = [build(1, None), build(2, target)] + ([build(3, target)] if target else [])
    error = refusal(*files)
    assert (error.kind, error.message) == (
        "ValueError",
        f"kernpack.load: op is exported twice for {what}, by '{files[-2]}' and by '{files[-1]}'; give one of them another "
        "name or target",
    )


@pytest.mark.parametrize(
    ("field", "value", "what"), [("MODULE", "other", "other 1.0"), ("VERSION", "1.1", "spread 1.1")]
)
def test_files_of_different_modules_are_refused(field: str, value: str, what: str, build: Build) -> None:
    base, other = build(1, None), build(2, "cuda", **{field: f'"{value}"'})
    error = refusal(base, other)
    assert (error.kind, error.message) == (
        "ValueError",
        f"kernpack.load: '{base}' is module spread 1.0, '{other}' is {what}; load different modules one by one, and install "
        "the files of one module together",
    )


def test_cpu_variants_alone_are_refused(build: Build) -> None:
    files = [build(1, "llvm -mcpu=x86-64-v2"), build(2, "llvm -mcpu=x86-64-v3")]
    error = refusal(*files)
    assert error.kind == "ValueError"
    assert (
        f"kernpack.load: '{files[1]}': op has a CPU variant for 'llvm -mcpu=x86-64-v3' but no baseline" in error.message
    )
    assert host.names(host.load(build(3, None), *files)) == ["only_in_1", "only_in_2", "only_in_3", "op"]


def test_one_bad_file_refuses_them_all_and_leaves_the_good_ones(build: Build, tmp_path: Path) -> None:
    base, broken = build(1, None, VERSION='"good"'), tmp_path / "broken.so"
    broken.write_bytes(base.read_bytes()[:300])
    assert f"'{broken}' is truncated or damaged" in refusal(base, broken).message
    missing = tmp_path / "missing.so"
    assert refusal(missing, base).kind == "FileNotFoundError"
    assert answer_on(host.function(host.load(base), "op"), CPU) == 1


def test_a_file_of_the_peer_does_not_merge(build: Build, tmp_path: Path) -> None:
    pytest.importorskip("tvm_ffi", reason="apache-tvm-ffi is not installed")
    from tvm_ffi import libinfo

    source, theirs = tmp_path / "theirs.c", tmp_path / "theirs.so"
    source.write_text(
        "int __tvm_ffi_op(void* s, const void* a, int n, void* r) { (void)s, (void)a, (void)n, (void)r; return 0; }"
    )
    subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(theirs)], check=True)
    host.check(host.lib().kp_peer_set_library(str(libinfo.find_libtvm_ffi()).encode()))
    error = refusal(build(1, None), theirs)
    assert (error.kind, error.message) == (
        "ValueError",
        f"kernpack.load: '{theirs}' was built with apache-tvm-ffi; load it by itself",
    )
