"""load_inline's cache: nothing that determines what is compiled may change unnoticed, and nothing damaged is loaded."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import kernpack
import pytest
from kernpack_sdk import progress
from kernpack_sdk.cache import Compiler, Request, build, compiled, lookups, machine, private
from support import caches

INCLUDES = '#include "answer.h"\nextern "C" int answer() { return ANSWER; }\n'
INCBIN = r"""asm(".pushsection .rodata\ndata_of_answer: .incbin \"@\"\n.popsection");
extern const unsigned char data_of_answer[] __attribute__((visibility("hidden")));
extern "C" int answer() { return data_of_answer[0]; }
"""
PRINTS = """
import sys, kernpack
source = '#include "answer.h"\\nint answer() { return ANSWER; }'
print(kernpack.load_inline(source, ["answer"], name="answers", extra_flags=[f"-I{sys.argv[1]}"]).answer())
"""


class Maker:
    """Compiles into one cache, and counts how often the compiler ran."""

    def __init__(self, folder: Path) -> None:
        self.cache = folder / "cache"
        self.compiler = ["g++"]
        self.runs = 0

    def path(self, text: str, *flags: str, link: tuple[str, ...] = ()) -> Path:
        options = ["-shared", "-fPIC", "-O1", *flags]
        return compiled(Request(text, Compiler(self.compiler), options, link), self.cache, "m")

    def answer(self, text: str = INCLUDES, *flags: str, link: tuple[str, ...] = ()) -> int:
        return int(ctypes.CDLL(str(self.path(text, *flags, link=link))).answer())


@pytest.fixture
def maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Maker:
    made = Maker(tmp_path)
    real = build._compile

    def counted(*arguments):
        made.runs += 1
        return real(*arguments)

    monkeypatch.setattr(build, "_compile", counted)
    return made


def write(path: Path, answer: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#define ANSWER {answer}\n")
    return path


def script(path: Path, text: str) -> list[str]:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return [str(path)]


def test_a_header_that_changes_is_read_again_in_this_process_and_in_another(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNPACK_CACHE_DIR", str(caches.with_support(tmp_path / "cache")))
    source = '#include "answer.h"\nint answer() { return ANSWER; }'
    for number in (41, 43):
        write(tmp_path / "answer.h", number)
        k = kernpack.load_inline(source, ["answer"], name="answers", extra_flags=[f"-I{tmp_path}"])
        assert k.answer() == number
    write(tmp_path / "answer.h", 44)
    child = subprocess.run([sys.executable, "-c", PRINTS, str(tmp_path)], capture_output=True, text=True, check=False)
    assert child.stdout == "44\n", child.stderr


def test_what_did_not_change_is_not_compiled_again(maker, tmp_path):
    header = write(tmp_path / "answer.h", 41)
    for _ in range(2):
        assert maker.answer(INCLUDES, f"-I{tmp_path}") == 41
    os.utime(header)  # another time, the same content
    assert maker.answer(INCLUDES, f"-I{tmp_path}") == 41
    assert maker.runs == 1


def test_a_header_with_its_old_size_and_time_is_read_again(maker, tmp_path):
    header = write(tmp_path / "answer.h", 41)
    before = header.stat()
    assert maker.answer(INCLUDES, f"-I{tmp_path}") == 41
    write(header, 43)
    os.utime(header, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert maker.answer(INCLUDES, f"-I{tmp_path}") == 43


@pytest.mark.parametrize("shadow", ["first/answer.h", "missing/answer.h", "second/sub/answer.h"])
def test_a_header_that_appears_earlier_on_the_path_is_found(maker, tmp_path, shadow):
    (tmp_path / "first").mkdir()
    (tmp_path / "second" / "sub").mkdir(parents=True)
    (tmp_path / "second" / "sub" / "outer.h").write_text('#include "answer.h"\n')
    write(tmp_path / "second" / "answer.h", 41)
    source = INCLUDES.replace("answer.h", "sub/outer.h")
    flags = [f"-I{tmp_path / name}" for name in ("missing", "first", "second")]
    assert maker.answer(source, *flags) == 41
    write(tmp_path / shadow, 43)
    assert maker.answer(source, *flags) == 43


@pytest.mark.parametrize(
    "question", ["__has_include(<sub/extra.h>)", "__has_include(NAME)"], ids=["named", "computed_by_a_macro"]
)
def test_a_header_that_is_only_asked_about_is_noticed(maker, tmp_path, question):
    (tmp_path / "sub").mkdir()
    source = f"""
