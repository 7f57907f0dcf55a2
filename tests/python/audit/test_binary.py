"""`kernpack check` of one shared object: each fault is planted, and reported with its fix."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import kernpack
import pytest
from audit_inputs import SOURCE, Build
from kernpack_sdk import check
from kernpack_sdk.audit import Image, binary, tables


def test_a_plain_module_has_nothing(plain: Path) -> None:
    assert check.audit(plain) == []


def test_tables_are_read_without_loading(plain: Path) -> None:
    with Image(plain) as image:
        (module,) = tables.modules(image)
        assert (module.name, module.version) == ("my_kernels", "1.0.0")
        ((name, target),) = [(each.name, each.target) for each in module.variants]
        assert (name, target) == ("copy", None)
        assert "Copy" in image.symbols[module.variants[0].address]


STATIC = "namespace { struct AtLoad { AtLoad() { %s } } at_load; }\n"


@pytest.mark.parametrize(
    ("includes", "statement", "said"),
    [
        ("#include <cstdio>\n", 'std::puts("hello");', "prints (puts) when it is loaded"),
        ("#include <csignal>\n", "std::signal(SIGSEGV, SIG_IGN);", "changes the whole process (signal) when it is loaded"),
        ("#include <exception>\n", "std::set_terminate(nullptr);", "changes the whole process (_ZSt13set_terminatePFvvE)"),
        ("#include <xmmintrin.h>\n", "_mm_setcsr(_mm_getcsr() | 0x8040);", "sets flush-to-zero for the whole process"),
    ],
)  # fmt: skip
def test_what_start_up_code_does(build: Build, includes: str, statement: str, said: str) -> None:
    (problem,) = check.check(build(includes + SOURCE + STATIC % statement))
    assert problem.startswith(f"my_kernels.so: {said}")
    assert "; " in problem  # and what to do


def test_start_up_code_that_may_not_run_is_no_finding(build: Build) -> None:
    source = "#include <cstdio>\n#include <cstdlib>\n" + SOURCE
    assert check.check(build(source + STATIC % 'if (std::getenv("LOUD")) std::puts("hello");')) == []


def test_fast_math_start_up_code(build: Build) -> None:
    """gcc's own, which -ffast-math on the link line brings."""
    built = build(SOURCE, "-ffast-math")
    (problem,) = check.check(built)
    assert "sets flush-to-zero for the whole process (start-up code of -ffast-math) when it is loaded" in problem
    assert "link without -ffast-math" in problem


TILES = """
#include <immintrin.h>
__attribute__((target("avx512f,amx-tile,amx-bf16"))) static void Tiles(kp::TensorView, kp::MutTensorView) {
  _tile_dpbf16ps(0, 1, 2);
  _tile_release();
}
KP_EXPORT_FOR("llvm -mcpu=%s", copy, Tiles, "(x: f32[N]) -> (out: f32[N])");
"""


def test_matrix_tiles_belong_to_a_target_that_has_them(build: Build) -> None:
    assert check.check(build(SOURCE + TILES % "x86-64-v4 -mattr=+amx-bf16")) == []
    (problem,) = check.check(build(SOURCE + TILES % "x86-64-v4"))
    assert "its code for llvm -mcpu=x86-64-v4 uses amxbf16, amxtile (in " in problem


def test_an_executable_stack(build: Build) -> None:
    (problem,) = check.check(build(SOURCE, "-Wl,-z,execstack"))
    assert problem == (
        "my_kernels.so: asks for an executable stack; link with -Wl,-z,noexecstack, or fix the assembly file that asks for it"
    )


def test_text_relocations(build: Build) -> None:
    source = (
        'asm(".text\\n.hidden kp_word\\n.globl kp_word\\nkp_word: .quad kp_word\\n"); extern "C" long kp_word;\n'
        + SOURCE
    )
    source = source.replace("int64_t i = 0", "int64_t i = kp_word == 1")
    (problem,) = check.check(build(source, "-Wl,-z,notext"))
    assert "has text relocations, so the loader writes to its code; compile all of it with -fPIC" in problem


