"""A function table without relocations (docs/abi.md): what it says, and what a damaged one does."""

from __future__ import annotations

import dataclasses
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from kernpack_sdk import hosts, table, unrelocate
from kernpack_sdk.audit import Image, tables, unrelocated
from kernpack_sdk.slim.choice import Choice
from kernpack_sdk.slim.file import slim
from support import host

SOURCE = r"""
#include <kernpack/abi.h>
static int answer(void* self, const KpAny* args, int32_t n, KpAny* result) {
  (void)self, (void)args, (void)n;
  result->type_index = KP_TYPE_INT;
  result->v.v_int = 42;
  return 0;
}
static int context(void* self, const KpAny* args, int32_t n, KpAny* result) {
  (void)args, (void)n;
  result->type_index = KP_TYPE_INT;
  result->v.v_int = *(const int*)((const KpFunctionSelf*)self)->context;
  return 0;
}
static int seven = 7;
#define INFO .struct_size = sizeof(KpFunctionInfo)
static const KpFunctionInfo typed = {INFO, .signature = "(x: f32[N]) -> (y: f32[N])", .doc = "Says \"hello\"."};
static const KpFunctionInfo fast = {INFO, .signature = "(x: f32[N]) -> (y: f32[N])", .target = "llvm -mcpu=x86-64-v3"};
static const KpFunctionInfo more = {INFO, .attributes = "flops=2", .cxx_types = "(int) -> None"};
static const KpFunctionInfo with_context = {INFO, .flags = KP_FUNCTION_TAKES_CONTEXT, .context = &seven};
static const KpFunctionInfo link = {INFO, .kind = KP_DEF_GRADIENT, .target = "typed_back"};
static const KpFunctionInfo back = {INFO, .signature = "(d_y: f32[N], x: f32[N]) -> (d_x: f32[N])"};
static const KpFunctionDef functions[] = {{"plain", answer, 0}, {"typed", answer, &typed}, {"typed", answer, &fast},
    {"more", answer, &more}, {"with_context", context, &with_context}, {"typed", 0, &link}, {"typed_back", answer, &back},
    MANY};
static const KpModule module = {sizeof(KpModule), KP_ABI_VERSION, KP_ABI_MAJOR << 16, 0, "many", "1.0", "test", 0,
                                functions, functions + sizeof functions / sizeof *functions, 0, 0, {0, 0, 0, 0}};
KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void) { return &module; }
""".replace("MANY", ", ".join(f'{{"f{i}", answer, 0}}' for i in range(50)))
MARK = unrelocated.MARK
Edit = Callable[[str, int], Path]
Named = TypeVar("Named", table.Function, tables.Variant)


