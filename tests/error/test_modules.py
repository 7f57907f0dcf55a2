"""Files that aren't a valid module: each is refused by kernpack.load with what is wrong, and the process goes on."""

from __future__ import annotations

import itertools
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import kernpack
import numpy as np
import pytest
from kernpack_sdk import flags
from support import caches
from support.refusal import refused

UPGRADE = "run `pip install -U kernpack`"
HEAD = '#include <kernpack/kernel.h>\nnamespace kp = kernpack;\nKP_MODULE("{name}", "{version}");\n'


def compile_module(out: Path, body: str, *options: str, name: str = "bad_module", version: str = "1.0") -> Path:
    """An author's module, with the SDK's flags and these."""
    source = out.with_suffix(".cc")
    source.write_text(HEAD.format(name=name, version=version) + body)
    command = ["g++", *flags.compile_flags(), "-O1", str(source), *flags.link_flags(), *options, "-o", str(out)]
    subprocess.run(command, check=True)
    return out


GOOD = "static int Add(int a, int b) { return a + b; }\nKP_EXPORT(add, Add);\n"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_module(tmp_path_factory.mktemp("good") / "good.so", GOOD)


def test_missing_and_no_modules(tmp_path: Path) -> None:
    path = tmp_path / "missing.so"
    refused(lambda: kernpack.load(path), FileNotFoundError, f"kernpack.load: no such file: '{path}'")
    path = tmp_path / "text.so"
    path.write_text("int main(void) { return 0; }\n")
    refused(lambda: kernpack.load(path), ImportError, f"kernpack.load: '{path}' isn't an ELF shared object")
    path = tmp_path / "empty.so"
    path.touch()
    refused(lambda: kernpack.load(path), ImportError, f"kernpack.load: '{path}' is empty, expected a shared object")
    refused(
        lambda: kernpack.load(tmp_path / "folder_that_is_not_there/"),
        FileNotFoundError,
        f"kernpack.load: no such file: '{tmp_path}/folder_that_is_not_there'",
    )
    refused(
        lambda: kernpack.load("/dev/null"),
        OSError,
        "kernpack.load: expected a shared object, got '/dev/null', which isn't a regular file",
    )
    for folder in (tmp_path / "folder", tmp_path / "folder.so"):
        folder.mkdir()
        refused(
            lambda folder=folder: kernpack.load(folder),
            FileNotFoundError,
            f"kernpack.load: no kernel module (*.so) in the folder {folder}",
        )


def test_packages_that_are_none() -> None:
    known = ", ".join(sorted(kernpack.installed())) or "none"
    refused(
        lambda: kernpack.load("no_such_package"),
        ImportError,
        "kernpack.load: no package 'no_such_package' is installed (pip install it, or pass a path such as "
        f"'./no_such_package.so'); installed kernel packages: {known}",
    )
    if "kernpack_kernels" in kernpack.installed():
        refused(
            lambda: kernpack.load("kernpack_kernel"),
            ImportError,
            "kernpack.load: no package 'kernpack_kernel' is installed; did you mean 'kernpack_kernels'? Installed kernel "
            f"packages: {known}",
        )
    refused(
        lambda: kernpack.load("json"),
        ImportError,
        "kernpack.load: the package 'json' holds no kernel module (no *.so...",
    )


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ("", ValueError, "kernpack.load: expected the path of a shared object or folder, got ''"),
        ("a\0b", ValueError, "kernpack.load: expected the path of a shared object or folder, got 'a\\x00b'"),
        (3, TypeError, "kernpack.load: expected a package name, a path or several paths, got int"),
        (None, TypeError, "kernpack.load: expected a package name, a path or several paths, got NoneType"),
        (b"x.so", TypeError, "kernpack.load: expected a package name, a path or several paths, got bytes"),
        ([], ValueError, "kernpack.load: expected a package name, a path or several paths, got none"),
        ([3], TypeError, "kernpack.load: expected a path (str or os.PathLike), got int"),
    ],
    ids=repr,
)
def test_sources_that_are_none(source: object, kind: type[BaseException], message: str) -> None:
    refused(lambda: kernpack.load(source), kind, message)  # type: ignore[arg-type]