def test_paths_of_the_build_machine_are_noted(build: Build) -> None:
    source = SOURCE.replace("  for", '  KP_CHECK(x.numel() > 0, ValueError) << "/home/me/src/ops.cc";\n  for', 1)
    (note,) = check.audit(build(source))
    assert not note.serious
    assert (
        "holds paths of the machine that built it (/home/me/src/ops.cc); compile with -ffile-prefix-map=" in note.text
    )


@pytest.mark.parametrize(
    ("found", "folder"),
    [
        (b"\0/home/me/src/ops.cc\0", "/home/me/src"),
        (b"\0/home/me/a/ops.cc\0/home/me/b/rows.h\0", "/home/me"),
        (b"\0/home/me/src/ops.cc\0/tmp/build/rows.h\0", "/home/me/src"),
    ],
)
def test_the_folder_to_map_is_that_of_the_paths(found: bytes, folder: str) -> None:
    rodata = SimpleNamespace(name=".rodata", data=lambda: found)
    image = cast(Any, SimpleNamespace(faults=lambda: iter(()), sections=lambda: iter([rodata]), is_x86_64=False))
    (note,) = binary.findings(image)
    assert note.text.endswith(f"; compile with -ffile-prefix-map={folder}=.")


def test_a_second_openmp_runtime(build: Build) -> None:
    source = "#include <omp.h>\n" + SOURCE.replace("int64_t i = 0", "int64_t i = omp_get_max_threads() * 0")
    (problem,) = check.check(build(source, "-fopenmp"))
    assert problem.startswith(
        "my_kernels.so: needs libgomp.so.1, a second OpenMP runtime beside the framework's; use kp::par"
    )


AVX2 = SOURCE.replace("static void Copy", '__attribute__((target("avx2")))\nstatic void Copy')
SUM = "x.data_ptr<float>()[i]"


def test_instructions_above_the_baseline(build: Build) -> None:
    for source, option in ((AVX2, "-O3"), (SOURCE, "-march=x86-64-v3")):
        problems = check.check(build(source, "-O3", option))
        assert len(problems) == 1, problems
        assert "copy: its code for any processor (the baseline, x86-64-v2) uses avx" in problems[0]
        assert "compile it as a variant (VARIANTS of kernpack_add_module()), or without -march" in problems[0]


def test_code_that_asks_the_processor_first(build: Build) -> None:
    source = SOURCE.replace(
        "static void Copy",
        """__attribute__((target("avx2"), noinline)) static void Wide(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * 2;
}
static void Copy""",
    ).replace("  for (int64_t i = 0; i < x", """  if (__builtin_cpu_supports("avx2")) return Wide(x.data_ptr<float>(), out.data_ptr<float>(), x.numel());
  for (int64_t i = 0; i < x""")  # fmt: skip
    assert check.check(build(source, "-O3")) == []


def test_target_clones_ask_the_processor(build: Build) -> None:
    clones = '__attribute__((target_clones("avx2", "default"))) void Twice(float* y, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] *= 2; }\n'
    source = SOURCE.replace("static void Copy", clones + "static void Copy").replace(
        "  for", "  Twice(out.data_ptr<float>(), out.numel());\n  for", 1
    )
    assert check.check(build(source, "-O3", "-Wl,--exclude-libs,ALL")) == []


def test_variants_may_use_what_their_target_has(build: Build) -> None:
    """As KP_EXPORT in a file that kernpack_add_module() compiles for a level."""
    variant = SOURCE.replace("KP_EXPORT(", 'KP_EXPORT_FOR("llvm -mcpu=%s", ')
    for level, problems in (("x86-64-v3", 0), ("x86-64-v2", 1), ("znver4", 0)):  # what isn't known isn't judged
        found = check.check(build(variant % level, "-O3", "-march=x86-64-v3"))
        assert len(found) == problems, (level, found)


def test_the_kernels_of_this_project() -> None:
    assert check.check(Path(kernpack.load("kernpack_kernels").path)) == []


def test_damaged_files_are_refused_in_words(plain: Path, tmp_path: Path) -> None:
    content = plain.read_bytes()
    for size in (0, 3, 63, 64, 200, len(content) // 2, len(content) - 1):
        cut = tmp_path / "cut.so"
        cut.write_bytes(content[:size])
        found = check.audit(cut)
        assert all(each.text for each in found)
        assert found or size == len(content) - 1
