"""Modules built with the headers of ABI 1.1, under this host: what they may use, and how the host says what it lacks."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from kernpack_sdk import check, hosts
from support import host

PING = "  X(1, ping, (const KpHost* host, int64_t x, int64_t* out))"

C_MODULE = """
#include <kernpack/service.h>
static int twice(void* self, const KpAny* args, int32_t num_args, KpAny* result) {
  const KpHost* host = *(const KpHost**)self;
  (void)num_args;
  result->type_index = KP_TYPE_INT;
  return kp_host_ping(host)(host, args[0].v.v_int, &result->v.v_int);
}
static int plain(void* self, const KpAny* args, int32_t num_args, KpAny* result) {
  const KpHost* host = *(const KpHost**)self;
  (void)num_args;
  *result = args[0];
  return kp_host_check_interrupts(host)(host);
}
static const KpFunctionDef functions[] = {{"twice", twice, NULL}, {"plain", plain, NULL}};
static const KpHost* the_host;
static int create(const KpHost* host, KpInstance** out) {
  the_host = host;
  *out = (KpInstance*)(void*)&the_host;
  return 0;
}
static const KpModule module = {.struct_size = sizeof(KpModule), .abi_version = KP_ABI_VERSION,
                                .min_host_abi = NEEDS, .name = "later", .version = "1", .sdk_version = "c",
                                .functions = functions, .functions_end = functions + 2, .create = create};
KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void);
KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void) { return &module; }
"""

CXX_MODULE = """
#include <kernpack/kernel.h>
namespace kp = kernpack;
int64_t Twice(int64_t x) {
  const KpHost* host = kp::detail::host();
  kp::detail::check_host(kp_host_ping(host)(host, x, &x));
  return x;
}
int64_t Plain(int64_t x) { return x; }
KP_MODULE("later", "1" NEEDS);
KP_EXPORT(twice, Twice);
KP_EXPORT(plain, Plain);
"""


@pytest.fixture
def headers(tmp_path: Path) -> Path:
    """Today's headers with a service more, as ABI 1.1 will have them."""
    include = tmp_path / "include"
    shutil.copytree(host.INCLUDE, include)
    header = include / "kernpack" / "abi.h"
    text = header.read_text()
    last = next(line for line in text.splitlines() if line.startswith("  X(0, get_extension, "))
    later = text.replace(last, f"{last} \\\n{PING}").replace("#define KP_ABI_MINOR 0", "#define KP_ABI_MINOR 1")
    assert later.count("ping") == 1
    header.write_text(later)
    return include


