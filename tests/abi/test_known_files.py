"""A file that was loaded before: its functions are looked for in the table, which isn't read as a whole until somebody asks for that."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from support import host

SETTLED = 2.5  # seconds after which a file's times tell every later change
MANY = 300
Make = Callable[[str, Sequence[str]], Path]

HEAD = """
#include <kernpack/abi.h>
static int answer(void* self, const KpAny* args, int32_t num_args, KpAny* result) {
  (void)self, (void)args, (void)num_args;
  result->type_index = KP_TYPE_INT;
  result->v.v_int = 42;
  return 0;
}
static const KpFunctionInfo for_cpu = {.struct_size = sizeof(KpFunctionInfo), .target = "llvm -mcpu=x86-64-v3"};
static const KpFunctionInfo typed = {.struct_size = sizeof(KpFunctionInfo), .signature = "(x: i32) -> ()"};
static const KpFunctionInfo later = {.struct_size = sizeof(KpFunctionInfo), .kind = 77};
"""
TAIL = """
static const KpModule module = {sizeof(KpModule), KP_ABI_VERSION, KP_ABI_MAJOR << 16, 0, "known", "1.0", "test", 0,
                                functions, functions + sizeof functions / sizeof *functions, 0, 0, {0, 0, 0, 0}};
KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void) { return &module; }
"""
PLAIN = [f'{{"f{i}", answer, 0}}' for i in range(MANY)]


def compile_in(folder: Path, name: str, lines: Sequence[str]) -> Path:
    """A module with these lines in its table."""
    source, out = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(HEAD + "static const KpFunctionDef functions[] = {" + ",\n".join(lines) + "};" + TAIL)
    command = ["gcc", "-std=c99", "-Wall", "-Wno-unused", "-shared", "-fPIC", "-fvisibility=hidden"]
    subprocess.run([*command, f"-I{host.INCLUDE}", str(source), "-o", str(out)], check=True)
    return out


@pytest.fixture
def make(tmp_path: Path) -> Make:
    return partial(compile_in, tmp_path)


def settle(path: Path) -> None:
    while time.time() - path.stat().st_ctime < SETTLED:
        time.sleep(0.1)


def in_child(code: str, cache: Path, *paths: Path) -> str:
    """The output of the code in a separate process, with `paths` as `files`."""
    before = "import sys; sys.path.insert(0, sys.argv[1])\nfrom support import host\nfiles = sys.argv[2:]\n"
    command = [sys.executable, "-c", before + code, str(host.ROOT / "tests"), *map(str, paths)]
    environment = os.environ | {"KERNPACK_CACHE_DIR": str(cache)}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@contextmanager
def replaced_copy(cache: Path, of: Path, by: Path) -> Iterator[None]:
    """As only this user could: what the next load takes for the known file."""
    (copy,) = cache.rglob(of.name)
    before = copy.read_bytes()
    copy.chmod(0o700)
    copy.write_bytes(by.read_bytes())
    yield
    copy.write_bytes(before)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """A module that was loaded before."""
    path = compile_in(tmp_path_factory.mktemp("sound"), "sound", PLAIN)
    settle(path)
    assert in_child("host.load(files[0])", cache, path) == ""
    return path


LOOK_UP = f"""
import ctypes
def address(name):
    return ctypes.addressof(host.function(module, name))
module = host.load(files[0])
early = {{name: address(name) for name in ("f7", "f299")}}
assert host.call(host.function(module, "f7")).bits == 42
for name in ("f", "f300", "f7x", "", "F7"):
    try:
        host.function(module, name)
        print("found", name)
    except KeyError:
        pass
all = [address(f"f{{i}}") for i in range({MANY})]
assert len(set(all)) == {MANY}
assert [all[7], all[299]] == [early["f7"], early["f299"]], "a function is made once"
assert sorted(f"f{{i}}" for i in range({MANY})) == host.names(module)
at = host.lib().kp_module_function_at(module, host.names(module).index("f7"))
assert ctypes.addressof(at.contents) == early["f7"]
assert [all[i] for i in range({MANY})] == [address(f"f{{i}}") for i in range({MANY})]
print("good")
"""


THREADS = f"""
import ctypes, threading
module = host.load(files[0])
found = [{{}} for _ in range(8)]
ready = threading.Barrier(len(found))
def look(mine, step):
    ready.wait()
    for i in range({MANY}):
        name = f"f{{i * step % {MANY}}}"
        mine[name] = ctypes.addressof(host.function(module, name))
threads = [threading.Thread(target=look, args=(mine, step)) for mine, step in zip(found, (1, 7, 11, 13, 17, 19, 23, 29))]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert all(mine == found[0] and len(mine) == {MANY} for mine in found)
print("good")
"""


@pytest.mark.parametrize("code", [LOOK_UP, THREADS], ids=["one_by_one", "from_threads"])
def test_functions_are_found_with_and_without_an_index(code: str, sound: Path, cache: Path, tmp_path: Path) -> None:
    assert in_child(code, cache, sound) == "good\n"
    assert in_child(code, tmp_path / "empty", sound) == "good\n", "a table that is read as a whole"


REFUSED = """
module = host.load(files[0])
for ask in (lambda: host.function(module, "f7"), lambda: host.names(module) or host.take_error()):
    try:
        print(ask())
    except host.Raised as error:
        print(error)
print(host.call(host.function(module, "f8")).bits)
"""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"f7", answer, 0}', "f7 is exported twice for the baseline"),
        ('{"f7", answer, &typed}', "f7 has another signature than its variant"),
        ('{"f7", answer, &later}', "f7 is of kind 77, which ABI"),
        ('{"f7", 0, &for_cpu}', "f7 has no code to call"),
    ],
    ids=["twice", "signature", "kind", "no_code"],
)
def test_what_is_wrong_with_a_known_table_is_refused_where_it_is_met(
    line: str, words: str, make: Make, sound: Path, cache: Path
) -> None:
    damaged = make("damaged", [*PLAIN, line])
    with pytest.raises(host.Raised, match=words):
        host.load(damaged)
    with replaced_copy(cache, sound, damaged):
        looked_up, listed, other = in_child(REFUSED, cache, sound).splitlines()
    assert words in looked_up
    assert words in listed
    assert other == "42", "the others work"


def test_what_was_merged_before_is_checked_when_it_comes_alone(make: Make, tmp_path: Path) -> None:
    baseline, variant = make("baseline", ['{"f", answer, 0}']), make("variant", ['{"f", answer, &for_cpu}'])
    settle(baseline)
    settle(variant)
    merged = "module = host.load(*files)\nprint(host.names(module))"
    for _ in ("read", "known"):
        assert in_child(merged, tmp_path / "cache", baseline, variant) == "['f']\n"
    alone = "try:\n    host.load(files[0])\nexcept host.Raised as error:\n    print(error)"
    assert "but no baseline" in in_child(alone, tmp_path / "cache", variant)