def compile_in(folder: Path, name: str, *flags: str, source: str = SOURCE, compiler: str = "gcc") -> Path:
    path, out = folder / f"{name}.c", folder / f"{name}.so"
    path.write_text(source)
    command = [compiler, "-std=c99", "-Wall", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{host.INCLUDE}"]
    subprocess.run([*command, *flags, str(path), "-o", str(out)], check=True)
    return out


@pytest.fixture
def relocated(tmp_path: Path) -> Path:
    return compile_in(tmp_path, "relocated")


@pytest.fixture
def sound(relocated: Path) -> Path:
    path = relocated.with_name("sound.so")
    path.write_bytes(relocated.read_bytes())
    assert unrelocate.write(path) > 100
    return path


def place(image: Image, what: str) -> int:
    """The address of a word: "KpModule.spare", "line 0.name", "typed.info", "typed.doc"."""
    (module,) = tables.places(image)
    begin, _ = unrelocated.bounds(image.pointers, module) or (0, 0)
    line, field = what.split(".")
    names = [
        image.text(image.pointers[at]) for at in range(*(unrelocated.bounds(image.pointers, module) or (0, 0)), 24)
    ]
    if line == "KpModule":
        return module + {"spare": MARK}[field]
    at = begin + unrelocated.DEFINITION * names.index(line)
    if field in ("name", "call", "info"):
        return at + {"name": 0, "call": 8, "info": 16}[field]
    return image.pointers[at + 16] + {"target": 8, "signature": 16, "doc": 40, "cxx_types": 48, "attributes": 64}[field]


@pytest.fixture
def edit(sound: Path) -> Edit:
    def with_word(what: str, value: int) -> Path:
        with Image(sound) as image:
            address = place(image, what)
            # As ld links the file, one segment has all that is written.
            offset = next(s["p_offset"] + address - s["p_vaddr"] for s in image._file.elf.iter_segments("PT_LOAD")
                          if s["p_vaddr"] <= address < s["p_vaddr"] + s["p_filesz"])  # fmt: skip
        content = bytearray(sound.read_bytes())
        content[offset : offset + 8] = value.to_bytes(8, "little")
        path = sound.with_name(f"edited_{what.replace(' ', '_')}_{value:x}.so")
        path.write_bytes(content)
        return path

    return with_word


def described(path: Path) -> list[tuple[object, ...]]:
    module = host.load(path)
    functions = [host.function(module, name) for name in host.names(module)]
    return [(f.name, bool(f.signature), f.doc, f.cxx_types, f.attributes, host.call(f).bits if not f.signature else 0)
            for f in functions]  # fmt: skip


def test_the_host_reads_the_same_of_it(relocated: Path, sound: Path) -> None:
    module = host.load(sound)
    assert host.call(host.function(module, "f49")).bits == 42, "found before there is an index"
    assert host.call(host.function(module, "with_context")).bits == 7
    assert described(sound) == described(relocated)


def in_order(functions: Iterable[Named]) -> list[Named]:
    return sorted(functions, key=lambda each: each.name)


def test_files_are_read_alike(relocated: Path, sound: Path) -> None:
    """By `kernpack stubs`, `check` and `inspect`."""
    assert len(table.read(sound)) == 56
    assert table.read(sound) == in_order(table.read(relocated))
    with Image(relocated) as before, Image(sound) as after:
        (was,), (module,) = tables.modules(before), tables.modules(after)
    assert module == dataclasses.replace(was, variants=tuple(in_order(was.variants)))
    assert str(hosts.read(sound)) == "runs on hosts of ABI 1.0 and newer"


def relocations(path: Path) -> int:
    shown = subprocess.run(["readelf", "-rW", str(path)], capture_output=True, text=True, check=True)
    assert not shown.stderr, shown.stderr
    return shown.stdout.count("_RELATIV")  # readelf cuts R_AARCH64_RELATIVE short


def test_the_linker_writes_nothing_into_the_table(relocated: Path, sound: Path) -> None:
    assert relocations(sound) < 20 < 100 < relocations(relocated)
    assert unrelocate.write(sound) == 0, "a second time"


def test_a_module_for_aarch64(tmp_path: Path) -> None:
    compiler = "aarch64-linux-gnu-gcc"
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}, of Debian's g++-aarch64-linux-gnu")
    built = compile_in(tmp_path, "built", compiler=compiler)
    path = Path(shutil.copy(built, tmp_path / "many.so"))
    assert unrelocate.write(path) > 100
    assert unrelocate.write(path) == 0, "a second time"
    assert len(table.read(path)) == 56
    assert table.read(path) == in_order(table.read(built))
    assert relocations(path) < 20 < 100 < relocations(built)


def test_without_debug_sections_it_is_what_it_was(tmp_path: Path) -> None:
    """As `kernpack slim` writes a file: its sections lie elsewhere in it, at the addresses that they had."""
    path, slimmed = compile_in(tmp_path, "whole", "-g"), tmp_path / "slimmed.so"
    assert unrelocate.write(path) > 100
    saved = slim(path, Choice(("90",)), slimmed).saved
    assert [each.kind for each in saved] == ["debug sections"]
    assert slimmed.stat().st_size < path.stat().st_size
    assert described(slimmed) == described(path)