#define NAME <sub/extra.h>
#if {question}
extern "C" int answer() {{ return 43; }}
#else
extern "C" int answer() {{ return 41; }}
#endif
"""
    assert [maker.answer(source, f"-I{tmp_path}") for _ in range(2)] == [41, 41]
    assert maker.runs == 1
    write(tmp_path / "sub" / "extra.h", 0)
    assert maker.answer(source, f"-I{tmp_path}") == 43


def test_a_header_that_was_only_asked_about_and_goes_is_noticed(maker, tmp_path):
    source = """
#if __has_include("extra.h")
extern "C" int answer() { return 41; }
#else
extern "C" int answer() { return 43; }
#endif
"""
    header = write(tmp_path / "extra.h", 0)
    assert maker.answer(source, f"-I{tmp_path}") == 41
    header.unlink()
    assert maker.answer(source, f"-I{tmp_path}") == 43


def test_a_name_that_a_macro_computes_costs_no_compiler_and_is_noticed(maker, tmp_path, monkeypatch):
    asked = []
    real = lookups.preprocess
    monkeypatch.setattr(lookups, "preprocess", lambda *arguments: asked.append(1) or real(*arguments))
    (tmp_path / "first").mkdir()
    write(tmp_path / "second" / "answer.h", 41)
    source = INCLUDES.replace('"answer.h"', "NAME")
    flags = ["-DNAME=<answer.h>", f"-I{tmp_path / 'first'}", f"-I{tmp_path / 'second'}"]
    assert [maker.answer(source, *flags) for _ in range(2)] == [41, 41]
    assert [maker.runs, len(asked)] == [1, 1]
    write(tmp_path / "first" / "answer.h", 43)
    assert maker.answer(source, *flags) == 43


def test_a_header_is_looked_for_beside_the_file_whatever_a_line_directive_says(maker, tmp_path):
    (tmp_path / "first").mkdir()
    write(tmp_path / "second" / "answer.h", 41)
    (tmp_path / "first" / "made.h").write_text(
        '#line 7 "elsewhere/grammar.y"\n#include <limits.h>\n#include "answer.h"\n'
    )
    flags = [f"-I{tmp_path / 'second'}"]
    source = INCLUDES.replace("answer.h", f"{tmp_path}/first/made.h")
    assert maker.answer(source, *flags) == 41
    write(tmp_path / "first" / "answer.h", 43)
    assert maker.answer(source, *flags) == 43


@pytest.mark.parametrize("spelled", ["absolute", "on the path", "by a macro", "by the assembler's .include"])
def test_data_that_only_the_assembler_reads_counts(maker, tmp_path, spelled):
    folder = tmp_path / "my data"
    folder.mkdir()
    data = folder / "answer.bin"
    data.write_bytes(bytes([41]))
    text, flags = INCBIN.replace("@", str(data)), [f"-I{folder}"]
    if spelled == "on the path":
        text = INCBIN.replace("@", data.name)
    elif spelled == "by a macro":
        text, flags = INCBIN.replace('\\"@\\"', '" DATA "'), [f'-DDATA="\\"{data}\\""']
    elif spelled.startswith("by the"):
        (folder / "words.s").write_text(f'.incbin "{data}"\n')
        text = INCBIN.replace(".incbin", ".include").replace("@", "words.s")
    assert [maker.answer(text, *flags), maker.answer(text, *flags), maker.runs] == [41, 41, 1]
    data.write_bytes(bytes([43]))
    assert [maker.answer(text, *flags), maker.answer(text, *flags), maker.runs] == [43, 43, 2]


def test_data_that_appears_earlier_on_the_path_is_found(maker, tmp_path):
    for folder, number in (("second", 41), ("first", 43)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "answer.bin").write_bytes(bytes([number]))
        flags = [f"-I{tmp_path / name}" for name in ("first", "second")]
        assert maker.answer(INCBIN.replace("@", "answer.bin"), *flags) == number


CLANG = pytest.param(
    "clang++-19", "-O1", marks=pytest.mark.skipif(shutil.which("clang++-19") is None, reason="needs clang++-19")
)


@pytest.mark.parametrize("spelled", ["whole", "in two strings", "by a macro"])
@pytest.mark.parametrize(("compiler", "flag"), [("g++", "-flto"), CLANG])
def test_data_of_an_assembler_that_lists_nothing_is_read_each_time(maker, tmp_path, compiler, flag, spelled):
    maker.compiler = [compiler]
    data = tmp_path / "answer.bin"
    text = INCBIN.replace("@", str(data))
    if spelled == "in two strings":
        text = text.replace(".incbin", '.inc"\n\n"bin')
    elif spelled == "by a macro":
        text = '#define NAMED(text) ".inc" #text\n' + text.replace(".incbin", '" NAMED(bin) "')
    for number, answer in enumerate((41, 43, 43), 1):
        data.write_bytes(bytes([answer]))
        assert maker.answer(text, flag) == answer
        assert maker.runs == number


def test_data_that_is_read_when_an_object_is_linked_is_read_each_time(maker, tmp_path):
    data = tmp_path / "answer.bin"
    for answer in (41, 43):
        data.write_bytes(bytes([answer]))
        text, flags = INCBIN.replace("@", str(data)), ["-fPIC", "-flto", "-frandom-seed=1"]
        part = compiled(Request(text, Compiler(["g++"]), flags, kind=".o"), maker.cache, "part")
        whole = compiled(Request("", Compiler(["g++"]), [*flags, "-shared"], (), [part]), maker.cache, "whole")
        assert ctypes.CDLL(str(whole)).answer() == answer


@pytest.mark.parametrize("variable", ["CPATH", "CPLUS_INCLUDE_PATH"])
def test_variables_that_the_compiler_reads_count(maker, tmp_path, monkeypatch, variable):
    for number in (41, 43):
        write(tmp_path / str(number) / "answer.h", number)
        monkeypatch.setenv(variable, str(tmp_path / str(number)))
        assert maker.answer() == number


def test_relative_paths_count_from_where_they_are_used(maker, tmp_path, monkeypatch):
    for number in (41, 43):
        write(tmp_path / str(number) / "include" / "answer.h", number)
        monkeypatch.chdir(tmp_path / str(number))
        assert maker.answer(INCLUDES, "-Iinclude") == number


def test_another_compiler_at_the_same_path_compiles_again(maker, tmp_path):
    source = 'extern "C" int answer() { return ANSWER; }'
    for number in (41, 43):
        maker.compiler = script(tmp_path / "cxx", f'exec g++ -DANSWER={number} "$@"')
        os.utime(tmp_path / "cxx", (1, 1))
        assert maker.answer(source) == number


def test_another_compiler_behind_a_wrapper_compiles_again(maker, tmp_path):
    source = 'extern "C" int answer() { return ANSWER; }'
    maker.compiler = script(tmp_path / "wrapper", f'exec {tmp_path}/inner "$@"')
    for number in (41, 43):
        script(tmp_path / "inner", f'test "$*" = -v && echo version {number}; exec g++ -DANSWER={number} "$@"')
        assert maker.answer(source) == number


def test_another_processor_compiles_again(maker, monkeypatch):
    source = 'extern "C" int answer() { return 41; }'
    assert maker.answer(source, "-march=native") == 41
    monkeypatch.setattr(machine, "processor", lambda: "another")
    assert maker.answer(source, "-march=native") == 41
    assert maker.runs == 2


# A linker as it was before it could list what it reads.
OLD_LINKER = """
case "$*" in *--help*) echo 'Usage: ld [options] file...'; exit 0;; *--dependency-file*) exit 1;; esac
exec ld "$@"
"""


@pytest.mark.parametrize("linker", ["bfd", "gold", "lld", "mold", "that lists nothing"])
def test_a_library_that_changes_or_appears_first_is_linked_again(maker, tmp_path, linker):
    source = 'extern "C" int number(); extern "C" int answer() { return number(); }'

    def library(folder: str, number: int) -> None:
        (tmp_path / folder).mkdir(exist_ok=True)
        path = tmp_path / folder / "libnumber.a"
        path.unlink(missing_ok=True)
        (tmp_path / "number.c").write_text(f"int number(void) {{ return {number}; }}\n")
        subprocess.run(["gcc", "-fPIC", "-c", "number.c", "-o", "number.o"], cwd=tmp_path, check=True)
        subprocess.run(["ar", "rcs", str(path), "number.o"], cwd=tmp_path, check=True)

    if linker == "that lists nothing":
        (tmp_path / "old").mkdir()
        script(tmp_path / "old" / "ld", OLD_LINKER)
        chosen = f"-B{tmp_path / 'old'}"
    elif shutil.which(f"ld.{linker}"):
        chosen = f"-fuse-ld={linker}"
    else:
        pytest.skip(f"ld.{linker} isn't installed")
    link = (f"-L{tmp_path / 'the first'}", f"-L{tmp_path / 'the second'}", "-lnumber", chosen)
    library("the second", 41)
    assert [maker.answer(source, link=link) for _ in range(2)] == [41, 41]
    assert maker.runs == 1
    library("the second", 43)
    assert maker.answer(source, link=link) == 43
    library("the first", 44)
    assert maker.answer(source, link=link) == 44


def test_an_object_in_a_linker_script_counts(maker, tmp_path):
    source = 'extern "C" int number(); extern "C" int answer() { return number(); }'
    (tmp_path / "libnumber.so").write_text(f"INPUT({tmp_path / 'number.o'})\n")
    for answer in (41, 43):
        (tmp_path / "number.c").write_text(f"int number(void) {{ return {answer}; }}\n")
        subprocess.run(["gcc", "-fPIC", "-c", "number.c", "-o", "number.o"], cwd=tmp_path, check=True)
        assert maker.answer(source, link=(f"-L{tmp_path}", "-lnumber")) == answer


def test_a_header_that_changes_while_it_is_compiled_is_compiled_again(maker, tmp_path):
    header = write(tmp_path / "answer.h", 41)
    maker.compiler = script(
        tmp_path / "cxx", f'g++ "$@" || exit 1\ncase "$*" in *.so*) echo "#define ANSWER 43" > {header};; esac'
    )
    assert maker.answer(INCLUDES, f"-I{tmp_path}") == 41  # what was there when it began
    assert maker.answer(INCLUDES, f"-I{tmp_path}") == 43


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def into_folder(path: Path) -> None:
    path.unlink()
    (path / "inside").mkdir(parents=True)


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "flipped": flip,
    "a_folder": into_folder,
    "gone": lambda path: path.unlink(),
    "writable_by_others": lambda path: path.chmod(0o666),
}


@pytest.mark.parametrize(
    ("damage", "suffix"),
    [*((name, ".so") for name in DAMAGE), ("cut", ".json"), ("flipped", ".json"), ("a_folder", ".json")],
)
def test_a_damaged_entry_is_made_again(maker, damage, suffix):
    source = 'extern "C" int answer() { return 41; }'
    whole = maker.path(source).read_bytes()
    DAMAGE[damage](next(maker.cache.glob(f"*{suffix}")))
    assert maker.path(source).read_bytes() == whole
    assert maker.runs == 2
    assert maker.path(source).read_bytes() == whole
    assert maker.runs == 2


def test_what_a_killed_build_left_is_removed(maker):
    source = 'extern "C" int answer() { return 41; }'
    half = maker.cache / ".build_killed"
    half.mkdir(parents=True)
    (half / "made.so").write_bytes(b"\x7fELF")
    (maker.cache / ".partial_killed").write_bytes(b"{")
    assert maker.answer(source) == 41
    assert not list(maker.cache.glob(".*"))


def test_a_build_in_progress_is_left_alone(maker):
    theirs = maker.cache / ".build_theirs"
    theirs.mkdir(parents=True)
    handle = os.open(theirs, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        assert maker.answer('extern "C" int answer() { return 42; }') == 42
        assert list(maker.cache.glob(".*")) == [theirs]
    finally:
        os.close(handle)


def test_the_folder_is_its_users_alone(maker):
    source = 'extern "C" int answer() { return 41; }'
    before = os.umask(0)
    try:
        maker.path(source)
        assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in [maker.cache, *maker.cache.iterdir()]} == {0}
        maker.cache.chmod(0o777)
        maker.path(source)
        assert stat.S_IMODE(maker.cache.stat().st_mode) == 0o700
    finally:
        os.umask(before)


def test_files_of_another_user_are_not_taken(maker, monkeypatch):
    source = 'extern "C" int answer() { return 41; }'
    result = maker.path(source)
    if os.geteuid() == 0:
        os.chown(result, 4242, -1)
        maker.path(source)
        assert maker.runs == 2
        os.chown(maker.cache, 4242, -1)
    else:
        monkeypatch.setattr(private.os, "geteuid", lambda: 4242)
    with pytest.raises(PermissionError, match=r"the cache folder .* belongs to user \d+.*set KERNPACK_CACHE_DIR"):
        maker.path(source)


# A compiler with nvcc's options, on g++: there is no nvcc on most machines.
NVCC = """
[ "$1" = --version ] && exec g++ --version
case " $* " in *" -E "*) set -- -D__CUDA_ARCH__=750 "$@" ;; esac
n=$#
while [ $n -gt 0 ]; do
  a=$1 && shift && n=$((n - 1))
  case $a in
    -Xcompiler) ;;
    cu) set -- "$@" c++ ;;
    *.cu) set -- "$@" -x c++ "$a" -x none ;;
    -print*) exit 1 ;;
    *) set -- "$@" "$a" ;;
  esac
