"""kernpack_add_module(): what it links, what it refuses, and what it warns of."""

from __future__ import annotations

import re

import pytest
from author_project import MODULE
from kernpack_sdk import check, elf, include_dir

ADD = "kernpack_add_module(m SOURCES m.cc)\n"


def test_a_plain_module_has_no_problem(build) -> None:
    built = build(ADD, {"m.cc": MODULE})
    assert built.ok, built.log
    assert "warning" not in built.log.lower()
    assert check.check(built.folder / "m.so") == []
    assert elf.read(built.folder / "m.so").exports == ("__tvm_ffi_copy", "kp_module_v1")


def test_a_module_holds_no_path_of_the_machine_that_built_it(build) -> None:
    """But from the project's folder on, for where an error came from."""
    checked = MODULE.replace("  for (", '  KP_CHECK(x.numel() < 9, ValueError) << "too many";\n  for (')
    built = build("kernpack_add_module(m SOURCES ops/m.cc)\n", {"ops/m.cc": checked})
    assert built.ok, built.log
    content = (built.folder / "m.so").read_bytes()
    assert b"\0ops/m.cc\0" in content
    assert str(include_dir()).encode() not in content
    assert str(built.folder.parent).encode() not in content


@pytest.mark.parametrize("flag", ["-ffast-math", "-Ofast", "-funsafe-math-optimizations"])
def test_fast_math_for_the_compiler_does_not_reach_the_linker(build, flag: str) -> None:
    built = build(ADD, {"m.cc": MODULE}, f"-DCMAKE_CXX_FLAGS={flag}")
    assert built.ok, built.log


def test_fast_math_for_the_linker_is_refused(build) -> None:
    built = build(ADD + "target_link_options(m PRIVATE -ffast-math)\n", {"m.cc": MODULE})
    assert not built.ok
    assert "m.so: linked with -ffast-math or -Ofast: loading it would change floating-point results" in built.text


def test_another_exported_symbol_is_refused(build) -> None:
    leak = 'extern "C" __attribute__((visibility("default"))) int leak() { return 1; }\n'
    options = "set_target_properties(m PROPERTIES LINK_OPTIONS -Wl,-z,start-stop-visibility=hidden)\n"
    built = build(ADD + options, {"m.cc": MODULE + leak})
    assert not built.ok
    # Without its version script ld exports the section's bounds too; the first one found is named.
    named = re.search(r"m\.so: exports '(\w+)'\. A module exports kp_module_v1 and __tvm_ffi_<name> only", built.text)
    assert named
    assert named[1] in ("leak", "__start_kp_defs", "__stop_kp_defs")


def test_a_module_without_kp_module_is_refused(build) -> None:
    built = build(ADD, {"m.cc": MODULE.replace('KP_MODULE("m", "1.0.0");', "")})
    assert not built.ok


def test_copying_a_vector_needs_no_newer_system(build) -> None:
    user = "#include <vector>\nstd::vector<float> CopyOf(const std::vector<float>& x) { return x; }\n"
    use = "#include <vector>\nstd::vector<float> CopyOf(const std::vector<float>&);\nstatic void"
    built = build(
        "kernpack_add_module(m SOURCES m.cc copy.cc)\n",
        {"m.cc": MODULE.replace("static void", use, 1).replace(
            "int64_t i = 0", "int64_t i = static_cast<int64_t>(CopyOf({}).size())"), "copy.cc": user},
    )  # fmt: skip
    assert built.ok, built.log
    assert "newer system" not in built.text


def test_a_newer_c_library_is_named_with_symbol_and_object(build) -> None:
    user = "#include <stdlib.h>\nunsigned Random() { return arc4random(); }\n"  # new in glibc 2.36
    built = build(
        "kernpack_add_module(m SOURCES m.cc random.cc)\n",
        {"m.cc": MODULE.replace("static void", "unsigned Random();\nstatic void").replace(
            "int64_t i = 0", "int64_t i = Random() & 0"), "random.cc": user},
    )  # fmt: skip
    assert built.ok, built.log
    assert "m.so: needs a newer system than glibc 2.28" in built.text
    assert "arc4random@GLIBC_2.36, used by random.cc.o" in built.text


