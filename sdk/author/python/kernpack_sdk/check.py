"""`kernpack check`: what a kernel module, a backend or a wheel of them must be before it is published."""

from __future__ import annotations

import functools
import json
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError

from kernpack_sdk import abi, archive, hosts, needs, pe, shared_object
from kernpack_sdk.audit import Finding, Image, binary, kernels, package, private_keys, sbom, tables, torch_requirement
from kernpack_sdk.budget import shown

# A module may need the C and C++ run-time libraries, by these names, and nothing else.
RUNTIME_LIBRARIES = re.compile(
    r"^(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|ld-linux-(x86-64|aarch64))\.so(\.\d+)?$"
    # Windows itself has these; Python brings vcruntime140.
    r"|^(?i:kernel32|ntdll|advapi32|bcrypt|ucrtbase|msvcrt|api-ms-win-(crt|core)-[\w-]+|vcruntime140(_1)?)\.dll$"
)
MODULE_EXPORTS = re.compile(r"^(kp_module_v\d+$|__tvm_ffi_[a-z_])")
BACKEND_EXPORTS = re.compile(r"^kp_backend_v\d+$")


# Errors of parsers that read a damaged file.
DAMAGED = (ELFError, ConstructError, struct.error, LookupError, TypeError, AttributeError)


def check_module(path: Path) -> list[str]:
    """Problems of one kernel module, or of one plugin with device backends; an empty list when there are none."""
    return [f"{path.name}: {finding.text}" for finding in audit_file(path) if finding.serious]


def audit_file(path: Path) -> list[Finding]:
    """Findings about a shared object: about a kernel module or plugin if it is one, else about any shared object."""
    return _read(path, _ours)


def _ours(path: Path) -> list[Finding]:
    so = shared_object.read(path)
    if refusal := abi.refusal(so.exports):
        return [Finding(refusal)]
    with Image(path) as image:
        return [*_of_ours(so, image), *binary.findings(image)]


def _foreign(path: Path) -> list[Finding]:
    with Image(path) as image:
        return list(binary.findings(image))


def _links(path: Path) -> list[Finding]:
    """Notes: another file may be a part of the same module."""
    if not is_kernel_module(path):
        return []
    with Image(path) as image:
        return [Finding(text, serious=False) for text in tables.broken_links(tables.modules(image))]


def _read(path: Path, audit: Callable[[Path], list[Finding]]) -> list[Finding]:
    try:
        return audit(path)
    except ValueError as error:
        return [Finding(str(error))]
    except DAMAGED as error:
        return [Finding(f"is damaged ({type(error).__name__}: {error}); build it again")]


def _of_ours(so: shared_object.SharedObject, image: Image) -> list[Finding]:
    """A module that lacks KP_MODULE exports its functions' aliases alone."""
    problems = _of_backend(so) if abi.is_backend(so.exports) else _of_module(so)
    problems += [
        f"has the run path {p}; expected none, or one under $ORIGIN" for p in so.runpath if not p.startswith("$ORIGIN")
    ]
    problems += [f"is not linked with -Wl,{option}" for option in so.unprotected]
    if not so.full_relro and not so.is_pe:
        problems.append("is not linked with -z relro -z now")
    if so.executable_stack and not image.has_stack_header:
        problems.append("doesn't mark its stack as not executable; link with -Wl,-z,noexecstack")
    beyond = [finding for module in tables.modules(image) for finding in binary.of_module(image, module)]
    return [*map(Finding, problems), *beyond]


def _of_module(so: shared_object.SharedObject) -> list[str]:
    known = {need.library for need in needs.of_object(so)}
    problems = [
        f"exports {name}; a module exports kp_module_v1 and __tvm_ffi_<name> only"
        for name in so.exports
        if not MODULE_EXPORTS.match(name)
    ]
    if not abi.majors(so.exports, "module"):
        problems.append('does not export kp_module_v1; one source file needs KP_MODULE("<name>", "<version>")')
    problems += [
        f"needs {name}, {_OPENMP if binary.OPENMP.match(name) else _LIBRARY}"
        for name in so.needed
        if not RUNTIME_LIBRARIES.match(name) and name not in known
    ]
    return problems


_LIBRARY = "which is neither a C or C++ run-time library nor one of a wheel; if a wheel has it, declare that: kernpack_wheel_library()"
_OPENMP = (
    "a second OpenMP runtime beside the framework's; use kp::parallel_for, which takes the caller's threads, and compile "
    "without -fopenmp"
)


def _of_backend(so: shared_object.SharedObject) -> list[str]:
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


_NAMES = (b"kp_module_v", b"kp_backend_v", b"__tvm_ffi_")


def _exports(path: Path, pattern: re.Pattern[str]) -> bool:
    try:
        content = path.read_bytes()
        if not any(name in content for name in _NAMES):  # most files of a large wheel, and at once
            return False
        return any(pattern.match(name) for name in shared_object.read(path).exports)
    except (ValueError, *DAMAGED):
        return False


