"""`kernpack doctor`: each thing that an author or a caller may need, whether it is here, and the command that mends what isn't."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kernpack import _packs
from kernpack._program import split_command
from kernpack._system import WINDOWS

if TYPE_CHECKING:
    from kernpack import Module

OK, ABSENT, BROKEN = "ok", "absent", "broken"
_MARKS = {OK: "ok     ", ABSENT: "absent ", BROKEN: "BROKEN "}
# The oldest versions that are supported: README.md, "What runs where".
_FRAMEWORKS = {"numpy": (1, 22), "torch": (2, 10), "jax": (0, 6)}
# docs/versions.md, "Windows", has a row for each.
_NOT_ON_WINDOWS = {
    "CUDA, OpenCL": "not on Windows yet; use Linux",
    "kernpack-compiler": "no wheel for Windows yet; use Linux",
    "kernpack-cuda-emulator": "no wheel for Windows yet; use Linux",
    "apache-tvm-ffi's modules": "not loaded on Windows yet; load them with apache-tvm-ffi, or on Linux",
    "KERNPACK_BACKTRACE": "no effect on Windows yet: errors have no backtraces",
}
_NO_JAX = "not on Windows yet; pass NumPy arrays or torch tensors, or use Linux"


@dataclass(frozen=True)
class Finding:
    what: str
    state: str
    found: str
    mend: str = ""  # a command, or what to do; empty where nothing is to be done


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    findings = list(examine())
    if options.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        width = max(len(finding.what) for finding in findings)
        for finding in findings:
            print(f"{_MARKS[finding.state]} {finding.what:{width}}  {finding.found}")
            if finding.mend:
                print(f"{'':{width + 10}}-> {finding.mend}")
    return int(any(finding.state == BROKEN for finding in findings))


def examine() -> Iterator[Finding]:
    yield _python()
    yield _sdk()
    yield from _tools()
    if not WINDOWS:
        yield _nvrtc()
    yield from _frameworks()
    yield _cache()
    yield from _packages()
    if WINDOWS:
        for what, found in _NOT_ON_WINDOWS.items():
            yield Finding(what, ABSENT, found)


def _python() -> Finding:
    text = f"{platform.python_version()} at {sys.executable}"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        from kernpack._info import gil

        return Finding("Python", OK, f"{text}, free-threaded, with the GIL {gil()}")
    return Finding("Python", OK, text)


def _installed(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _sdk() -> Finding:
    from kernpack import __version__

    if importlib.util.find_spec("kernpack_sdk") is None:
        return Finding("kernpack-sdk", ABSENT, "needed to build kernels, not to call them", "pip install kernpack-sdk")
    from kernpack_sdk import __version__ as sdk

    if _minor(sdk) != _minor(__version__):
        found = f"{sdk}, beside kernpack {__version__}"
        return Finding("kernpack-sdk", BROKEN, found, "pip install -U kernpack kernpack-sdk")
    return Finding("kernpack-sdk", OK, sdk)


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]


def _tools() -> Iterator[Finding]:
    if WINDOWS and "CXX" not in os.environ:
        yield _zig()
    else:
        mend = "pip install ziglang" if WINDOWS else "apt-get install g++"
        yield _program("C++ compiler", os.environ.get("CXX", "g++"), f"{mend}, or set CXX to the one you have")
    for what, command, mend in (
        ("CMake", "cmake", "pip install cmake (a wheel's build fetches its own)"),
        ("Ninja", "ninja", "pip install ninja (a wheel's build fetches its own)"),
        ("nvcc", os.environ.get("NVCC", "nvcc"), "needed for .cu files alone: install the CUDA toolkit, or set NVCC"),
    ):
        if not (WINDOWS and what == "nvcc"):
            yield _program(what, command, mend)


def _zig() -> Finding:
    from kernpack._compile import zig_words

    mend = "pip install ziglang, or set CXX to clang or zig"
    if importlib.util.find_spec("ziglang") is None:
        return Finding("C++ compiler", ABSENT, "ziglang isn't installed", mend)
    return _tool("C++ compiler", zig_words("c++"), mend)


def _program(what: str, command: str, mend: str) -> Finding:
    words = split_command(command)
    return Finding(what, ABSENT, f"no '{command}' on the PATH", mend) if words is None else _tool(what, words, mend)


def _tool(what: str, words: list[str], mend: str) -> Finding:
    path = shutil.which(words[0])
    said = subprocess.run([*words, "--version"], capture_output=True, text=True, check=False)
    if said.returncode != 0:
        first = (said.stderr or said.stdout).strip().partition("\n")[0]
        return Finding(what, BROKEN, f"{path} --version: exit {said.returncode}: {first}", f"reinstall it: {mend}")
    return Finding(what, OK, f"{said.stdout.strip().partition(chr(10))[0]} at {path}")


def _nvrtc() -> Finding:
    from kernpack import _jit

    try:
        return Finding("NVRTC", OK, _jit.compiler())
    except RuntimeError as error:
        first = str(error).partition("\n")[0]
        mend = re.search(r'pip install "[^"]+"', first)
        state = BROKEN if os.environ.get("KERNPACK_NVRTC") else ABSENT
        found = first if state == BROKEN else "compiles the CUDA source that some modules carry; others don't need it"
        return Finding("NVRTC", state, found, mend[0] if mend else "unset KERNPACK_NVRTC, or correct it")


def _frameworks() -> Iterator[Finding]:
    from kernpack._private import HOOKS

    for name, oldest in _FRAMEWORKS.items():
        version = _installed(name)
        least = ".".join(map(str, oldest))
        if WINDOWS and name == "jax":
            yield Finding(name, ABSENT, _NO_JAX)
        elif version is None:
            yield Finding(name, ABSENT, "not installed", f"pip install '{name}>={least}' to call kernels with it")
        elif tuple(map(int, re.findall(r"\d+", version)[: len(oldest)])) < oldest:
            yield Finding(name, BROKEN, f"{version}; supported from {least}", f"pip install -U '{name}>={least}'")
        else:
            yield Finding(name, OK, version)
            if any(hook.framework == name for hook in HOOKS.values()):
                yield _hooks(name)


def _hooks(framework: str) -> Finding:
    """Each in a child process, since only the loaded framework can tell."""
    what = f"hooks into {framework}"
    look = (
        f"import json, kernpack; from kernpack._private import look_for; look_for({framework!r}); "
        "print(json.dumps(kernpack.info()['private_hooks']))"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", look], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().rpartition("\n")[2]
        return Finding(what, BROKEN, f"can't be looked for: {said}", f"pip install -U kernpack {framework}")
    states = {name: state for name, state in json.loads(done.stdout).items() if name.startswith(framework)}
    unwanted = {state.removeprefix("off: ") for state in states.values()} & {
        "KERNPACK_PRIVATE=0",
        "free-threaded Python",
        "Windows",
    }
    if unwanted:
        return Finding(what, OK, f"not used: {unwanted.pop()}")
    off = [f"{name} {state}" for name, state in states.items() if state != "on"]
    if not off:
        return Finding(what, OK, f"{len(states)} found")
    return Finding(what, BROKEN, "; ".join(off), "pip install -U kernpack (calls are right, but slow; docs/private.md)")


def _cache() -> Finding:
    from kernpack._compile import cache_dir

    folder = cache_dir()
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    mend = "set KERNPACK_CACHE_DIR to a folder of your own"
    if not there.is_dir():
        return Finding("cache", BROKEN, f"{there} isn't a folder", f"remove it, or {mend}")
    if not WINDOWS and folder.exists() and folder.stat().st_uid not in (os.geteuid(), 0):
        return Finding("cache", BROKEN, f"{folder} belongs to user {folder.stat().st_uid}", mend)
    if not os.access(there, os.W_OK | os.X_OK):
        return Finding("cache", BROKEN, f"{there} can't be written to", mend)
    free = shutil.disk_usage(there).free
    if free < 64 << 20:
        return Finding("cache", BROKEN, f"{folder}: {free >> 20} MiB free", f"kernpack cache clean, or {mend}")
    return Finding("cache", OK, f"{folder}, {free >> 30} GiB free")


def _tried(name: str) -> Module:
    """The package, loaded after a child process has loaded it. Windows has no fork(), by which the host makes one."""
    import kernpack

    if WINDOWS:
        load = "import sys, kernpack; kernpack.load(sys.argv[1])"
        done = subprocess.run([sys.executable, "-c", load, name], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(
                done.stderr.strip().rpartition("\n")[2] or f"loading it ended Python with {done.returncode}"
            )
    return kernpack.load(name, probe=not WINDOWS)


def _packages() -> Iterator[Finding]:
    """Each installed kernel package, loaded in a child process first: one that crashes ends the child alone."""
    import kernpack
    from kernpack._info import module_files, module_libraries

    for name in sorted(kernpack.installed()):
        try:
            module = _tried(name)
        except Exception as error:
            lacking = re.search(r'pip install( "[^"]+")+', str(error))  # libraries of other wheels
            mend = lacking[0] if lacking else f"pip install --force-reinstall --no-deps {_distribution(name) or name}"
            yield Finding(f"package {name}", BROKEN, str(error), mend)
        else:
            libraries = "".join(f", {library} at {path}" for library, path in module_libraries(module).items())
            count = len(module.functions)
            packs = _packs.states(module_files(module))
            code = "".join(f", code for {pack['architecture']} {pack['state']}" for pack in packs if _is_plain(pack))
            counted = f"{count} function{'s' * (count != 1)}"
            yield Finding(f"package {name}", OK, f"{module.version}, {counted}{libraries}{code}")
            for pack in packs:
                if not _is_plain(pack):
                    said = f"{pack['wheel']} has its code for {pack['architecture']}, but {pack['state']}"
                    yield Finding(f"package {name}", BROKEN, said, f'pip install --force-reinstall "{pack["wheel"]}"')


def _is_plain(pack: dict[str, str]) -> bool:
    """A wheel may be absent: the machine has another GPU."""
    return pack["state"] in (_packs.INSTALLED, _packs.ABSENT)


def _distribution(module: str) -> str | None:
    """The name to give pip for an entry point's module."""
    for point in importlib.metadata.entry_points(group="kernpack.modules", name=module):
        if point.dist is not None:
            return Path(point.dist.name).name
    return None
