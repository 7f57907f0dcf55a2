"""Adds Python files and the correct platform tag to a wheel of kernel modules, after its binaries are built."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from packaging.requirements import Requirement

from kernpack_sdk import archive, check, needs, packs, shared_object, stubs, surface, table

_MACHINES = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}  # ELF's names, and those of wheels
OLDEST_TAG = "manylinux_2_28_"  # what kernpack_add_module aims at


def pack(tree: Path, folder: Path) -> Path:
    """A wheel in `folder` of a tree of packages and their dist-info, finished as below; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        run_tool("pack", "--dest-dir", temporary, tree)
        (wheel,) = Path(temporary).glob("*.whl")
        add_python_files(wheel)
        finished = tag(wheel)
        return Path(shutil.move(finished, folder / finished.name))


def run_tool(*arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "wheel", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"wheel {arguments[0]}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def _write_new(path: Path, text: str) -> None:
    if not path.exists():  # the author's own file stays
        path.write_text(text, encoding="utf-8")


def add_python_files(wheel: Path, *, pack_of: str | None = None, stated: Sequence[Requirement] = ()) -> None:
    """Adds the stub of each package that holds kernel modules, and what else of its Python the author left out; and to the metadata, the
    wheels whose libraries the modules need.

    pack_of: the distribution whose packages these are, and which has those files.
    stated: the requirements that the project declares for its libraries.
    """
    with tempfile.TemporaryDirectory() as temporary:
        run_tool("unpack", "--dest", temporary, wheel)
        (tree,) = Path(temporary).iterdir()
        if not any(shared_object.below(tree)):
            raise SystemExit(nothing_installed(tree.name.rpartition("-")[0], "CMakeLists.txt"))
        modules = [p for p in shared_object.below(tree) if check.is_kernel_module(p)]
        changed = _add_requirements(tree, modules, stated)
        if pack_of is not None:
            packs.refuse_python(tree, pack_of)
            if changed:
                run_tool("pack", "--dest-dir", wheel.parent, tree)
            return
        packages: dict[Path, list[table.Function]] = {}
        for module in modules:
            packages.setdefault(module.parent, []).extend(table.read(module))
        for package, functions in packages.items():
            if package == tree:
                continue  # a module outside any package has no place for a stub
            _add_stub(package, functions)
        run_tool("pack", "--dest-dir", wheel.parent, tree)


def _add_requirements(tree: Path, modules: Sequence[Path], stated: Sequence[Requirement]) -> bool:
    """True if there was something to add. What the project didn't declare is added all the same, and printed."""
    (metadata,) = tree.glob("*.dist-info/METADATA")
    try:
        added = needs.required(metadata.read_text(encoding="utf-8"), modules, stated)
    except ValueError as error:
        raise SystemExit(f"kernpack: {error}") from None
    needs.add_to_metadata(metadata, added)
    if unstated := [str(each) for each in added if each not in stated]:
        listed = ", ".join(f'"{each}"' for each in unstated)
        print(
            f"kernpack: the wheel requires {', '.join(unstated)}, whose libraries its modules link; write it into pyproject.toml for "
            f"those who install from source: [tool.kernpack] needs = [{listed}]",
            flush=True,
        )
    return bool(added)


def nothing_installed(name: str, where: str) -> str:
    """The error for a project whose build installs no module."""
    package = name.replace("-", "_").replace(".", "_").lower()
    return f"kernpack: nothing was installed: give kernpack_add_module() the package's folder, DESTINATION {package}, in {where}"


def add_stub(package: Path, modules: Sequence[Path]) -> None:
    """Adds the files that add_python_files() adds to a package with these modules."""
    _add_stub(package, [function for module in modules for function in table.read(module)])


def _add_stub(package: Path, functions: list[table.Function]) -> None:
    _write_new(package / "__init__.py", surface.INIT)
    text, init = stubs.render(functions), package / "__init__.py"
    if surface.is_written_by_hand(init):
        with contextlib.suppress(SyntaxError):  # then importing it says so
            text = surface.merged(text, init.read_text(encoding="utf-8"))
    _write_new(package / "__init__.pyi", text)
    _write_new(package / "py.typed", "")


def _of_its_machine(wheel: Path) -> Path:
    """Renames a wheel that was cross-compiled: the build named it by the machine that it ran on."""
    with tempfile.TemporaryDirectory() as temporary:
        archive.unpack(wheel, Path(temporary))
        machines = {shared_object.read(file).machine for file in shared_object.below(Path(temporary))}
    name = _MACHINES.get(next(iter(machines), ""), "")
    if len(machines) != 1 or not name or wheel.stem.endswith(f"_{name}"):
        return wheel
    return _renamed(wheel, f"linux_{name}")


def tag(wheel: Path) -> Path:
    """Renames a wheel by the oldest system that its binaries run on; the new path."""
    if windows := check.windows_tag(wheel):
        return _renamed(wheel, windows)
    wheel = _of_its_machine(wheel)
    true = check.platform_tag(wheel)
    wanted = re.sub(r"^manylinux_\d+_\d+_", OLDEST_TAG, true)
    tag = wanted if check.covers(wanted, true) else true
    if tag != wanted or not tag.startswith("manylinux"):
        print(f"kernpack: tagged {tag}: the warnings above name what needs it", flush=True)
    return _renamed(wheel, tag)


def _renamed(wheel: Path, tag: str) -> Path:
    name = run_tool("tags", "--remove", "--platform-tag", tag, wheel).strip().splitlines()[-1]
    return wheel.with_name(name)