@pytest.mark.parametrize("what", ["plain.name", "plain.call", "typed.info", "typed.signature", "typed.doc", "more.attributes",
                                  "more.cxx_types", "typed.target"])  # fmt: skip
@pytest.mark.parametrize("value", [0x7FFF_FFFF_0000, 0x4000_0000, 2**64 - 8], ids=hex)
def test_an_address_outside_of_the_file_is_refused(edit: Edit, what: str, value: int) -> None:
    path = edit(what, value)
    name = "line 51.name" if what == "plain.name" else what
    with pytest.raises(host.Raised) as refused:
        host.load(path)
    assert refused.value.message == (
        f"kernpack.load: '{path}': {name} is an address outside of the file; the function table is damaged: build the module again"
    )


def test_code_that_is_not_code_is_refused(edit: Edit, sound: Path) -> None:
    with Image(sound) as image:
        text = image.pointers[place(image, "plain.name")]
    with pytest.raises(host.Raised, match=r"plain\.call is an address outside of the file"):
        host.load(edit("plain.call", text))


def test_lines_in_another_order_are_refused(edit: Edit, sound: Path) -> None:
    with Image(sound) as image:
        other = image.pointers[place(image, "with_context.name")]
    path = edit("plain.name", other)
    with pytest.raises(host.Raised, match=r"typed stands behind with_context in the function table, whose lines"):
        host.load(path)


def test_a_module_table_at_another_place_is_refused(edit: Edit) -> None:
    path = edit("KpModule.spare", 0x1234)
    with pytest.raises(
        host.Raised, match=r"says that its module table was linked at address 0x1234, but it was linked at 0x"
    ):
        host.load(path)


FLIPS = """
import sys; sys.path.insert(0, sys.argv[1])
from support import host
counts = dict(loaded=0, refused=0)
for path in sys.argv[2:]:
    try:
        host.load(path)
        counts["loaded"] += 1
    except host.Raised as error:
        assert path in error.message or "kernpack.load" in error.message or "signature" in error.message, error
        counts["refused"] += 1
print(counts["loaded"], counts["refused"])
"""


def test_flipped_bits_never_crash_a_load(edit: Edit, sound: Path, tmp_path: Path) -> None:
    rng, paths = random.Random(47), []
    fields = ["plain.name", "plain.call", "typed.info", "typed.signature", "typed.doc", "more.attributes"]
    for _ in range(200):
        what = rng.choice(fields)
        with Image(sound) as image:
            value = image.pointers[place(image, what)]
        paths.append(edit(what, value ^ 1 << rng.randrange(64)))
    ran = subprocess.run([sys.executable, "-c", FLIPS, str(host.ROOT / "tests"), *map(str, paths)],
                         capture_output=True, text=True, check=False)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    loaded, refused = map(int, ran.stdout.split())
    assert loaded + refused == len(paths)
    assert refused > 100


@pytest.mark.parametrize(
    ("flags", "change", "message"),
    [
        (("-Wl,-z,pack-relative-relocs",), ("", ""), "are of a kind that can't be taken out; link without"),
        (
            (),
            ('{"plain", answer, 0}', '{"plain", (KpSafeCall)(void*)raise, 0}'),
            "points to raise of another library; export",
        ),
    ],
    ids=["packed_relocations", "code_of_another_library"],
)
def test_what_cannot_be_taken_out(
    tmp_path: Path, flags: tuple[str, ...], change: tuple[str, str], message: str
) -> None:
    source = "int raise(int);\n" + SOURCE.replace(*change, 1)
    path = compile_in(tmp_path, "m", *flags, source=source)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=message):
        unrelocate.write(path)
    assert path.read_bytes() == before


def test_the_command(sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.so"
    empty.write_bytes(b"")
    run = partial(unrelocate.main, [str(sound), str(empty)])
    assert run() == 1
    assert "kernpack_add_module: MANY_FUNCTIONS: " in capsys.readouterr().err