def _section_boundaries(content: bytes) -> set[int]:
    """Where each section begins and ends, and the two header tables."""
    phoff, shoff = struct.unpack_from("<QQ", content, 32)
    phnum, shnum = struct.unpack_from("<H", content, 56)[0], struct.unpack_from("<H", content, 60)[0]
    found = {phoff, phoff + 56 * phnum, shoff, shoff + 64 * shnum}
    for i in range(shnum):
        offset, size = struct.unpack_from("<QQ", content, shoff + 64 * i + 24)
        found |= {offset, offset + size}
    return found


def test_truncated_at_every_4_kb_and_section_boundary(good: Path, tmp_path: Path) -> None:
    content = good.read_bytes()
    ends = {*range(0, len(content), 4096), *_section_boundaries(content)}
    sizes = sorted({size + d for size, d in itertools.product(ends, (-1, 0, 1)) if 0 <= size + d < len(content)})
    assert len(sizes) > 50
    for size in sizes:
        path = tmp_path / f"{size}.so"
        path.write_bytes(content[:size])
        with pytest.raises(ImportError, match=r"kernpack\.load: .*(empty|no ELF|truncated)") as caught:
            kernpack.load(path)
        assert str(path) in str(caught.value)
    assert kernpack.load(good).add(1, 2) == 3


def _thread_local(content: bytes, file_size: int) -> bytes:
    """With a thread-local segment past the end of the file and the image, in the place of the table of exceptions."""
    phoff, phnum = *struct.unpack_from("<Q", content, 32), *struct.unpack_from("<H", content, 56)
    headers = range(phoff, phoff + 56 * phnum, 56)
    at = next(h for h in headers if struct.unpack_from("<I", content, h)[0] == 0x6474E550)  # PT_GNU_EH_FRAME
    pt_tls, memory, align = 7, 64, 8
    header = struct.pack("<IIQQQQQQ", pt_tls, 4, 1 << 30, 1 << 30, 1 << 30, file_size, memory, align)
    return content[:at] + header + content[at + len(header) :]


def test_thread_local_memory_that_the_file_says_nothing_about_may_be_anywhere(good: Path, tmp_path: Path) -> None:
    path = tmp_path / "zeros.so"
    path.write_bytes(_thread_local(good.read_bytes(), 0))
    assert kernpack.load(path).add(1, 2) == 3
    path = tmp_path / "outside.so"
    path.write_bytes(_thread_local(good.read_bytes(), 8))
    with pytest.raises(ImportError, match="is truncated or damaged: its segment would end"):
        kernpack.load(path)


@pytest.mark.parametrize(("target", "name"), [("aarch64", "aarch64"), ("riscv64", "riscv"), ("x86", "32-bit")])
def test_another_architecture(compile_fake: Callable[..., Path], target: str, name: str) -> None:
    pytest.importorskip("ziglang", reason="ziglang compiles for other architectures and is not installed")
    # Without the C library, which zig would first build for each of them, in half a minute.
    zig = (sys.executable, "-m", "ziglang", "cc", "-target", f"{target}-linux-gnu", "-nostdlib", "-shared", "-fPIC")
    path = compile_fake(target, command=zig)
    message = (
        f"kernpack.load: '{path}' is a 32-bit object, this process is 64-bit..."
        if name == "32-bit"
        else f"kernpack.load: '{path}' is built for {name}, this process runs on x86-64; install the build for this machine"
    )
    refused(lambda: kernpack.load(path), ImportError, message)