def test_a_foreign_library_is_named(build) -> None:
    use = '#include <kernpack/abi.h>\nextern "C" unsigned kp_other();\n'
    other = "add_library(other SHARED other.cc)\ntarget_link_libraries(m PRIVATE other)\n"
    built = build(
        ADD + other,
        {"m.cc": use + MODULE.replace("int64_t i = 0", "int64_t i = kp_other()"),
         "other.cc": 'extern "C" unsigned kp_other() { return 0; }\n'},
    )  # fmt: skip
    assert built.ok, built.log
    assert "m.so: needs libother.so, which must be installed wherever this module is loaded" in built.text


def test_an_undefined_symbol_is_a_link_error(build) -> None:
    built = build(
        ADD, {"m.cc": "int64_t_missing();\n".replace("int64_t_", "int ") + MODULE.replace("= 0", "= missing()")}
    )
    assert not built.ok
    assert "undefined reference to `missing()'" in built.log


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("kernpack_add_module(m)", "SOURCES is empty"),
        ("kernpack_add_module(m SOURCE m.cc)", "unknown argument 'SOURCE"),
        ("kernpack_add_module(m SOURCES m.cc VARIANT_SOURCES v.cc)", "VARIANT_SOURCES needs VARIANTS"),
        (
            "set(CMAKE_SYSTEM_PROCESSOR aarch64)\nkernpack_add_module(m SOURCES m.cc VARIANT_SOURCES v.cc VARIANTS x86-64-v2)",
            "VARIANTS: x86-64-v2 is a level of x86_64, and this build is for aarch64",
        ),
        (
            "kernpack_add_module(m SOURCES m.cc VARIANT_SOURCES v.cc VARIANTS armv8-a armv9-a+sve2)",
            "VARIANTS: expected armv8-a, armv8.1-a, armv8.2-a or armv8.3-a and features, as in armv8.2-a+dotprod, got armv9-a+sve2",
        ),
        ("kernpack_embed(m NAME 1x SOURCES m.cc)", "NAME: expected a C identifier, got '1x'"),
    ],
)
def test_wrong_calls_are_explained(build, call: str, message: str) -> None:
    built = build(call + "\n", {"m.cc": MODULE})
    assert not built.ok
    assert message in built.text


VARIANT = """\
#define STRINGIFY_(x) #x
#define STRINGIFY(x) STRINGIFY_(x)
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#ifndef KP_TARGET
#define KP_TARGET "baseline"
#endif
extern const char* const CAT(target_, KP_VARIANT);
const char* const CAT(target_, KP_VARIANT) = "target of " STRINGIFY(KP_VARIANT) " is " KP_TARGET;
"""


def test_variants_are_compiled_once_a_level(build) -> None:
    use = "extern const char* const target_x86_64_v2;\nextern const char* const target_x86_64_v4;\n"
    used = MODULE.replace("= 0", "= target_x86_64_v2 == target_x86_64_v4")
    built = build(
        "kernpack_add_module(m SOURCES m.cc VARIANT_SOURCES v.cc VARIANTS x86-64-v2 x86-64-v4)\n",
        {"m.cc": use + used, "v.cc": VARIANT},
    )
    assert built.ok, built.log
    content = (built.folder / "m.so").read_bytes()
    assert b"target of x86_64_v2 is baseline\0" in content
    assert b"target of x86_64_v4 is llvm -mcpu=x86-64-v4\0" in content
    ninja = (built.folder / "build.ninja").read_text()
    link = next(line for line in ninja.splitlines() if line.startswith("build m.so:"))
    order = [link.index(f"{part}.dir") for part in ("/m", "m_x86_64_v2", "m_x86_64_v4")]
    assert order == sorted(order)  # inline functions come from the narrowest instruction set


