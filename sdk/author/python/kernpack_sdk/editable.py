"""`pip install -e .`: the project's package as it was last built in place, or (editable.rebuild = true) as its sources are now."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from kernpack_sdk import needs, wheel
from kernpack_sdk.project import BuildError, Project

# The code that the wheel puts into site-packages if rebuilding is requested. Imported at each start of Python: it imports nothing itself.
_HOOK = '''\
import sys


class _Rebuild:
    """Brings the project's build up to date when its package is first looked for in a process."""

    done = False

    def find_spec(self, name, path=None, target=None):
        if self.done or name not in {packages!r}:
            return None
        self.done = True  # also while building: what is imported meanwhile doesn't build again
        try:
            from pathlib import Path

            from kernpack_sdk.project import BuildError, Project
        except ImportError:
            raise ImportError("{name} is installed with editable.rebuild, which needs: pip install kernpack-sdk") from None
        try:
            Project(Path({root!r})).build_now()
        except BuildError as error:
            raise ImportError(f"{name}: its sources do not build:\\n{{error}}") from None
        return None


sys.meta_path.insert(0, _Rebuild())
'''
# Always: a build links each file of the package, so Python finds no file that came later.
_ADDED = '''\
import sys


class _Added:
    """Finds modules that were added to the package after it was last built; all others are found before."""

    def find_spec(self, name, path=None, target=None):
        package, *rest = name.split(".")
        if package != {package!r} or not rest:
            return None
        from importlib.machinery import PathFinder

        return PathFinder.find_spec(name, ["/".join([{folder!r}, *rest[:-1]])])


sys.meta_path.append(_Added())
'''


def hook(project: Project, packages: list[str], *, rebuild: bool) -> str:
    """The code that Python runs when it starts; "" if there is none."""
    text = _HOOK.format(packages=packages, name=project.name, root=str(project.root)) if rebuild else ""
    folder = project.python_folder()
    if folder is not None:
        text += ("\n\n" if text else "") + _ADDED.format(package=folder.name, folder=str(folder))
    return text


def is_rebuilt(config_settings: dict[str, Any]) -> bool:
    """The setting editable.rebuild, of pip's command line or of pyproject.toml."""
    given = config_settings.get("editable.rebuild")
    if given is None:
        scikit = Project(Path.cwd()).settings().get("tool", {}).get("scikit-build", {})
        given = scikit.get("editable", {}).get("rebuild", False)
    return str(given).lower() in ("true", "on", "1", "yes")


def finish(empty: Path, root: Path, *, rebuild: bool, stated: Sequence[Requirement] = ()) -> None:
    """Builds the project in place and writes into a wheel that holds metadata alone how Python finds it, and what the
    project declares as needed."""
    project = Project(root)
    try:
        project.build_now()
    except BuildError as error:
        raise SystemExit(str(error)) from None
    packages = sorted(path.name for path in project.site.iterdir() if path.is_dir())
    name = re.sub(r"\W", "_", project.name)
    lines = [str(project.site)]
    started = hook(project, packages, rebuild=rebuild)
    if started:
        lines.insert(0, f"import _{name}_editable")
    with tempfile.TemporaryDirectory() as temporary:
        wheel.run_tool("unpack", "--dest", temporary, empty)
        (tree,) = Path(temporary).iterdir()
        needs.add_to_metadata(next(tree.glob("*.dist-info/METADATA")), stated)
        (tree / f"_{name}_editable.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
        if started:
            (tree / f"_{name}_editable.py").write_text(started, encoding="utf-8")
        wheel.run_tool("pack", "--dest-dir", empty.parent, tree)
    print(f"kernpack: {project.name} is imported from {project.site}", file=sys.stderr, flush=True)
