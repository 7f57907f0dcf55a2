"""`kernpack check`: what a kernel module, a backend or a wheel of them must be before it is published."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from kernpack_sdk import abi, archive, elf, hosts

# A module may need the C and C++ run-time libraries, by these names, and nothing else.
RUNTIME_LIBRARIES = re.compile(
    r"^(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|ld-linux-(x86-64|aarch64))\.so(\.\d+)?$"
)
MODULE_EXPORTS = re.compile(r"^(kp_module_v\d+$|__tvm_ffi_[a-z_])")
BACKEND_EXPORTS = re.compile(r"^kp_backend_v\d+$")


def check_module(path: Path) -> list[str]:
    """Problems of one kernel module, or of one plugin with device backends; an empty list when there are none."""
    try:
        so = elf.read(path)
    except ValueError as error:
        return [str(error)]
    if refusal := abi.refusal(so.exports):
        return [f"{path.name}: {refusal}"]
    problems = _of_backend(so) if abi.is_backend(so.exports) else _of_module(so)
    problems += [
        f"has the run path {p}; expected none, or one under $ORIGIN" for p in so.runpath if not p.startswith("$ORIGIN")
    ]
    if not so.full_relro:
        problems.append("is not linked with -z relro -z now")
    if so.executable_stack:
        problems.append("asks for an executable stack")
    return [f"{path.name}: {problem}" for problem in problems]


def _of_module(so: elf.SharedObject) -> list[str]:
    problems = [
        f"exports {name}; a module exports kp_module_v1 and __tvm_ffi_<name> only"
        for name in so.exports
        if not MODULE_EXPORTS.match(name)
    ]
    if not abi.majors(so.exports, "module"):
        problems.append('does not export kp_module_v1; one source file needs KP_MODULE("<name>", "<version>")')
    problems += [
        f"needs {name}, which isn't a C or C++ run-time library"
        for name in so.needed
        if not RUNTIME_LIBRARIES.match(name)
    ]
    return problems


def _of_backend(so: elf.SharedObject) -> list[str]:
    """It may need any library: a driver's, say."""
    return [
        f"exports {name}; a backend plugin exports kp_backend_v1 only"
        for name in so.exports
        if not BACKEND_EXPORTS.match(name)
    ]


def is_kernel_module(path: Path) -> bool:
    return _exports(path, MODULE_EXPORTS)


def is_backend_plugin(path: Path) -> bool:
    return _exports(path, BACKEND_EXPORTS)


def _exports(path: Path, pattern: re.Pattern[str]) -> bool:
    try:
        return any(pattern.match(name) for name in elf.read(path).exports)
    except ValueError:
        return False


def _shared_objects(folder: Path) -> list[Path]:
    """Those of an unpacked wheel that are looked at."""
    return [p for p in sorted(folder.rglob("*.so")) if is_kernel_module(p) or is_backend_plugin(p)]


def platform_tag(wheel: Path) -> str:
    """The oldest platform tag that is true for this wheel, as auditwheel finds it."""
    found = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", "--json", str(wheel)], capture_output=True, text=True, check=False
    )
    if found.returncode != 0:
        raise ValueError(f"{wheel.name}: auditwheel: {found.stderr.strip() or found.stdout.strip()}")
    return json.loads(found.stdout)["overall_tag"]


def check_wheel(wheel: Path) -> list[str]:
    """Problems of a wheel and of every module in it."""
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            archive.unpack(wheel, Path(folder))
        except ValueError as error:
            return [str(error)]
        modules = _shared_objects(Path(folder))
        for module in modules:
            problems += check_module(module)
    if not modules:
        return [f"{wheel.name}: contains neither a kernel module nor a backend"]
    python, abi, platform = wheel.stem.split("-")[-3:]
    if (python, abi) != ("py3", "none"):
        problems.append(f"{wheel.name}: tagged {python}-{abi}; a module works with every Python: expected py3-none")
    if not covers(platform, platform_tag(wheel)):
        problems.append(f"{wheel.name}: tagged {platform}, but the oldest true tag is {platform_tag(wheel)}")
    return problems


def covers(claimed: str, true: str) -> bool:
    """Whether a claimed platform tag promises no more than the true one."""
    if claimed == true or claimed.startswith("linux_"):
        return True
    pattern = re.compile(r"^manylinux_(\d+)_(\d+)_(\w+)$")
    c, t = pattern.match(claimed), pattern.match(true)
    return bool(c and t and c[3] == t[3] and (int(c[1]), int(c[2])) >= (int(t[1]), int(t[2])))


def check(path: Path) -> list[str]:
    """Problems of a wheel or a shared object."""
    if not path.is_file():
        return [f"{path}: no such file"]
    return check_wheel(path) if path.suffix == ".whl" else check_module(path)


def describe(path: Path) -> str:
    """One line on a file without problems."""
    size = f"{path.stat().st_size / 1024:.0f} KB"
    if path.suffix == ".whl":
        return f"ok, {size}, runs on {platform_tag(path)} and newer; {'; '.join(hosts_of_wheel(path))}"
    so = elf.read(path)
    aliases = sum(name.startswith("__tvm_ffi_") for name in so.exports)
    what = "a backend" if abi.is_backend(so.exports) else f"{aliases} functions"
    return f"ok, {size}, {what}, needs {', '.join(so.needed) or 'nothing'}, {hosts.read(path)}"


def hosts_of_wheel(wheel: Path) -> list[str]:
    """Which hosts the modules of a wheel run on, each such text once."""
    with tempfile.TemporaryDirectory() as folder:
        archive.unpack(wheel, Path(folder))
        found = [str(hosts.read(p)) for p in _shared_objects(Path(folder))]
    return list(dict.fromkeys(found))