TABLES = {
    "without_the_query_symbol": (
        {"FAKE_QUERY": "other"},
        " is a shared object but not a kernel module: it exports neither kp_module_v1 nor any __tvm_ffi_ function; declare "
        "KP_MODULE and KP_EXPORT, and keep the symbols visible",
    ),
    "newer_than_the_host": (
        {"FAKE_MIN_HOST": "0x10007"},
        f" needs a host of ABI 1.7 or newer, this is kernpack {kernpack.__version__} with ABI 1.0; {UPGRADE}",
    ),
    "newer_major": (
        {"FAKE_ABI": "0x20000", "FAKE_MIN_HOST": "0x20000"},
        f" needs a host of ABI 2.0 or newer, this is kernpack {kernpack.__version__} with ABI 1.0; {UPGRADE}",
    ),
    "older_than_the_host_allows": (
        {"FAKE_ABI": "0x3", "FAKE_MIN_HOST": "0"},
        f" was built for ABI 0.3, this is kernpack {kernpack.__version__} with ABI 1.0, which loads every 1.x; rebuild the "
        "module with kernpack-sdk 1.x",
    ),
    "undefined_symbol": ({"FAKE_UNDEFINED": "1"}, None),
}


@pytest.mark.parametrize("row", TABLES)
def test_tables_that_do_not_fit(compile_fake: Callable[..., Path], row: str) -> None:
    macros, message = TABLES[row]
    path = compile_fake(row, **macros)
    expected = f"kernpack.load: '{path}'{message}"
    if message is None:
        expected = f"kernpack.load: the dynamic linker refuses '{path}': undefined symbol: nobody_defines_this"
    refused(lambda: kernpack.load(path), ImportError, expected)


INITIALISERS = {
    "kp_throw": ('KP_THROW(ValueError) << "no table of primes"', ValueError, "KP_MODULE_INIT: no table of primes"),
    "std_exception": ('throw std::runtime_error("no licence")', RuntimeError, "KP_MODULE_INIT: no licence"),
    "throw_42": ("throw 42", kernpack.InternalError, "KP_MODULE_INIT: threw something that is not a std::exception"),
}


@pytest.mark.parametrize("row", INITIALISERS)
def test_an_initialiser_that_throws(row: str, tmp_path: Path) -> None:
    statement, kind, message = INITIALISERS[row]
    body = f"#include <stdexcept>\n{GOOD}static void Start() {{ {statement}; }}\nKP_MODULE_INIT(Start);\n"
    path = compile_module(tmp_path / f"{row}.so", body)
    refused(lambda: kernpack.load(path), kind, f"kernpack.load: initialising '{path}' failed: {message}")


SIGNATURES = {
    "does_not_parse": ('"(x: f32[N) -> ()"', "second: signature, position 9: ..."),
    "not_utf8": (r'"(x: f32[\377]) -> ()"', "second: signature, position 8: ..."),
    "empty": ('""', "second: signature, position 0: ..."),
    "names_another_function": (
        '"third(x: f32[N]) -> ()"',
        "second: signature: expected the name second or none, got third",
    ),
}


@pytest.mark.parametrize("row", SIGNATURES)
def test_a_signature_that_does_not_parse(compile_fake: Callable[..., Path], row: str) -> None:
    text, message = SIGNATURES[row]
    path = compile_fake(row, FAKE_INFO=f".signature={text}")
    # A contract that the C++ compiler did not read is read when its function is asked for, or by torch at load.
    refused(lambda: kernpack.load(path).second, ValueError, message)


def _flushes_denormals() -> bool:
    return bool(np.float32(1e-40) * np.float32(1) == 0)


def test_linked_with_fast_math(tmp_path: Path) -> None:
    """Its start-up code would flush denormals in the whole process; the loader undoes that."""
    path = compile_module(tmp_path / "fast.so", GOOD, "-Ofast", "-ffast-math", "-funsafe-math-optimizations")
    symbols = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    assert "set_fast_math" in symbols, "the compiler added no such start-up code"
    assert not _flushes_denormals()
    module = kernpack.load(path)
    assert module.add(1, 2) == 3
    assert not _flushes_denormals()


def test_a_constructor_that_flushes_denormals(compile_fake: Callable[..., Path]) -> None:
    path = compile_fake("flush", FAKE_CONSTRUCTOR="__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr()|0x8040)")
    assert kernpack.load(path).add(40, 2) == 42
    assert not _flushes_denormals()


def test_a_constructor_that_kills_the_process_is_found_by_a_probe(compile_fake: Callable[..., Path]) -> None:
    path = compile_fake("abort", FAKE_CONSTRUCTOR="abort()")
    refused(
        lambda: kernpack.load(path, probe=True),
        ImportError,
        f"kernpack.load: loading '{path}' kills the process (probe: signal 6, Aborted); look at its static constructors",
    )