def build(headers: Path, name: str, text: str, *options: str) -> Path:
    source = headers.parent / name
    source.write_text(text)
    out = source.with_suffix(".so")
    language = ["gcc", "-std=c99"] if source.suffix == ".c" else ["g++", "-std=c++17"]
    subprocess.run(
        [*language, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{headers}", *options, source, "-o", out],
        check=True,
    )
    return out


@pytest.mark.parametrize(
    ("name", "text", "needs", "expected"),
    [
        ("later.c", C_MODULE, "-DNEEDS=KP_ABI_OLDEST_HOST", "runs on hosts of ABI 1.0 and newer (ping needs 1.1)"),
        ("later.cc", CXX_MODULE, "-DNEEDS=", "runs on hosts of ABI 1.0 and newer (ping needs 1.1)"),
        ("needs.cc", CXX_MODULE, "-DNEEDS=,KP_NEEDS_HOST(1,1)", "runs on hosts of ABI 1.1 and newer"),
        (
            "none.cc",
            CXX_MODULE.replace("kp_host_ping(host)(host, x, &x)", "0"),
            "-DNEEDS=",
            "runs on hosts of ABI 1.0 and newer",
        ),
    ],
)
def test_check_tells_the_oldest_host_from_the_binary(
    name: str, text: str, needs: str, expected: str, headers: Path
) -> None:
    for option in ("-O0", "-O2"):
        path = build(headers, name, text, needs, option, "-Wno-unused", "-Wl,-s")
        assert str(hosts.read(path)) == expected
    assert check.describe(path).endswith(f", {expected}")


@pytest.mark.parametrize(("name", "text"), [("later.c", C_MODULE), ("later.cc", CXX_MODULE)])
def test_a_service_that_this_host_lacks_is_an_error_where_it_is_used(name: str, text: str, headers: Path) -> None:
    needs = "-DNEEDS=KP_ABI_OLDEST_HOST" if name == "later.c" else "-DNEEDS="
    module = host.load(build(headers, name, text, needs))
    assert host.call(host.function(module, "plain"), host.integer(7)).bits == 7
    with pytest.raises(host.Raised) as caught:
        host.call(host.function(module, "twice"), host.integer(7))
    assert caught.value.kind == "RuntimeError"
    assert caught.value.message == "ping needs a host of ABI 1.1 or newer; this is 1.0: pip install -U kernpack"


@pytest.mark.parametrize(
    ("name", "text", "needs"),
    [("needs.c", C_MODULE, "-DNEEDS=KP_ABI_VERSION"), ("needs.cc", CXX_MODULE, "-DNEEDS=,KP_NEEDS_HOST(1,1)")],
)
def test_a_module_that_cannot_live_without_it_is_refused_at_load(
    name: str, text: str, needs: str, headers: Path
) -> None:
    path = build(headers, name, text, needs)
    with pytest.raises(host.Raised) as caught:
        host.load(path)
    version = host.lib().kp_version().decode()
    assert caught.value.message == (
        f"kernpack.load: '{path}' needs a host of ABI 1.1 or newer, this is kernpack {version} with ABI 1.0; "
        "run `pip install -U kernpack`"
    )


def test_a_later_service_is_not_reached_without_its_accessor(headers: Path) -> None:
    direct = C_MODULE.replace("kp_host_ping(host)", "host->ping")
    with pytest.raises(subprocess.CalledProcessError):
        build(headers, "direct.c", direct, "-DNEEDS=KP_ABI_OLDEST_HOST")


def test_needs_host_asks_for_headers_that_know_it() -> None:
    source = CXX_MODULE.replace("kp_host_ping(host)(host, x, &x)", "0")
    ran = subprocess.run(
        ["g++", "-std=c++17", "-fsyntax-only", f"-I{host.INCLUDE}", "-DNEEDS=,KP_NEEDS_HOST(1,1)", "-xc++", "-"],
        input=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "KP_NEEDS_HOST: these headers are older than that: pip install -U kernpack-sdk" in ran.stderr


def with_a_later_word(headers: Path) -> Path:
    """The headers with a property `tiled`, a word that 1.0 does not have."""
    clauses = headers / "kernpack" / "signature" / "clauses.h"
    text = clauses.read_text()
    known = '    if (IsWord("on")) return On();\n'
    later = '    if (IsWord("tiled")) {\n      Since(1);\n      Next();\n      return true;\n    }\n'
    assert known in text
    clauses.write_text(text.replace(known, known + later))
    return headers


REFUSED_WORD = "the signature needs a host of ABI 1.1 or newer{}; this is 1.0: pip install -U kernpack"


def test_a_later_word_refuses_its_function_and_no_other(headers: Path) -> None:
    source = """
#include <kernpack/kernel.h>
namespace kp = kernpack;
void Copy(kp::TensorView x, kp::MutTensorView y) { y.data_ptr<float>()[0] = x.data_ptr<float>()[0]; }
void Back(kp::TensorView d_y, kp::MutTensorView d_x) { Copy(d_y, d_x); }
int64_t Twice(int64_t x) { return 2 * x; }
KP_MODULE("words", "1");
KP_EXPORT(tiled, Copy, "(x: f32[N]) -> (y: f32[N]) with tiled");
KP_EXPORT(tiled_backward, Back, "(d_y: f32[N]) -> (d_x: f32[N])");
KP_GRAD(tiled, tiled_backward);
KP_EXPORT(plain, Copy, "(x: f32[N]) -> (y: f32[N])");
KP_EXPORT(twice, Twice);
"""
    module = host.load(build(with_a_later_word(headers), "words.cc", source, "-Wno-unused"))
    assert host.names(module) == ["plain", "tiled", "tiled_backward", "twice"]
    assert host.function(module, "plain").program is not None
    assert host.call(host.function(module, "twice"), host.integer(21)).bits == 42
    for _ in range(2):
        with pytest.raises(host.Raised) as caught:
            host.function(module, "tiled")
        assert caught.value.kind == "ImportError"
        assert caught.value.message == "tiled: " + REFUSED_WORD.format("")


def test_in_python_the_other_functions_work_with_every_framework(headers: Path) -> None:
    source = """
#include <kernpack/kernel.h>
namespace kp = kernpack;
void Copy(kp::TensorView x, kp::MutTensorView y) { y.data_ptr<float>()[0] = x.data_ptr<float>()[0]; }
KP_MODULE("words_in_python", "1");
KP_EXPORT(tiled, Copy, "(x: f32[N]) -> (y: f32[N]) with tiled");
KP_EXPORT(plain, Copy, "(x: f32[N]) -> (y: f32[N])");
"""
    path = build(with_a_later_word(headers), "words_in_python.cc", source)
    script = """
import sys, warnings
warnings.simplefilter("error")
import kernpack, numpy, torch
k = kernpack.load(sys.argv[1])
assert k.plain(numpy.ones(1, numpy.float32))[0] == 1
assert k.plain(torch.ones(1))[0] == 1
assert torch.ops.kernpack_words_in_python.plain(torch.ones(1))[0] == 1
for x in (numpy.ones(1, numpy.float32), torch.ones(1)):
    try:
        k.tiled(x)
    except ImportError as error:
        print(error)
"""
    ran = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == 2 * ("tiled: " + REFUSED_WORD.format("") + "\n")


TEXTS = """
#include <kernpack/abi.h>
static int nothing(void* self, const KpAny* args, int32_t num_args, KpAny* result) {
  (void)self, (void)args, (void)num_args, (void)result;
  return 0;
}
#define INFO(text) {.struct_size = sizeof(KpFunctionInfo), .signature = text}
static const KpFunctionInfo infos[] = {INFO("(x: f32[N]) -> () with tiled"), INFO("1.1 (x: f32[N]) -> () with tiled"),
                                       INFO("1.0 (x: f32[N]) -> ()"), INFO("(x: f32[N]) -> ()")};
static const KpFunctionDef functions[] = {{"bare", nothing, infos}, {"versioned", nothing, infos + 1},
                                          {"today", nothing, infos + 2}, {"plain", nothing, infos + 3}};
static const KpModule module = {.struct_size = sizeof(KpModule), .abi_version = KP_ABI_VERSION,
                                .min_host_abi = KP_ABI_OLDEST_HOST, .name = "texts", .version = "1", .sdk_version = "c",
                                .functions = functions, .functions_end = functions + 4};
KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void);
KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void) { return &module; }
"""


def test_a_text_may_say_which_abi_it_is_written_for(headers: Path) -> None:
    module = host.load(build(headers, "texts.c", TEXTS))
    assert host.function(module, "plain").program is not None
    assert host.function(module, "today").program is not None
    with pytest.raises(host.Raised) as caught:
        host.function(module, "versioned")
    assert caught.value.message == "versioned: " + REFUSED_WORD.format("")
    with pytest.raises(host.Raised) as caught:
        host.function(module, "bare")
    assert caught.value.kind == "ImportError"
    head, tail = REFUSED_WORD.split("{}")
    assert caught.value.message.startswith(f"bare: {head} (bare: signature, position 23: the properties are quick, ")
    assert caught.value.message.endswith(f"){tail}")


def test_a_backend_plugin_of_another_major_is_refused_by_name(tmp_path: Path) -> None:
    library = host.lib()
    older, newer = "install a newer build of the backend", "run `pip install -U kernpack`"
    for major, advice in ((0, older), (2, newer), (100, newer), (12345678901, newer)):
        source = tmp_path / f"plugin{major}.c"
        source.write_text(
            "#include <stdlib.h>\n__attribute__((constructor)) static void loud(void) { abort(); }\n"
            f"const void* kp_backend_v{major}(int index);\nconst void* kp_backend_v{major}(int index) {{ return index ? 0 : 0; }}\n"
        )
        out = source.with_suffix(".so")
        subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", out], check=True)
        assert library.kp_backend_load(str(out).encode()) == -1
        error = host.take_error()
        assert error.message == (
            f"kp_backend_load: '{out}' needs a host of device ABI {major}.x (it exports kp_backend_v{major}), "
            f"this is kernpack {library.kp_version().decode()} with device ABI 1.0, which loads every 1.x; {advice}"
        )


def test_version_1_sizes_stay_when_structs_grow(headers: Path) -> None:
    pins = headers.parent / "pins.c"
    pins.write_text(
        "#include <kernpack/abi.h>\n"
        "extern char v1[KP_HOST_SIZE_V1 == 160 && sizeof(KpHost) == 168 ? 1 : -1];\n"
        "extern char has[KP_SIZE_THROUGH(KpHost, ping_of_1_1) == 168 ? 1 : -1];\n"
    )
    subprocess.run(["gcc", "-std=c99", "-fsyntax-only", f"-I{headers}", pins], check=True)


RESERVED_WORDS = {
    "(x: q4[N]) -> ()": "block dtypes (q4, q8 and their kinds) are reserved for a later ABI",
    "(x: T[N]) -> () where T in {f32, q8_0}": "block dtypes (q4, q8 and their kinds) are reserved for a later ABI",
    "(x: f32[N]) -> (y: q4_k[N])": "block dtypes (q4, q8 and their kinds) are reserved for a later ABI",
    "(q8: f32[N]) -> ()": "this name is reserved",
    "(x: f32[N] aligned(64)) -> ()": "'aligned' is reserved for a later ABI",
    "2.0 (x: f32[N]) -> ()": "the signature needs a host of ABI 2.0 or newer; this is 1.0",
    "1 (x: f32[N]) -> ()": "expected the ABI that the text is written for",
}


@pytest.mark.parametrize("text", RESERVED_WORDS)
def test_words_reserved_for_later_are_refused_by_name(text: str) -> None:
    library = host.lib()
    library.kp_signature_parse.argtypes = (host.Bytes, ctypes.c_char_p, ctypes.c_void_p)
    out = ctypes.c_void_p()
    assert library.kp_signature_parse(host.Bytes(text.encode(), len(text)), None, ctypes.byref(out)) == -1
    assert RESERVED_WORDS[text] in host.take_error().message


def test_sub_byte_dtypes_have_names_already() -> None:
    library = host.lib()
    library.kp_signature_parse.argtypes = (host.Bytes, ctypes.c_char_p, ctypes.c_void_p)
    text = b"1.0 f(x: i4[N], y: u4[N], z: f4_e2m1fn[N]) -> ()"
    out = ctypes.c_void_p()
    host.check(library.kp_signature_parse(host.Bytes(text, len(text)), b"f", ctypes.byref(out)))


def test_the_hook_for_profilers_is_reserved() -> None:
    library = host.lib()
    library.kp_extension_register.argtypes = (host.Bytes, ctypes.c_uint32, ctypes.c_void_p)
    table = ctypes.c_uint32(4)
    assert library.kp_extension_register(host.Bytes(b"kernpack.profiler", 17), 1, ctypes.byref(table)) == -1
    assert host.take_error().message == (
        "kp_extension_register: 'kernpack.profiler' is reserved for a later ABI, this is 1.0; pip install -U kernpack"
    )


def test_block_dtypes_are_refused_by_number() -> None:
    class Tensor(ctypes.Structure):
        _fields_ = (
            ("data", ctypes.c_void_p),
            ("device", host.Device),
            ("ndim", ctypes.c_int32),
            ("dtype", ctypes.c_uint32),
            ("shape", ctypes.c_void_p),
            ("strides", ctypes.c_void_p),
            ("byte_offset", ctypes.c_uint64),
        )

    tensor = Tensor(None, host.Device(1, 0), 0, 128 | 4 << 8 | 1 << 16, None, None, 0)
    assert host.lib().kp_dltensor_validate(ctypes.byref(tensor), b"x") == -1
    assert host.take_error().message == (
        "x: dtype code is 128; codes from 128 up are reserved for block formats of a later ABI"
    )


BACKEND = """
#include <kernpack/device_api.h>
static int open_none(const KpHost* host, int32_t type, const KpDeviceApi** out, KpAny* reason) {
  (void)host, (void)type, (void)reason;
  *out = NULL;
  return 0;
}
static const KpBackend backends[] = {
    {.struct_size = sizeof(KpBackend), .abi_version = KP_DEVICE_ABI_VERSION, .name = "first", .open = open_none},
    {.struct_size = sizeof(KpBackend), .abi_version = KP_DEVICE_ABI_VERSION, .name = "second", .open = open_none,
     .min_host_abi = NEEDS, .spare = {SPARE}}};
KP_EXPORT_SYMBOL const KpBackend* kp_backend_v1(int32_t index);
const KpBackend* kp_backend_v1(int32_t index) { return index < 2 ? &backends[index] : 0; }
"""


@pytest.mark.parametrize(
    ("needs", "spare", "expected"),
    [
        ("0", "0", "runs on hosts of ABI 1.0 and newer"),
        ("0x10003", "0", "runs on hosts of ABI 1.3 and newer"),
        ("0", "backends", "hosts of ABI 1.0 refuse it, as it sets a field that was reserved then"),
    ],
)
def test_check_tells_the_oldest_host_of_a_backend(needs: str, spare: str, expected: str, tmp_path: Path) -> None:
    source = tmp_path / "backend.c"
    source.write_text(BACKEND)
    out = source.with_suffix(".so")
    options = [
        f"-I{host.INCLUDE}",
        f"-DNEEDS={needs}",
        f"-DSPARE={spare}",
        "-Wl,-z,relro,-z,now",
        "-fvisibility=hidden",
    ]
    subprocess.run(["gcc", "-std=c99", "-shared", "-fPIC", *options, source, "-o", out], check=True)
    assert check.check(out) == []
    assert re.match(rf"ok, [\d.]+ KB, a backend, needs .*, {re.escape(expected)}", check.describe(out))
