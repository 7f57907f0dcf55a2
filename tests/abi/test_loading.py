"""One content, one module: identity, replaced files, neighbours, several files as one module, the processor's cap."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import host


def digest(module: ctypes.c_void_p) -> str:
    return host.lib().kp_module_digest(module).decode()


def test_same_content_is_the_same_module(compile_fake: Callable[..., Path], tmp_path: Path) -> None:
    first = compile_fake("first", FAKE_VERSION='"same-content"')
    copy = shutil.copy(first, tmp_path / "copy.so")
    modules = [host.load(first), host.load(copy), host.load(first)]
    assert len({module.value for module in modules}) == 1
    assert host.lib().kp_module_path(modules[1]).decode() == str(first)


def test_a_replaced_file_loads_beside_the_old_one(compile_fake: Callable[..., Path]) -> None:
    path = compile_fake("replaced", FAKE_VERSION='"1.0-old"')
    old = host.load(path)
    path.unlink()
    path = compile_fake("replaced", FAKE_VERSION='"2.0-new"')
    new = host.load(path)
    assert host.lib().kp_module_version(old) == b"1.0-old"
    assert host.lib().kp_module_version(new) == b"2.0-new"
    assert digest(old) != digest(new)


def test_overwriting_a_loaded_file_does_no_harm(compile_fake: Callable[..., Path]) -> None:
    path = compile_fake("overwritten", FAKE_VERSION='"overwritten"')
    module = host.load(path)
    os.truncate(path, 100)  # a mapped file would now kill the process at the next page
    assert host.call(host.function(module, "add"), host.integer(1), host.integer(2)).bits == 3
    with pytest.raises(host.Raised, match="is truncated or damaged"):
        host.load(path)


LINKERS = ["bfd", "gold", "lld", "mold"]
LAYOUTS = [
    ["-Wl,-z,relro,-z,now"],
    ["-Wl,-z,lazy", "-Wl,--hash-style=sysv"],
    ["-Wl,-z,norelro", "-Wl,--hash-style=both", "-s"],
    ["-Wl,--gc-sections,--build-id=none", "-Wl,-z,max-page-size=65536"],
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=" ".join)
@pytest.mark.parametrize("linker", LINKERS)
def test_a_module_that_another_linker_made(
    linker: str, layout: list[str], compile_fake: Callable[..., Path], tmp_path: Path
) -> None:
    """lld puts thread-local memory between segments, and what it protects ends with its page, beyond its segment."""
    if shutil.which(f"ld.{linker}") is None:
        pytest.skip(f"there is no ld.{linker}")
    source = tmp_path / "counter.c"
    source.write_text("__thread int counter; int* count(void) { return &counter; }\n")
    module = host.load(compile_fake("linked", str(source), f"-fuse-ld={linker}", *layout))
    assert host.call(host.function(module, "add"), host.integer(1), host.integer(2)).bits == 3


def test_a_module_without_section_headers(compile_fake: Callable[..., Path]) -> None:
    for style in ("sysv", "gnu"):
        path = compile_fake("bare", f"-Wl,--hash-style={style}")
        content = bytearray(path.read_bytes())
        content[40:48] = bytes(8)  # where they are
        content[60:64] = bytes(4)  # how many, and which has their names
        path.write_bytes(content)
        assert host.names(host.load(path)) == ["add", "second"]


@pytest.mark.parametrize("round_", [1, 2])
def test_a_module_that_finds_its_neighbours_through_origin(
    round_: int, compile_fake: Callable[..., Path], tmp_path: Path
) -> None:
    source = tmp_path / "neighbour.c"
    source.write_text(f"int nobody_defines_this(void) {{ return {round_}; }}\n")
    neighbour = tmp_path / f"libneighbour{round_}.so"
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", neighbour], check=True)
    path = compile_fake(
        "origin",
        f"-L{tmp_path}",
        f"-lneighbour{round_}",
        "-Wl,-rpath,$ORIGIN",
        FAKE_UNDEFINED="1",
        FAKE_VERSION=f'"origin-{round_}"',
    )
    module = host.load(path)
    assert host.lib().kp_module_version(module).decode() == f"origin-{round_}"


def test_two_files_are_one_module(compile_fake: Callable[..., Path]) -> None:
    base = compile_fake("base", FAKE_VERSION='"merged"', FAKE_FUNCTION='.name="second"')
    more = compile_fake("more", FAKE_VERSION='"merged"', FAKE_COUNT="2", FAKE_FUNCTION='.name="third"')
    with pytest.raises(host.Raised, match="add is exported twice for the baseline"):
        host.load(base, more)
    other = compile_fake("other", FAKE_VERSION='"other"')
    with pytest.raises(host.Raised, match="install the files of one module together"):
        host.load(base, other)


@pytest.mark.parametrize(("cap", "chosen"), [("x86-64", None), ("x86-64-v2", "llvm -mcpu=x86-64-v2"), ("", "any")])
def test_the_processor_can_be_capped(cap: str, chosen: str | None, compile_fake: Callable[..., Path]) -> None:
    # "add" has a baseline; its second entry is the variant.
    path = compile_fake("capped", FAKE_FUNCTION='.name="add"', FAKE_INFO='.target="llvm -mcpu=x86-64-v2"')
    code = (
        "import ctypes, sys; sys.path.insert(0, sys.argv[2])\n"
        "from support import host\n"
        "value = host.Any()\n"
        "function = host.function(host.load(sys.argv[1]), 'add')\n"
        "host.check(host.lib().kp_function_variants(ctypes.byref(function), ctypes.byref(value)))\n"
        "print(host.get_text(value))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, path, host.ROOT / "tests"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "KERNPACK_TARGET": cap and f"llvm -mcpu={cap}"},
    )
    assert ran.returncode == 0, ran.stderr
    variants = json.loads(ran.stdout)
    assert len(variants) == 2
    picked = [variant["target"] for variant in variants if variant["chosen"]]
    assert len(picked) == 1
    if chosen != "any":
        assert picked == [chosen]


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("llvm -mcpu=fast", "processor fast is not known to this version"),
        ("llvm -mcpu=cortex-a72", "this processor is x86_64"),
        ("cuda -arch=sm_90", "it isn't a CPU target"),
        ("llvm mcpu", "expected an option, got mcpu"),
    ],
)
def test_a_cap_that_is_no_target_of_this_machine(target: str, problem: str, compile_fake: Callable[..., Path]) -> None:
    path = compile_fake("bad_cap", FAKE_VERSION='"bad-cap"')
    code = "import sys; sys.path.insert(0, sys.argv[2])\nfrom support import host\nhost.load(sys.argv[1])\n"
    ran = subprocess.run(
        [sys.executable, "-c", code, path, host.ROOT / "tests"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "KERNPACK_TARGET": target},
    )
    expected = "KERNPACK_TARGET: expected a target for this processor, such as 'llvm -mcpu=x86-64-v2', got "
    assert f"ValueError: {expected}'{target}': {problem}; correct or unset it" in ran.stderr