@pytest.mark.parametrize("how", ["renamed", "overwritten"])
def test_replaced_on_disk_by_a_newer_one(tmp_path: Path, how: str) -> None:
    path = compile_module(tmp_path / "m.so", GOOD, name="replaced", version=f"1.0.{how}")
    old = kernpack.load(path)
    add = old.add
    body = GOOD.replace("a + b", "a + b + 1000")
    newer = compile_module(tmp_path / "newer.so", body, name="replaced", version=f"2.0.{how}")
    if how == "renamed":
        os.replace(newer, path)
    else:
        path.write_bytes(newer.read_bytes())
    new = kernpack.load(path)
    assert (old.version, new.version) == (f"1.0.{how}", f"2.0.{how}")
    assert (add(1, 2), old.add(1, 2), new.add(1, 2)) == (3, 3, 1003)
    path.write_bytes(b"")
    assert new.add(1, 2) == 1003


def test_pickled_with_another_build(tmp_path: Path) -> None:
    import pickle

    path = compile_module(tmp_path / "m.so", GOOD, name="pickled", version="1.0")
    data = pickle.dumps(kernpack.load(path).add)
    compile_module(path, GOOD.replace("a + b", "a - b"), name="pickled", version="1.1")
    refused(lambda: pickle.loads(data), ImportError, "kernpack: pickled with pickled 1.0 (content ...")


INLINE = {
    "source_is_bytes": ((b"void f() {}", ["f"]), {}, TypeError, "load_inline: source: expected str, got bytes"),
    "one_name_as_text": (
        ("void f() {}", "f"),
        {},
        TypeError,
        "load_inline: functions: expected names, or a dict of names and signatures, got str 'f'",
    ),
    "a_name_that_is_none": (
        ("void f() {}", ["f f"]),
        {},
        ValueError,
        "load_inline: functions: expected a name of [a-z_][a-z0-9_]*, got 'f f'",
    ),
    "no_function": (
        ("void f() {}",),
        {},
        ValueError,
        "load_inline: nothing is exported; name functions of the source in functions=, or use KP_EXPORT",
    ),
    "language": (
        ("void f() {}", ["f"]),
        {"language": "rust"},
        ValueError,
        "load_inline: language: expected 'c++' or 'cuda', got 'rust'",
    ),
    "module_name": (
        ("void f() {}", ["f"]),
        {"name": "two words"},
        ValueError,
        "load_inline: name: expected [A-Za-z_][A-Za-z0-9_.]*, got 'two words'",
    ),
}


@pytest.mark.parametrize("row", INLINE)
def test_inline_arguments(row: str) -> None:
    arguments, keywords, kind, message = INLINE[row]
    refused(lambda: kernpack.load_inline(*arguments, **keywords), kind, message)


@pytest.mark.parametrize(
    ("source", "functions", "words"),
    [
        ("int broken( { }", ["broken"], r"inline\.cc:1:"),
        ("void f() {}", ["g"], "'g', which isn't declared above that line"),
        (
            "void f() {}",
            {"f": "(x: f33[N]) -> ()"},
            "the contract of 'f' doesn't parse: no such dtype 'f33'; did you mean 'f32'",
        ),
        ("void f() {}", {"f": "(x: f32[N]) -> ()"}, "does not fit|parameters"),
    ],
    ids=["syntax", "no_such_function", "bad_signature", "signature_that_does_not_fit"],
)
def test_inline_source_that_does_not_compile(source, functions, words, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("KERNPACK_CACHE_DIR", str(caches.with_support(tmp_path)))
    with pytest.raises(RuntimeError, match=words):
        kernpack.load_inline(source, functions)
    assert not list(tmp_path.rglob("*.so"))


def test_no_compiler(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("KERNPACK_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("CXX", "no-such-compiler")
    refused(
        lambda: kernpack.load_inline("void f() {}", ["f"]),
        RuntimeError,
        "load_inline: no compiler 'no-such-compiler' on the PATH; install one or set CXX",
    )
