"""Values of apache-tvm-ffi's modules under kernpack.load: its newer types, and what nobody should return."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import kernpack
import numpy as np
import pytest
from support.host import INCLUDE
from support.interop import SOURCES, compile_module


@pytest.fixture(scope="module")
def theirs(peer_values_path: Path) -> kernpack.Module:
    return kernpack.load(str(peer_values_path))


@pytest.mark.parametrize("n", [0, 1, 4, 5, 100])
def test_a_dict_is_a_mapping(theirs: kernpack.Module, n: int) -> None:
    assert theirs.make_dict(n) == {str(i): i for i in range(n)}


def test_keys_that_are_arrays_are_tuples(theirs: kernpack.Module) -> None:
    assert theirs.echo({(1, 2): "a", (): "b"}) == {(1, 2): "a", (): "b"}


@pytest.mark.parametrize("value", [0, 5, 2**62, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 3**200, -(3**200)])
def test_ints_of_any_size(theirs: kernpack.Module, value: int) -> None:
    assert theirs.twice(value) == 2 * value
    assert theirs.echo(value) == value
    assert theirs.echo([value]) == [value]


def test_an_int_that_does_not_fit_is_an_error_that_says_so(theirs: kernpack.Module) -> None:
    with pytest.raises((TypeError, OverflowError)):
        theirs.number(2**63)
    with pytest.raises(OverflowError, match=r"same: argument 0: expected an int of 64 bits"):
        kernpack.load_inline("int64_t same(int64_t x) { return x; }", ["same"], name="peer_ints").same(2**63)


BROKEN = {
    "null_string": (ValueError, r"a value of type str holds a NULL object"),
    "null_tensor": (ValueError, r"a value of type Tensor holds a NULL object"),
    "null_array": (ValueError, r"a value of type Array holds a NULL object"),
    "null_dict": (ValueError, r"a value of type Dict holds a NULL object"),
    "null_object": (ValueError, r"a value of type Object holds a NULL object"),
    "null_of_its_own": (ValueError, r"holds a NULL object"),
    "null_far_away": (TypeError, r"expected a value of a type known here .* got type index 2000000000"),
    "wild_far_away": (TypeError, r"expected a value of a type known here .* got type index 2000000000"),
    "long_small_string": (ValueError, r"expected a short str of at most 7 bytes, got one of 100000"),
    "long_small_bytes": (ValueError, r"expected a short bytes of at most 7 bytes, got one of 100000"),
    "unknown_plain": (TypeError, r"got type index 40"),
    "unknown_static": (TypeError, r"got type index 120"),
    "negative": (TypeError, r"got type index -7"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_value_is_refused_unread(theirs: kernpack.Module, name: str) -> None:
    kind, text = BROKEN[name]
    with pytest.raises(kind, match=f"{name}: .*{text}|{name}: {text}"):
        getattr(theirs, name)()
    assert theirs.number(1) == 1


DAMAGED = {
    "text_at_null": (ValueError, r"a value of type str is damaged: it has a NULL string"),
    "bytes_at_null": (ValueError, r"a value of type bytes is damaged: it has a NULL string"),
    "text_of_half_the_memory": (ValueError, r"a value of type str is damaged: .* or an invalid length"),
    "shape_at_null": (ValueError, r"a value of type Shape is damaged: it has NULL extents"),
    "map_at_null": (ValueError, r"a value of type Map is damaged: it has NULL items"),
    "function_without_code": (ValueError, r"a value of type Function is damaged: it has no code to call"),
    "nobodys_object": (ValueError, r"is damaged: it has a NULL handle"),
    "tensor_of_negative_rank": (ValueError, r"ndim is -3; expected 0 to 64"),
    "tensor_without_shape": (ValueError, r"shape is NULL but ndim is 2"),
    "tensor_of_negative_extent": (ValueError, r"shape\[1\] is -5; expected 0 or more"),
    "tensor_without_data": (ValueError, r"data is NULL but the shape has elements"),
    "items_at_null": (ValueError, r"a value of type Array is damaged: it has NULL items"),
    "fewer_than_none": (ValueError, r"a value of type List is damaged: .* or a negative count"),
    "borrowed_item": (TypeError, r"an item of a container is a bytes, which borrows memory"),
    "list_of_itself": (RecursionError, r"while converting a kernel's result"),
}


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> kernpack.Module:
    out = tmp_path_factory.mktemp("damaged") / "damaged_values.so"
    command = ["gcc", "-std=c99", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{INCLUDE}"]
    subprocess.run([*command, SOURCES / "damaged_values.c", "-o", out], check=True)
    return kernpack.load(str(out))


@pytest.mark.parametrize("name", DAMAGED)
def test_an_object_whose_body_leads_nowhere_is_refused_unread(damaged: kernpack.Module, name: str) -> None:
    kind, text = DAMAGED[name]
    with pytest.raises(kind, match=text):
        getattr(damaged, name)()


def test_no_memory_in_their_code_is_a_memory_error(theirs: kernpack.Module) -> None:
    with pytest.raises(MemoryError):
        theirs.no_memory()
    with pytest.raises(kernpack.InternalError, match="odd"):
        theirs.odd_error()


def test_an_object_of_a_class_they_do_not_know_is_refused(theirs: kernpack.Module, tmp_path: Path) -> None:
    ours = kernpack.load(str(compile_module(SOURCES / "classes.cc", tmp_path / "interop_classes.so", f"-I{INCLUDE}")))
    plan = ours.make_plan(3)
    text = r"argument 0: expected a value that apache-tvm-ffi knows, got an object of the class interop_classes\.Plan"
    for call in (theirs.number, theirs.echo, theirs.twice):
        with pytest.raises(TypeError, match=text):
            call(plan)
    for nested in ([plan], {"a": [1, plan]}):
        with pytest.raises(TypeError, match=text):
            theirs.echo(nested)
    with pytest.raises(TypeError, match=text):
        theirs.first([plan])
    assert ours.run(plan, np.zeros(3, np.float32)) == 1


def test_what_only_registers_globals_loads(peer_globals_path: Path) -> None:
    module = kernpack.load(str(peer_globals_path))
    assert sorted(module.functions) == ["kernpack_test.add", "kernpack_test.greet"]
    assert getattr(module, "kernpack_test.add")(40, 2) == 42
    assert kernpack.get_func("kernpack_test.greet")("kernels") == "hello kernels"
    assert kernpack.load(str(peer_globals_path)).digest == module.digest
    with pytest.raises(KeyError):
        kernpack.get_func("kernpack_test.nothing")


LOAD = "import sys, kernpack; print(kernpack.load(sys.argv[1]).number(3))"


def run_with_library(library: str | Path, module: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"KERNPACK_TVM_FFI_LIB": str(library)}
    command = [sys.executable, "-c", LOAD, str(module)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_a_named_library_that_is_none_is_refused_before_it_runs(peer_values_path: Path, tmp_path: Path) -> None:
    source = tmp_path / "loud.c"
    source.write_text('#include <stdio.h>\n__attribute__((constructor)) static void loud(void) { puts("I ran"); }\n')
    subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(tmp_path / "loud.so")], check=True)
    ran = run_with_library(tmp_path / "loud.so", peer_values_path)
    assert ran.returncode != 0
    assert "ImportError" in ran.stderr
    assert "does not export TVMFFIGetVersion; nothing of it was run" in ran.stderr
    assert "I ran" not in ran.stdout
    ran = run_with_library(source, peer_values_path)
    assert "ImportError" in ran.stderr
    ran = run_with_library(tmp_path / "absent.so", peer_values_path)
    assert "absent.so" in ran.stderr


@pytest.mark.parametrize("version", ["0, 1, 7", "0, 2, 0", "1, 1, 5"])
def test_a_named_library_of_another_version_is_refused(peer_values_path: Path, tmp_path: Path, version: str) -> None:
    source = tmp_path / "versioned.c"
    source.write_text(
        f"void TVMFFIGetVersion(unsigned* out) {{ unsigned v[] = {{{version}}}; for (int i = 0; i < 3; ++i) out[i] = v[i]; }}\n"
        "void TVMFFIEnvSetStream(void) {}\nvoid TVMFFIEnvSetDLPackManagedTensorAllocator(void) {}\n"
    )
    library = tmp_path / "libtvm_ffi.so"
    subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    ran = run_with_library(library, peer_values_path)
    assert "expected its library in version 0.1.8 or newer, below 0.2, got " + version.replace(", ", ".") in ran.stderr
    assert ran.returncode != 0
