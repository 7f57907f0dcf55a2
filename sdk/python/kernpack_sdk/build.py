"""The build backend of a kernel wheel: scikit-build-core, then two things that need the compiled module.

    [build-system]
    requires = ["kernpack-sdk"]
    build-backend = "kernpack_sdk.build"

It writes `__init__.pyi` beside the modules of each package (and a small `__init__.py` where there is none), and tags the
wheel `py3-none-manylinux_2_28_<arch>`, or with the newer tag that is true when the author's code needs one. Everything else is
scikit-build-core's, settings included.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from scikit_build_core import build as _backend
from scikit_build_core.build import (  # noqa: F401  (the rest of the build interface)
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
)

from kernpack_sdk import check, elf, stubs, table

OLDEST_TAG = "manylinux_2_28_"  # what kernpack_add_module aims at

# For a package without an __init__.py: makes `import my_kernels; my_kernels.rms_norm(x)` do what the stub says.
_INIT = '''\
from kernpack import load as _load


def __getattr__(name):
    return getattr(_load(__name__), name)


def __dir__():
    return dir(_load(__name__))
'''

_Settings = dict[str, Any] | None


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: _Settings = None) -> str:
    return _backend.prepare_metadata_for_build_wheel(metadata_directory, _for_every_python(config_settings))


def build_wheel(wheel_directory: str, config_settings: _Settings = None, metadata_directory: str | None = None) -> str:
    folder = Path(wheel_directory)
    name = _backend.build_wheel(wheel_directory, _for_every_python(config_settings), metadata_directory)
    _add_python_files(folder / name)
    return _tag(folder / name).name


def _for_every_python(config_settings: _Settings) -> dict[str, Any]:
    """A kernel module does not know Python: unless the project says otherwise its wheel is for all of them."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    stated = project.get("tool", {}).get("scikit-build", {}).get("wheel", {}).get("py-api")
    return {**({"wheel.py-api": "py3"} if stated is None else {}), **(config_settings or {})}


def _wheel_tool(*arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "wheel", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"wheel {arguments[0]}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def _write_new(path: Path, text: str) -> None:
    if not path.exists():  # the author's own file stays
        path.write_text(text, encoding="utf-8")


def _add_python_files(wheel: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        _wheel_tool("unpack", "--dest", temporary, wheel)
        (tree,) = Path(temporary).iterdir()
        packages: dict[Path, list[table.Function]] = {}
        for module in sorted(p for p in tree.rglob("*.so") if check.is_kernel_module(p)):
            machine = elf.read(module).machine
            if machine != elf.read(Path(sys.executable).resolve()).machine:
                print(f"kernpack: {module.name} is for {machine}, which cannot run here: no stubs for it", flush=True)
                continue
            packages.setdefault(module.parent, []).extend(table.read(module))
        for package, functions in packages.items():
            if package == tree:
                continue  # a module outside any package has no place for a stub
            _write_new(package / "__init__.py", _INIT)
            _write_new(package / "__init__.pyi", stubs.render(functions))
            _write_new(package / "py.typed", "")
        _wheel_tool("pack", "--dest-dir", wheel.parent, tree)


def _tag(wheel: Path) -> Path:
    true = check.platform_tag(wheel)
    wanted = re.sub(r"^manylinux_\d+_\d+_", OLDEST_TAG, true)
    tag = wanted if check.covers(wanted, true) else true
    if tag != wanted or not tag.startswith("manylinux"):
        print(f"kernpack: tagged {tag}: the warnings above name what needs it", flush=True)
    name = _wheel_tool("tags", "--remove", "--platform-tag", tag, wheel).strip().splitlines()[-1]
    return wheel.with_name(name)
