"""KERNPACK_BACKTRACE=1: errors name the functions and lines that led to them, from whatever the file's debug information says."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from debugged import C_SOURCE, CXX_SOURCE, Calls, find_line
from elftools.elf.elffile import ELFFile

RAISED = "ValueError: fail: expected less than 3, got 7\n"
TO_FAIL = (  # the innermost first
    find_line(CXX_SOURCE, "throws") + " in Helper(int)",
    find_line(CXX_SOURCE, "calls the helper") + " in Inlined(int)",
    find_line(CXX_SOURCE, "calls the inlined function") + " in Fail(int)",
)


def fail(calls: Calls, module: Path, function: str = "fail", **environment: str) -> str:
    """The backtrace of fail(7)."""
    done = calls.run(module, function, 7, KERNPACK_BACKTRACE="1", **environment)
    assert done.returncode == 1, done.stderr  # it did raise, and nothing crashed
    assert done.stdout.startswith(RAISED.replace("fail", function)), done.stdout
    return done.stdout.partition("\n")[2]


def names_lines(backtrace: str) -> bool:
    """Every frame, one under the other."""
    return '  File "'.join(["", *(frame + "\n" for frame in TO_FAIL)]) in backtrace


def names_functions(backtrace: str, file: str) -> bool:
    return re.search(rf'  File ".*/{file}", in Helper\(int\)\+0x[0-9a-f]+\n', backtrace) is not None


def damaged(module: Path, sections: tuple[str, ...], seed: int, into: Path) -> Path:
    """A copy with some bytes changed in sections of those names."""
    random_bytes = random.Random(seed)
    content = bytearray(module.read_bytes())
    with module.open("rb") as file:
        found = [s for s in ELFFile(file).iter_sections() if s.name.startswith(sections)]
        assert found
        for section in found:
            for _ in range(8):
                content[section["sh_offset"] + random_bytes.randrange(section["sh_size"])] = random_bytes.choice(
                    (0, 0x7F, 0x80, 0xFF, random_bytes.randrange(256))
                )
    target = into / f"damaged{seed}.so"
    target.write_bytes(content)
    return target


def test_names_the_lines_of_the_function_that_raised_and_of_those_that_called_it(calls: Calls, built: Path) -> None:
    backtrace = fail(calls, built / "kernels.so")
    assert names_lines(backtrace), backtrace
    assert re.search(r'/host\.c", line \d+, in main\n', backtrace), backtrace  # and of the program around it


def test_none_unless_asked_for(calls: Calls, built: Path) -> None:
    for wanted in ("", "0"):
        done = calls.run(built / "kernels.so", "fail", 7, KERNPACK_BACKTRACE=wanted)
        only = f'  File "{find_line(CXX_SOURCE, "throws")} in Helper\n'
        assert done.stdout == RAISED + only + "\n"


def test_a_kernel_in_c_is_named_from_what_raised_on(calls: Calls, built: Path) -> None:
    done = calls.run(built / "c_kernels.so", "fail", 7, KERNPACK_BACKTRACE="1")
    first, second = done.stdout.splitlines()[1:3]
    assert first == f'  File "{find_line(C_SOURCE, "raises")} in f'  # no mangled name: not "float"
    assert second == f'  File "{find_line(C_SOURCE, "calls the helper")} in FailInC'


def test_threads_that_are_the_first_to_ask_for_lines_together_all_get_them(calls: Calls, built: Path) -> None:
    calls_of_8 = calls.run(built / "kernels.so", "fail", 7, KERNPACK_BACKTRACE="1", THREADS="8")
    backtraces = calls_of_8.stdout.split(RAISED)[1:]
    assert len(backtraces) == 8
    for backtrace in backtraces:
        assert names_lines(backtrace), backtrace


def test_a_worker_of_parallel_for_names_lines(calls: Calls, built: Path) -> None:
    assert names_lines(fail(calls, built / "kernels.so", "fail_in_parallel", KERNPACK_NUM_THREADS="2"))


@pytest.mark.parametrize("option", ["--strip-debug", "--strip-all"])
def test_a_stripped_module_has_functions_or_offsets(calls: Calls, built: Path, tmp_path: Path, option: str) -> None:
    module = tmp_path / "stripped.so"
    subprocess.run(["objcopy", option, str(built / "kernels.so"), str(module)], check=True)
    backtrace = fail(calls, module)
    assert "kernels.cc" not in backtrace.partition("\n")[2]  # but for what KP_CHECK wrote down
    if option == "--strip-debug":
        assert names_functions(backtrace, "stripped.so"), backtrace
    else:
        assert re.search(r'/stripped\.so", in <unknown>\+0x[0-9a-f]+\n', backtrace), backtrace


@pytest.mark.parametrize(
    "sections", [(".debug_line",), (".debug",), (".symtab", ".strtab")], ids=lambda names: names[0]
)
def test_damaged_debug_information_crashes_nothing(
    calls: Calls, built: Path, tmp_path: Path, sections: tuple[str, ...]
) -> None:
    for seed in range(5):
        fail(calls, damaged(built / "kernels.so", sections, seed, tmp_path))


def test_lines_are_those_of_what_was_loaded_after_the_file_was_rebuilt_or_deleted(
    calls: Calls, built: Path, tmp_path: Path
) -> None:
    module = tmp_path / "kernels.so"
    for between in (f"cp {built}/c_kernels.so {module}", f"rm {module}"):
        shutil.copy(built / "kernels.so", module)
        assert names_lines(fail(calls, module, BETWEEN=between))


def with_a_section_beyond_the_end(module: Path, into: Path) -> Path:
    """A copy whose headers say so of its lines: who maps those and reads them gets SIGBUS."""
    content = bytearray(module.read_bytes())
    with module.open("rb") as file:
        elf = ELFFile(file)
        index = elf.get_section_index(".debug_line")
        assert index
        sh_offset = elf["e_shoff"] + index * elf["e_shentsize"] + 24
    content[sh_offset : sh_offset + 8] = (1 << 30).to_bytes(8, "little")
    target = into / "beyond.so"
    target.write_bytes(content)
    return target


def test_where_its_copy_is_gone_or_another_file_lines_are_left_out(calls: Calls, built: Path, tmp_path: Path) -> None:
    cache = Path(calls.environment["KERNPACK_CACHE_DIR"])
    beyond = with_a_section_beyond_the_end(built / "kernels.so", tmp_path)
    replace = "find {} -name kernels.so -exec cp {} {{}}.new ';' -exec mv {{}}.new {{}} ';'"
    for between in (
        f"rm -r {cache}",
        replace.format(cache, built / "c_kernels.so"),
        replace.format(cache, beyond),
    ):
        shutil.rmtree(cache, ignore_errors=True)
        backtrace = fail(calls, built / "kernels.so", BETWEEN=between)
        assert "kernels.cc" not in backtrace.partition("\n")[2]
        assert 'kernels.so", in ' in backtrace


def test_a_module_in_memory_has_the_lines_of_its_file_while_that_is_the_same(
    calls: Calls, built: Path, tmp_path: Path
) -> None:
    """Where no cache can be written."""
    module = tmp_path / "kernels.so"
    shutil.copy(built / "kernels.so", module)
    nowhere = {"KERNPACK_CACHE_DIR": "/dev/null/cache"}
    assert names_lines(fail(calls, module, **nowhere))
    assert (
        "kernels.cc"
        not in fail(calls, module, BETWEEN=f"cp {built}/c_kernels.so {module}", **nowhere).partition("\n")[2]
    )