def test_a_variant_may_name_features(build) -> None:
    only = 'set_source_files_properties(w.cc PROPERTIES KERNPACK_VARIANTS "x86-64-v2")\n'
    level = "x86-64-v4+avx512vnni+avx512bf16"
    built = build(
        only + f"kernpack_add_module(m SOURCES m.cc VARIANT_SOURCES v.cc w.cc VARIANTS x86-64-v2 {level})\n",
        {
            "m.cc": "extern const char* const target_x86_64_v4_avx512vnni_avx512bf16;\n"
            + MODULE.replace("= 0", "= target_x86_64_v4_avx512vnni_avx512bf16 == nullptr"),
            "v.cc": VARIANT,
            "w.cc": "#ifdef __AVX512F__\n#error compiled for a level that isn't listed\n#endif\n",
        },
    )
    assert built.ok, built.log
    content = (built.folder / "m.so").read_bytes()
    assert b"is llvm -mcpu=x86-64-v4 -mattr=+avx512vnni,+avx512bf16\0" in content
    assert "-march=x86-64-v4 -mavx512vnni -mavx512bf16" in (built.folder / "build.ninja").read_text()


def test_a_level_of_arm_asks_for_its_features(build) -> None:
    """Only configured: tests/aarch64 runs such levels."""
    built = build(
        "kernpack_add_module(m SOURCES m.cc VARIANT_SOURCES v.cc VARIANTS armv8-a armv8.2-a+dotprod+i8mm)\n",
        {"m.cc": MODULE, "v.cc": VARIANT},
    )
    assert not built.ok  # this is another processor's compiler
    ninja = (built.folder / "build.ninja").read_text()
    assert "-march=armv8-a\n" in ninja
    assert "-march=armv8.2-a+dotprod+i8mm\n" in ninja
    assert "llvm -mattr=+crc,+lse,+rdm,+dotprod,+i8mm -mtriple=aarch64-linux-gnu" in ninja


def test_a_variant_without_sources_is_explained(build) -> None:
    built = build(
        'set_source_files_properties(v.cc PROPERTIES KERNPACK_VARIANTS "x86-64-v2")\n'
        "kernpack_add_module(m SOURCES m.cc VARIANT_SOURCES v.cc VARIANTS x86-64-v2 x86-64-v3)\n",
        {"m.cc": MODULE, "v.cc": VARIANT},
    )
    assert not built.ok
    assert "no file of VARIANT_SOURCES is compiled for x86-64-v3, which VARIANTS lists" in built.text


def test_the_content_hash_follows_the_sources(build) -> None:
    def digest() -> bytes:
        found = re.findall(rb"\0([0-9a-f]{64})\0", (built.folder / "m.so").read_bytes())
        assert len(found) == 1
        return found[0]

    built = build(ADD, {"m.cc": MODULE})
    first = digest()
    built = build(ADD, {"m.cc": MODULE})
    assert digest() == first
    built = build(ADD, {"m.cc": MODULE.replace("1.0.0", "1.0.1")})
    assert built.ok, built.log
    assert digest() != first


def test_a_source_in_a_language_that_the_project_leaves_out(build) -> None:
    done = build("kernpack_add_module(m SOURCES m.cc gpu.cu DESTINATION m)\n", {"m.cc": MODULE, "gpu.cu": ""})
    assert not done.ok
    assert "gpu.cu is in CUDA, which this project doesn't compile; write project(... LANGUAGES" in done.text


def test_a_contract_that_does_not_parse_is_explained(build) -> None:
    """By plain CMake too: the compiler runs inside the explainer."""
    done = build(
        "kernpack_add_module(m SOURCES m.cc DESTINATION m)\n", {"m.cc": MODULE.replace("x: f32[N]", "x: f33[N]")}
    )
    assert not done.ok
    assert (
        "m.cc:7: the contract of 'copy' doesn't parse: no such dtype 'f33'; did you mean 'f32'? (x: f33[N])"
        in done.text
    )
    assert "static assertion failed" not in done.text
