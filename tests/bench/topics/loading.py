"""Loading a module and looking one function up; also a module of 10,000 functions, and the digest alone.

Each sample loads a copy that this process has not seen: both loaders answer from memory the second time. The copies differ
in bytes behind the end of the ELF image, so that a loader that goes by content cannot take one for the other. They are installed:
a RECORD has their digests. A first load reads the file and hashes it, which the peer does not do; one that another process loaded
before is not read again, unless a lock is required: then it is hashed at every load.

torch is out of sight while a sample is taken: where it is imported, a load of ours registers operators with it (topic
torch_ops), which the peer does not offer at all.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from harness import Snippet, Timing, interleave
from kit import Kit
from report import Row, timed_row

import build

sys.path.insert(0, str(build.ROOT / "sdk/author/python"))
from kernpack import _lock
from kernpack_sdk import flags, support, unrelocate

MANY = 10_000


LARGE = 300 << 20


def measure(kit: Kit) -> list[Row]:
    smallest = (
        build.shared_object(build.HERE / "ours" / "smallest.cc", "smallest_linked", _our_flags()),
        build.shared_object(build.HERE / "peers" / "smallest_tvm.cc", "smallest_tvm", build.tvm_ffi_flags()),
    )
    many = (_many("ours", _our_source()), _many("theirs", _their_source()))
    copies = max(5, kit.repetitions // 3)
    fewer = max(3, copies // 4)
    return [
        _row("load a module, look one function up", smallest, "add_one", copies, goal=1.5),
        _row("the same, a file that was loaded before", smallest, "add_one", copies, before=True),
        _row("the same, and a lock is required", smallest, "add_one", copies, before=True, locked=True, goal=1.0),
        _row(f"the same, module of {MANY:,} functions", many, f"f{MANY // 2}", fewer, before=True, goal=1.0),
        _row(
            f"the same, module of {MANY:,} functions (MANY_FUNCTIONS)",
            (_without_relocations(many[0]), many[1]),
            f"f{MANY // 2}",
            fewer,
            before=True,
            goal=1.0,
        ),
        *_large(smallest),
        *_fresh_processes(smallest, fewer),
        _hash(many[0].read_bytes()),
    ]


def _hash(content: bytes) -> Row:
    """The hash that a first load computes, beside Python's own; both are OpenSSL's, of whatever versions are there."""
    flags = (["-std=c++17", f"-I{build.ROOT / 'ffi'}", "-Wno-deprecated-declarations"], ["-l:libcrypto.a"])
    library = ctypes.CDLL(str(build.shared_object(build.HERE / "ours" / "sha256.cc", "sha256", flags)))
    digest = ctypes.create_string_buffer(32)
    ours = functools.partial(library.sha256, ctypes.c_char_p(content), ctypes.c_size_t(len(content)), digest)
    ours()
    assert digest.raw == hashlib.sha256(content).digest()
    candidates = {
        "ours": Snippet("f()", {"f": ours}),
        "theirs": Snippet("f(content).digest()", {"f": hashlib.sha256, "content": content}),
    }
    measured = interleave(
        candidates
    )  # all repetitions: other programs on the same core halve the speed for whole batches
    timings = {side: Timing([each / 1e3 for each in timing.samples]) for side, timing in measured.items()}
    return timed_row("loading", f"SHA-256 of {len(content) >> 10} KiB", timings, 1.1, unit="us", peer="hashlib")


@contextmanager
def _without_torch() -> Iterator[None]:
    torch = sys.modules.pop("torch", None)
    try:
        yield
    finally:
        if torch is not None:
            sys.modules["torch"] = torch


def _row(
    name: str,
    modules: tuple[Path, Path],
    function: str,
    copies: int,
    *,
    before: bool = False,
    locked: bool = False,
    goal: float = 0.6,
) -> Row:
    import kernpack
    import tvm_ffi

    loaders: dict[str, Callable[[str], object]] = {"ours": kernpack.load, "theirs": tvm_ffi.load_module}
    timings = {side: Timing() for side in loaders}
    with tempfile.TemporaryDirectory() as site:
        folder = Path(site) / "bench"
        folder.mkdir()
        for copy in range(copies):
            for side, module in zip(loaders, modules, strict=True):
                content = module.read_bytes() + f"copy {copy} in {folder}".encode()
                (folder / f"{side}{copy}.so").write_bytes(content)
        _list(folder)
        lock = _write_lock(folder)
        time.sleep(2.1)  # the times of a file say nothing before they are two seconds old
        if before:
            _load_in_another_process(sorted(folder.glob("ours*.so")))
        with _required(lock) if locked else nullcontext():
            for copy in range(copies):
                for side, load in loaders.items():
                    path = folder / f"{side}{copy}.so"
                    with _without_torch():
                        start = time.perf_counter_ns()
                        getattr(load(str(path)), function)
                        timings[side].samples.append((time.perf_counter_ns() - start) / 1e3)
    return timed_row("loading", name, timings, goal, unit="us")


def _list(package: Path) -> None:
    """The modules in the folder become those of a distribution that pip has installed, which are mapped where they lie."""
    info = package.parent / "bench-1.0.dist-info"
    info.mkdir()
    lines = [
        f"{package.name}/{path.name},{_lock.digest_text(path.read_bytes())},{path.stat().st_size}"
        for path in package.glob("*.so")
    ]
    (info / "RECORD").write_text("\n".join(lines) + "\n")


def _large(smallest: tuple[Path, Path]) -> list[Row]:
    """A module of 300 MB: the first load beside its SHA-256, which it must compute; a later one beside the peer's; and the bytes that a
    load leaves on the disk beside the wheel."""
    with tempfile.TemporaryDirectory() as name:
        folder, site = Path(name), Path(name) / "site" / "bench"
        site.mkdir(parents=True)
        for side, module in zip(("ours", "theirs"), smallest, strict=True):
            with (site / f"{side}.so").open("wb") as file:
                file.write(module.read_bytes() + f"in {name}".encode())
                file.truncate(LARGE)
        _list(site)
        time.sleep(2.1)
        environment = os.environ | {"KERNPACK_CACHE_DIR": str(folder / "cache")}
        first, hashing = Timing(), Timing()
        for _ in range(3):
            shutil.rmtree(folder / "cache", ignore_errors=True)
            first.samples.append(_in_process(_FIRST["ours"], site / "ours.so", environment) / 1e3)
            hashing.samples.append(_in_process(_HASH, site / "ours.so", environment) / 1e3)
        left = sum(
            path.lstat().st_size for path in (folder / "cache").rglob("*") if path.is_file() and not path.is_symlink()
        )
        later, alone = _later(site, smallest, environment)
        return [
            timed_row(
                "loading",
                "first load of 300 MB",
                {"ours": first, "theirs": hashing},
                1.0,
                unit="ms",
                peer="its SHA-256",
            ),
            timed_row("loading", "a later load of 300 MB", later, 1.0, unit="us"),
            timed_row("loading", "a process's first load, without its imports", alone, 1.0, unit="us"),
            Row("loading", "disk used beside a wheel of 300 MB", left, None, unit="bytes", goal=0.0),
        ]


def _later(
    site: Path, smallest: tuple[Path, Path], environment: dict[str, str]
) -> tuple[dict[str, Timing], dict[str, Timing]]:
    """Loads of the files of 300 MB that a process loaded before: in a process that has loaded the smallest module, and as the first
    load of a process. The dynamic linker then loads the C++ library, too, in a millisecond; the peer's runtime, and NumPy, load it
    when they are imported."""
    timings: list[dict[str, Timing]] = [{"ours": Timing(), "theirs": Timing()} for _ in range(2)]
    for _ in range(5):
        for side, small in zip(("ours", "theirs"), smallest, strict=True):
            for timing, code in zip(timings, (_SECOND[side], _FIRST[side]), strict=True):
                timing[side].samples.append(_in_process(code, site / f"{side}.so", environment, small))
    return timings[0], timings[1]


# Each prints microseconds.
_TIMED = "import sys, time\nsys.modules['torch'] = None  # as if it weren't installed\n{before}\nstart = time.perf_counter_ns()\n{timed}\nprint((time.perf_counter_ns() - start) / 1e3)"
_LOADERS = {"ours": ("kernpack", "kernpack.load"), "theirs": ("tvm_ffi", "tvm_ffi.load_module")}
_FIRST = {
    side: _TIMED.format(before=f"import {package}", timed=f"{load}(sys.argv[1]).add_one")
    for side, (package, load) in _LOADERS.items()
}
_SECOND = {
    side: _TIMED.format(before=f"import {package}; {load}(sys.argv[2]).add_one", timed=f"{load}(sys.argv[1]).add_one")
    for side, (package, load) in _LOADERS.items()
}
_HASH = _TIMED.format(
    before="import hashlib; file = open(sys.argv[1], 'rb')", timed="hashlib.file_digest(file, 'sha256').digest()"
)
_START_OURS = _TIMED.format(before="", timed="import kernpack; kernpack.load(sys.argv[1]).add_one")
_START_THEIRS = _TIMED.format(before="", timed="import tvm_ffi; tvm_ffi.load_module(sys.argv[1]).add_one")


def _in_process(code: str, path: Path, environment: dict[str, str], *more: Path) -> float:
    command = [sys.executable, "-c", code, str(path), *map(str, more)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def _fresh_processes(smallest: tuple[Path, Path], count: int) -> list[Row]:
    """The import of the runtime and the load of a known module, in a process without frameworks."""
    ours, theirs = Timing(), Timing()
    environment = dict(os.environ)
    for _ in range(count + 1):
        ours.samples.append(_in_process(_START_OURS, smallest[0], environment) / 1e3)
        theirs.samples.append(_in_process(_START_THEIRS, smallest[1], environment) / 1e3)
    sides = {"ours": ours, "theirs": theirs}
    return [timed_row("loading", "import and load in a fresh process", sides, 1.0, unit="ms")]


def _write_lock(folder: Path) -> Path:
    """As large as that of the kernel wheels of a machine: our files, and 300 others."""
    files = {path.name: _lock.digest_text(path.read_bytes()) for path in sorted(folder.glob("ours*.so"))}
    files |= {f"other/file{i}.py": _lock.digest_text(str(i).encode()) for i in range(300)}
    lock = folder / "kernpack.lock"
    _lock.write(lock, [_lock.Wheel("ours", "1.0", 1, (), files)])
    return lock


@contextmanager
def _required(lock: Path) -> Iterator[None]:
    os.environ[_lock.VARIABLE] = str(lock)
    try:
        yield
    finally:
        del os.environ[_lock.VARIABLE]


def _load_in_another_process(paths: list[Path]) -> None:
    """From then on they are found by their state, unread."""
    load = "import sys, kernpack\nfor path in sys.argv[1:]: kernpack.load(path)"
    subprocess.run([sys.executable, "-c", load, *map(str, paths)], check=True)


def _our_flags() -> tuple[list[str], list[str]]:
    """As kernpack_add_module() builds a module."""
    folder = build.CACHE / "support"
    folder.mkdir(parents=True, exist_ok=True)
    objects = [str(path) for path in support.objects(folder)]
    return [*flags.compile_flags(), flags.support_definition()], [*objects, *flags.link_flags()]


def _many(side: str, text: str) -> Path:
    source = build.CACHE / f"many_{side}.c"
    source.write_text(text)
    options = flags.compile_flags("c") if side == "ours" else []
    return build.shared_object(source, f"many_{side}", (options, flags.link_flags()), build.CC)


def _without_relocations(module: Path) -> Path:
    """As kernpack_add_module(... MANY_FUNCTIONS) leaves it."""
    path = Path(shutil.copy(module, module.with_name(f"unrelocated_{module.name}")))
    unrelocate.write(path)
    return path


def _our_source() -> str:
    lines = [
        "#include <kernpack/abi.h>",
        "static int Call(void* s, const KpAny* a, int32_t n, KpAny* r) { (void)s, (void)a, (void)n, (void)r; return 0; }",
        "static const KpFunctionDef defs[] = {" + ",".join(f'{{"f{i}", Call, 0}}' for i in range(MANY)) + "};",
    ]
    lines += [
        "static int Create(const KpHost* host, KpInstance** out) { (void)host; *out = 0; return 0; }",
        "static void Destroy(KpInstance* instance) { (void)instance; }",
        'static const KpModule module = {sizeof(KpModule), KP_ABI_VERSION, KP_ABI_MAJOR << 16, 0, "many", "1.0.0", "0.1.0", 0, '
        f"defs, defs + {MANY}, Create, Destroy, {{0, 0, 0, 0}}}};",
        "KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void) { return &module; }",
    ]
    return "\n".join(lines) + "\n"


def _their_source() -> str:
    lines = [
        "#include <stdint.h>",
        '#define DEF(i) __attribute__((visibility("default"))) int __tvm_ffi_f##i(void* s, const void* a, int32_t n, void* r) '
        "{ (void)s, (void)a, (void)n, (void)r; return 0; }",
    ]
    lines += [f"DEF({i})" for i in range(MANY)]
    return "\n".join(lines) + "\n"
