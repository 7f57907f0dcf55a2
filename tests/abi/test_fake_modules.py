"""Modules with one thing wrong: each is refused with its exact message, and the process goes on."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import kernpack_sdk
import pytest
from kernpack_sdk import check, table
from support import host

UPGRADE = "run `pip install -U kernpack`"

# id: (macros, kind, message after "kernpack.load: '<path>'")
REFUSED = {
    "newer_than_host": (
        {"FAKE_MIN_HOST": "0x10007"},
        "ImportError",
        f" needs a host of ABI 1.7 or newer, this is kernpack VERSION with ABI 1.0; {UPGRADE}",
    ),
    "newer_major": (
        {"FAKE_ABI": "0x20000", "FAKE_MIN_HOST": "0x20000"},
        "ImportError",
        f" needs a host of ABI 2.0 or newer, this is kernpack VERSION with ABI 1.0; {UPGRADE}",
    ),
    "older_major": (
        {"FAKE_ABI": "0x3", "FAKE_MIN_HOST": "0"},
        "ImportError",
        " was built for ABI 0.3, this is kernpack VERSION with ABI 1.0, which loads every 1.x; rebuild the module with "
        "kernpack-sdk 1.x",
    ),
    "table_of_a_newer_major": (
        {"FAKE_ABI": "0x20000"},
        "ImportError",
        f" was built for ABI 2.0, this is kernpack VERSION with ABI 1.0, which loads every 1.x; {UPGRADE}",
    ),
    "query_of_a_newer_major": (
        {"FAKE_QUERY": "kp_module_v2"},
        "ImportError",
        " needs a host of ABI 2.x (it exports kp_module_v2), this is kernpack VERSION with ABI 1.0, which loads every "
        f"1.x; {UPGRADE}",
    ),
    "query_of_a_newer_major_beside_aliases": (
        {"FAKE_QUERY": "kp_module_v12", "FAKE_ALIAS": "__tvm_ffi_add"},
        "ImportError",
        " needs a host of ABI 12.x (it exports kp_module_v12), this is kernpack VERSION with ABI 1.0, which loads every "
        f"1.x; {UPGRADE}",
    ),
    "query_of_an_older_major": (
        {"FAKE_QUERY": "kp_module_v0"},
        "ImportError",
        " needs a host of ABI 0.x (it exports kp_module_v0), this is kernpack VERSION with ABI 1.0, which loads every "
        "1.x; install a newer build of the module, or rebuild it with this version of kernpack-sdk",
    ),
    "null_query": (
        {"FAKE_RESULT": "NULL"},
        "ImportError",
        ": kp_module_v1 returned NULL, expected the module's table; declare it with KP_MODULE",
    ),
    "no_query": (
        {"FAKE_QUERY": "other"},
        "ImportError",
        " is a shared object but not a kernel module: it exports neither kp_module_v1 nor any __tvm_ffi_ function; declare "
        "KP_MODULE and KP_EXPORT, and keep the symbols visible",
    ),
    "small_table": (
        {"FAKE_STRUCT_SIZE": "64"},
        "ImportError",
        ": expected a module table of at least 112 bytes, got 64; set struct_size to sizeof(KpModule)",
    ),
    "reserved": (
        {"FAKE_RESERVED": "1"},
        "ImportError",
        f" sets the reserved field KpModule.reserved, which must be zero in ABI 1.0; {UPGRADE}, or rebuild the module",
    ),
    "spare": (
        {"FAKE_SPARE": "1"},
        "ImportError",
        f" sets the reserved field KpModule.spare, which must be zero in ABI 1.0; {UPGRADE}, or rebuild the module",
    ),
    "bad_name": (
        {"FAKE_NAME": '"two words"'},
        "ImportError",
        ": expected a module name of letters, digits, '_' and '.', got 'two words'",
    ),
    "no_name": (
        {"FAKE_NAME": "NULL"},
        "ImportError",
        ": expected a module name of letters, digits, '_' and '.', got '(null)'",
    ),
    "no_version": ({"FAKE_VERSION": "NULL"}, "ImportError", ": module fake has no version"),
    "table_backwards": (
        {"FAKE_COUNT": "-1"},
        "ImportError",
        ": module fake has a function table that ends before it begins",
    ),
    "table_of_other_entries": (
        {"FAKE_END": "(const KpFunctionDef*)(const void*)((const char*)functions + 16)"},
        "ImportError",
        ": module fake has a function table of 16 bytes, expected a multiple of 24; give the array of KpFunctionDef and "
        "its end",
    ),
    "no_function_name": (
        {"FAKE_COUNT": "3"},
        "ImportError",
        ": expected a function name of lower-case letters, digits and '_', got '(null)'",
    ),
    "bad_function_name": (
        {"FAKE_FUNCTION": '.name="Add"'},
        "ImportError",
        ": expected a function name of lower-case letters, digits and '_', got 'Add'",
    ),
    "no_code": (
        {"FAKE_FUNCTION": '.name="second",.call=NULL'},
        "ImportError",
        ": second has no code to call (call is NULL)",
    ),
    "small_info": (
        {"FAKE_INFO": ".struct_size=48"},
        "ImportError",
        ": second: expected a KpFunctionInfo of at least 88 bytes, got 48; set struct_size to sizeof(KpFunctionInfo)",
    ),
    "unknown_kind": (
        {"FAKE_INFO": ".kind=9"},
        "ImportError",
        f": second is of kind 9, which ABI 1.0 does not have; {UPGRADE}",
    ),
    "info_flags": (
        {"FAKE_INFO": ".flags=2"},
        "ImportError",
        f" sets the reserved field second.flags, which must be zero in ABI 1.0; {UPGRADE}, or rebuild the module",
    ),
    "info_spare": (
        {"FAKE_INFO": '.spare={"x"}'},
        "ImportError",
        f" sets the reserved field second.spare, which must be zero in ABI 1.0; {UPGRADE}, or rebuild the module",
    ),
}


def refusal(*paths: Path) -> host.Raised:
    with pytest.raises(host.Raised) as caught:
        host.load(*paths)
    return caught.value


@pytest.mark.parametrize("case", REFUSED)
def test_a_broken_module_is_refused_each_time(case: str, compile_fake: Callable[..., Path]) -> None:
    macros, kind, message = REFUSED[case]
    path = compile_fake(case, **macros)
    for _ in range(2):  # a refusal is not remembered as a success
        error = refusal(path)
        expected = message.replace("VERSION", host.lib().kp_version().decode())
        assert (error.kind, error.message) == (kind, f"kernpack.load: '{path}'{expected}")


def test_good_module(compile_fake: Callable[..., Path]) -> None:
    module = host.load(compile_fake())
    assert host.names(module) == ["add", "second"]
    assert host.call(host.function(module, "add"), host.integer(40), host.integer(2)).bits == 42
    assert host.function(module, "add").doc == b"a + b"


def test_a_function_of_which_nothing_is_said(compile_fake: Callable[..., Path]) -> None:
    module = host.load(compile_fake(FAKE_FUNCTION='.name="plain",.info=NULL'))
    plain = host.function(module, "plain")
    assert (plain.doc, plain.cxx_types, plain.program) == (None, None, None)
    assert host.call(plain, host.integer(40), host.integer(2)).bits == 42


def test_a_larger_table_from_a_later_minor_loads(compile_fake: Callable[..., Path]) -> None:
    path = compile_fake(FAKE_STRUCT_SIZE="sizeof(KpModule)+64", FAKE_ABI="0x10005")
    assert host.names(host.load(path)) == ["add", "second"]


def test_structs_of_a_later_minor_load(compile_fake: Callable[..., Path]) -> None:
    path = compile_fake(FAKE_INFO='.struct_size=sizeof(KpFunctionInfo)+8,.doc="b + a"', FAKE_ABI="0x10001")
    assert host.function(host.load(path), "second").doc == b"b + a"


def test_duplicate_function(compile_fake: Callable[..., Path]) -> None:
    path = compile_fake(FAKE_FUNCTION='.name="add"')
    error = refusal(path)
    assert error.kind == "ValueError"
    assert error.message == (
        f"kernpack.load: add is exported twice for the baseline, by '{path}' and by '{path}'; give one of them another "
        "name or target"
    )


def test_signature_that_does_not_parse(compile_fake: Callable[..., Path]) -> None:
    module = host.load(compile_fake(FAKE_INFO='.signature="(x: f32[N) -> ()"'))
    assert host.names(module) == ["add", "second"]  # a contract is compiled when its function is first asked for
    for _ in range(2):
        with pytest.raises(host.Raised, match="second: signature, position 9") as refused:
            host.function(module, "second")
        assert refused.value.kind == "ValueError"
    assert host.call(host.function(module, "add"), host.integer(1), host.integer(2)).bits == 3


def test_gradient_of_a_function_that_is_not_there(compile_fake: Callable[..., Path]) -> None:
    error = refusal(compile_fake(FAKE_FUNCTION='.name="gone"', FAKE_INFO='.kind=1,.target="gone_backward"'))
    assert error.kind == "ValueError"
    assert "KP_GRAD(gone, gone_backward): the module exports no function gone with a signature" in error.message


def test_jvp_of_a_function_that_is_not_there(compile_fake: Callable[..., Path]) -> None:
    error = refusal(compile_fake(FAKE_FUNCTION='.name="gone"', FAKE_INFO='.kind=2,.target="gone_jvp"'))
    assert error.kind == "ValueError"
    assert "KP_JVP(gone, gone_jvp): the module exports no function gone with a signature" in error.message
    unnamed = refusal(compile_fake("unnamed", FAKE_FUNCTION='.name="gone"', FAKE_INFO=".kind=2"))
    assert "the jvp of gone names no function" in unnamed.message


def test_cpu_variant_without_baseline(compile_fake: Callable[..., Path]) -> None:
    path = compile_fake(FAKE_INFO='.target="llvm -mcpu=x86-64-v2"')
    assert refusal(path).message == (
        f"kernpack.load: '{path}': second has a CPU variant for 'llvm -mcpu=x86-64-v2' but no baseline; add "
        "KP_EXPORT(second, ...) without a target, which runs where no variant does"
    )


@pytest.mark.parametrize("case", [case for case in REFUSED if case.startswith("query_of_")])
def test_the_sdk_refuses_another_major_as_the_host_does(compile_fake: Callable[..., Path], case: str) -> None:
    macros, _, text = REFUSED[case]
    path = compile_fake(case, **macros)
    expected = text.replace("kernpack VERSION", f"kernpack-sdk {kernpack_sdk.__version__}")
    expected = expected.replace("loads every", "reads every").replace(UPGRADE, "run `pip install -U kernpack-sdk`")
    assert f"{path.name}:{expected}" in check.check(path)
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}:{expected}')}$"):
        table.read(path)


def test_create_that_refuses(compile_fake: Callable[..., Path]) -> None:
    path = compile_fake(FAKE_CREATE="refuse_create")
    error = refusal(path)
    assert (error.kind, error.message) == (
        "ValueError",
        f"kernpack.load: initialising '{path}' failed: no table of primes",
    )
    silent = compile_fake("silent", FAKE_CREATE="fail_silently")
    assert refusal(silent).message == (
        f"kernpack.load: initialising '{silent}' failed: KpModule.create returned -1 without an error"
    )


def test_undefined_symbol(compile_fake: Callable[..., Path]) -> None:
    path = compile_fake("undefined", FAKE_UNDEFINED="1")
    error = refusal(path)
    assert error.kind == "ImportError"
    assert error.message == (
        f"kernpack.load: the dynamic linker refuses '{path}': undefined symbol: nobody_defines_this"
    )


def test_files_that_are_no_modules(tmp_path: Path) -> None:
    missing = tmp_path / "missing.so"
    assert (refusal(missing).kind, refusal(missing).message) == (
        "FileNotFoundError",
        f"kernpack.load: no such file: '{missing}'",
    )
    assert refusal(tmp_path).message == f"kernpack.load: expected a shared object, got the directory '{tmp_path}'"
    pipe = tmp_path / "pipe.so"
    os.mkfifo(pipe)
    assert "isn't a regular file" in refusal(pipe).message
    text = tmp_path / "text.so"
    text.write_text("int main(void) { return 0; }\n")
    assert refusal(text).message == f"kernpack.load: '{text}' isn't an ELF shared object"
    empty = tmp_path / "empty.so"
    empty.touch()
    assert refusal(empty).message == f"kernpack.load: '{empty}' is empty, expected a shared object"


def test_no_permission(compile_fake: Callable[..., Path]) -> None:
    path = compile_fake()
    path.chmod(0)
    if os.access(path, os.R_OK):  # root reads everything: ask as somebody else, in a child
        code = f"import os; os.setuid(65534); open({str(path)!r}, 'rb')"
        assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode != 0
        code = (
            "import os, sys; sys.path.insert(0, sys.argv[2])\n"
            "from support import host\n"
            "host.lib(); os.setuid(65534)\n"
            "try: host.load(sys.argv[1])\n"
            "except host.Raised as e: print(e)\n"
        )
        # The folders above must be open to others for the file's own mode to be what refuses.
        for folder in [*path.parents]:
            if folder.owner() == Path.home().owner() and "pytest" in str(folder):
                folder.chmod(0o755)
        ran = subprocess.run(
            [sys.executable, "-c", code, str(path), str(host.ROOT / "tests")],
            capture_output=True,
            text=True,
            check=True,
        )
        assert ran.stdout.startswith("OSError: kernpack.load: no permission to read")
    else:
        assert refusal(path).message.startswith("kernpack.load: no permission to read")


@pytest.mark.parametrize(("class_byte", "text"), [(1, "is a 32-bit object, this process is 64-bit")])
def test_another_class(compile_fake: Callable[..., Path], class_byte: int, text: str) -> None:
    path = compile_fake()
    content = bytearray(path.read_bytes())
    content[4] = class_byte
    path.write_bytes(content)
    assert text in refusal(path).message


@pytest.mark.parametrize(("machine", "name"), [(183, "aarch64"), (243, "riscv"), (999, "machine number 999")])
def test_another_architecture(compile_fake: Callable[..., Path], machine: int, name: str) -> None:
    path = compile_fake()
    content = bytearray(path.read_bytes())
    content[18:20] = machine.to_bytes(2, "little")
    path.write_bytes(content)
    assert refusal(path).message == (
        f"kernpack.load: '{path}' is built for {name}, this process runs on x86-64; install the build for this machine"
    )


def test_object_file_and_program(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("int main(void) { return 0; }\n")
    for flags, text in ((["-c"], "is an object file"), ([], "is a program"), (["-static", "-no-pie"], "is a program")):
        out = tmp_path / "out.so"
        subprocess.run(["gcc", *flags, str(source), "-o", str(out)], check=True)
        assert f"'{out}' {text}, expected a shared object; link it with -shared" in refusal(out).message


def test_probe_reports_how_the_child_died(compile_fake: Callable[..., Path]) -> None:
    good = compile_fake("good")
    host.load(good, probe=True)
    for name, body, text in (
        ("abort", "abort()", "kills the process (probe: signal 6, Aborted); look at its static constructors"),
        ("exit", "_Exit(3)", "ends the process (probe: exit status 3)"),
        ("segv", "*(volatile int*)0=1", "kills the process (probe: signal 11, Segmentation fault)"),
    ):
        path = compile_fake(name, FAKE_CONSTRUCTOR=body)
        with pytest.raises(host.Raised) as caught:
            host.load(path, probe=True)
        assert caught.value.kind == "ImportError"
        assert text in caught.value.message


def test_probe_passes_refusals_on(compile_fake: Callable[..., Path]) -> None:
    path = compile_fake("undefined", FAKE_UNDEFINED="1")
    with pytest.raises(host.Raised, match="undefined symbol: nobody_defines_this"):
        host.load(path, probe=True)


def test_static_constructor_that_changes_the_floating_point_environment(compile_fake: Callable[..., Path]) -> None:
    # The start-up code that -ffast-math links in: flush-to-zero for the whole thread.
    path = compile_fake("fast", FAKE_CONSTRUCTOR="__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr()|0x8040)")
    denormal = ctypes.c_double(1e-310)
    host.load(path)
    assert denormal.value * 0.5 != 0.0