def _shared_objects(folder: Path) -> list[Path]:
    """Those of an unpacked wheel that are looked at."""
    return [p for p in shared_object.below(folder) if is_kernel_module(p) or is_backend_plugin(p)]


def platform_tag(wheel: Path) -> str:
    """The oldest platform tag that is true for this wheel, as auditwheel finds it."""
    return _show(wheel, wheel.stat().st_mtime_ns)["overall_tag"]


def symbol_tag(wheel: Path) -> str:
    """The oldest platform tag by the versions of the symbols that the wheel asks for; libraries of other wheels aside."""
    return _show(wheel, wheel.stat().st_mtime_ns)["sym_tag"]


@functools.lru_cache
def _show(wheel: Path, changed: int) -> dict[str, Any]:
    excluded = " ".join(sorted(needs.known_libraries() | _noted_libraries(wheel)))
    found = subprocess.run(
        [sys.executable, "-c", _SHOW, excluded, "show", "--json", str(wheel)],
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode != 0:
        raise ValueError(f"{wheel.name}: auditwheel: {found.stderr.strip() or found.stdout.strip()}")
    shown: dict[str, Any] = json.loads(found.stdout)
    return shown


# `auditwheel show` has no option --exclude, as `auditwheel repair` has it.
_SHOW = """
import sys
from auditwheel import wheel_abi
excluded, analyze = frozenset(sys.argv.pop(1).split()), wheel_abi.analyze_wheel_abi
def without(libc, architecture, wheel, exclude, *rest, **named):
    return analyze(libc, architecture, wheel, exclude | excluded, *rest, **named)
wheel_abi.analyze_wheel_abi = without
from auditwheel.main import main
sys.exit(main())
"""


def _noted_libraries(wheel: Path) -> set[str]:
    """The libraries of other wheels that the modules of a wheel declare."""
    with tempfile.TemporaryDirectory() as folder:
        archive.unpack(wheel, Path(folder))
        modules = [path for path in shared_object.below(Path(folder)) if is_kernel_module(path)]
        return {need.library for module in modules for need in _needs_of(module)}


def _needs_of(path: Path) -> list[needs.Need]:
    """None of a damaged file, which is reported where files are read."""
    try:
        return needs.of_object(shared_object.read(path))
    except (ValueError, *DAMAGED):
        return []


def audit_wheel(wheel: Path) -> list[Finding]:
    """Findings about any wheel; the texts name the file."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            archive.unpack(wheel, Path(folder))
        except ValueError as error:
            return [Finding(str(error).replace(str(wheel), wheel.name))]
        try:
            about = package.Wheel(wheel, Path(folder))
        except (ValueError, OSError) as error:
            return [Finding(f"{wheel.name}: not a wheel: {error}")]
        said = [
            *_keys(private_keys.in_archive(wheel)),
            *package.findings(about),
            *sbom.findings(about),
            *torch_requirement.findings(about),
        ]
        found = [Finding(f"{wheel.name}: {each.text}", each.serious) for each in said]
        modules = {}
        for file in about.shared_objects():
            ours = is_kernel_module(file) or is_backend_plugin(file)
            each = audit_file(file) if ours else audit_foreign(file)
            found += [Finding(f"{file.name}: {one.text}", one.serious) for one in each]
            if is_kernel_module(file):
                found += _unrequired(about, file)
                with Image(file) as image:
                    modules[file] = tables.modules(image)
        if modules:
            found += [Finding(f"{wheel.name}: {each.text}") for each in kernels.findings(about, modules)]
        if not any("RECORD" in each.text for each in found):  # auditwheel reads what it names
            found += [Finding(f"{wheel.name}: {text}") for text in _platform(about)]
    return found


def _unrequired(about: package.Wheel, file: Path) -> list[Finding]:
    """Libraries of wheels that nobody installs."""
    required = about.message("METADATA").get_all("Requires-Dist") or []
    return [
        Finding(
            f"{file.name}: needs {need}, which METADATA doesn't require; in pyproject.toml, under [tool.kernpack]: needs = "
            f'["{need.requirements[0]}"]'
        )
        for need in needs.missing(required, _needs_of(file))
    ]


def _keys(names: list[str]) -> list[Finding]:
    return [Finding(f"holds a private key, {name}: {private_keys.ADVICE}") for name in names]


def audit_sources(path: Path) -> list[Finding]:
    """Findings about a source distribution, or about a project's folder."""
    try:
        found = private_keys.in_project(path) if path.is_dir() else private_keys.in_archive(path)
    except ValueError as error:
        return [Finding(str(error).replace(str(path), path.name))]
    return [Finding(f"{path.absolute().name}: {each.text}") for each in _keys(found)]


def audit_foreign(path: Path) -> list[Finding]:
    """Findings about a shared object that has nothing to do with Kernpack."""
    return _read(path, _foreign)


def _platform(about: package.Wheel) -> list[str]:
    if not about.shared_objects() or about.platform == "any":
        return []
    try:
        true = true_tag(about.path, any(map(is_kernel_module, about.shared_objects())))
    except ValueError as error:
        return [str(error).removeprefix(f"{about.path.name}: ")]
    if any(covers(claimed, true) for claimed in about.platform.split(".")):
        return []
    if true.startswith("win_"):
        return [f"tagged {about.platform}, but its code is for {true}; set the tag with `python -m wheel tags`"]
    return [
        f"tagged {about.platform}, but its code needs at least {true}; `auditwheel show` names the symbols that need it"
    ]


def true_tag(wheel: Path, is_ours: bool) -> str:
    """Other projects load libraries of other wheels by their own means: then only the symbols' versions count."""
    if windows := windows_tag(wheel):
        return windows
    return platform_tag(wheel) if is_ours else symbol_tag(wheel)


def windows_tag(wheel: Path) -> str | None:
    """The platform tag of a wheel whose binaries are all for Windows, on one kind of processor; None where none is for Windows.
    ValueError where they are for several platforms."""
    found: dict[str | None, str] = {}
    with zipfile.ZipFile(wheel) as opened:
        for name in opened.namelist():
            if package.SHARED_OBJECT.search(name):
                with opened.open(name) as stream:
                    head = stream.read(4096)
                if head[:2] == b"MZ" or head[:4] == b"\x7fELF":
                    found.setdefault(pe.platform_tag(head) if head[:2] == b"MZ" else "linux", name)
    if not set(found) - {"linux"}:
        return None
    if len(found) > 1 or None in found:
        held = ", ".join(f"{name} ({of or 'an unknown machine'})" for of, name in found.items())
        raise ValueError(f"{wheel.name}: no one platform runs its code: {held}; make a wheel for each")
    return next(iter(found))


def covers(claimed: str, true: str) -> bool:
    """True if a claimed platform tag promises no more than the true tag."""
    if claimed == true or claimed.startswith("linux_"):
        return True
    pattern = re.compile(r"^manylinux_(\d+)_(\d+)_(\w+)$")
    c, t = pattern.match(claimed), pattern.match(true)
    return bool(c and t and c[3] == t[3] and (int(c[1]), int(c[2])) >= (int(t[1]), int(t[2])))


def check(path: Path) -> list[str]:
    """Problems of a wheel, a shared object, a source distribution or a project's folder."""
    if not path.exists():
        return [f"{path}: no such file"]
    return [finding.text for finding in audit(path) if finding.serious]


def audit(path: Path) -> list[Finding]:
    """Findings about a file or a project's folder: problems; and notes, which may be deliberate."""
    if path.is_dir() or private_keys.is_sdist(path):
        return audit_sources(path)
    if path.suffix == ".whl":
        return audit_wheel(path)
    found = [Finding(f"{path.name}: {each.text}", each.serious) for each in audit_file(path)]
    if not any(each.serious for each in found):
        found += [Finding(f"{path.name}: {each.text}", each.serious) for each in _read(path, _links)]
    return found


def describe(path: Path) -> str:
    """One line on a file or a folder without problems."""
    if path.is_dir():
        return "ok, no private key in it"
    size = shown(path.stat().st_size)
    if path.suffix == ".whl":
        found = hosts_of_wheel(path)
        return "; ".join(
            [f"ok, {size}{_runs_on(path, bool(found))}", *(found or ["no kernel module or backend in it"])]
        )
    if private_keys.is_sdist(path):
        return f"ok, {size}, no private key in it"
    so = shared_object.read(path)
    aliases = sum(name.startswith("__tvm_ffi_") for name in so.exports)
    what = "a backend" if abi.is_backend(so.exports) else f"{aliases} function{'s' * (aliases != 1)}"
    return f"ok, {size}, {what}, needs {', '.join(named_libraries(so)) or 'nothing'}, {hosts.read(path)}"


def named_libraries(so: shared_object.SharedObject) -> list[str]:
    """Those of DT_NEEDED, with the wheel that has each where one is known."""
    known = {need.library: str(need) for need in needs.of_object(so)}
    return [known.get(name, name) for name in so.needed]


def _runs_on(wheel: Path, is_ours: bool) -> str:
    with zipfile.ZipFile(wheel) as opened:
        if not any(package.SHARED_OBJECT.search(name) for name in opened.namelist()):
            return ", no machine code"
    tag = true_tag(wheel, is_ours)
    return f", runs on {tag}" + ("" if tag.startswith("win_") else " and newer")


def hosts_of_wheel(wheel: Path) -> list[str]:
    """Which hosts the modules of a wheel run on, each such text once."""
    with tempfile.TemporaryDirectory() as folder:
        archive.unpack(wheel, Path(folder))
        found = [str(hosts.read(p)) for p in _shared_objects(Path(folder))]
    return list(dict.fromkeys(found))