done
exec g++ "$@"
"""


def test_cuda_sources_are_kept_and_notice_as_well(maker, tmp_path):
    maker.compiler = script(tmp_path / "nvcc", NVCC)
    (tmp_path / "first").mkdir()
    header = write(tmp_path / "second" / "answer.h", 41)
    flags = ["-shared", "-Xcompiler", "-fPIC", f"-I{tmp_path / 'first'}", f"-I{tmp_path / 'second'}"]

    def answer() -> int:
        request = Request(INCLUDES, Compiler(maker.compiler), flags, suffix=".cu")
        return int(ctypes.CDLL(str(compiled(request, maker.cache, "m"))).answer())

    assert [answer(), answer()] == [41, 41]
    assert maker.runs == 1
    write(header, 43)
    assert answer() == 43
    write(tmp_path / "first" / "answer.h", 44)
    assert answer() == 44


def test_compiling_cuda_sources_is_announced(maker, tmp_path, monkeypatch, capfd):
    """By one line that says what and where, one each while it takes long, and one with the time; what is kept needs no word."""
    monkeypatch.setattr(progress, "_EVERY", 0.2)
    maker.compiler = script(tmp_path / "nvcc", "sleep 0.3\n" + NVCC)

    def said(answer: str, name: str = "m") -> list[str]:
        source = f'extern "C" int answer() {{ return {answer}; }}\n'
        request = Request(source, Compiler(maker.compiler), ["-shared", "-Xcompiler", "-fPIC"], suffix=".cu")
        with contextlib.suppress(subprocess.CalledProcessError):
            compiled(request, maker.cache, name)
        return [re.sub(r"\d+ s", "N s", line) for line in capfd.readouterr().err.splitlines()]

    title = "kernpack: compiling the CUDA code of m with nvcc"
    first, *between, last = said("41")
    assert (first, last) == (f"{title}, into {maker.cache}", f"{title}: done after N s")
    assert set(between) == {f"{title}: not done yet, N s so far"}
    assert said("41") == []
    assert said("nothing")[-1] == f"{title}: failed after N s"
    monkeypatch.setenv("KERNPACK_PROGRESS", "0")
    assert said("42") == []


def test_a_header_that_one_pass_of_nvcc_reads_counts(maker, tmp_path):
    maker.compiler = script(tmp_path / "nvcc", NVCC)
    (tmp_path / "first").mkdir()
    source = '#ifdef __CUDA_ARCH__\n#include "answer.h"\n#endif\nextern "C" int answer() { return 41; }\n'
    flags = ["-shared", "-Xcompiler", "-fPIC", f"-I{tmp_path / 'first'}", f"-I{tmp_path / 'second'}"]
    request = Request(source, Compiler(maker.compiler), flags, suffix=".cu")
    for runs, folder, number in ((1, "second", 41), (2, "second", 43), (3, "first", 44)):
        write(tmp_path / folder / "answer.h", number)
        for _ in range(2):
            compiled(request, maker.cache, "m")
        assert maker.runs == runs


@pytest.mark.skipif(shutil.which("clang++-19") is None, reason="needs clang++-19")
def test_clang_keeps_and_notices_as_well(maker, tmp_path):
    maker.compiler = ["clang++-19"]
    (tmp_path / "first").mkdir()
    flags = [f"-I{tmp_path / 'first'}", f"-I{tmp_path / 'second'}"]
    write(tmp_path / "second" / "answer.h", 41)
    assert [maker.answer(INCLUDES, *flags) for _ in range(2)] == [41, 41]
    assert maker.runs == 1
    write(tmp_path / "first" / "answer.h", 43)
    assert maker.answer(INCLUDES, *flags) == 43
