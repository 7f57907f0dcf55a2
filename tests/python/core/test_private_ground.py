"""What reads the insides of torch and JAX stays in one folder each, and can be turned off."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import kernpack
import pytest
from kernpack import _private

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("bindings/python/kernpack/_private", "bindings/python/src/private_torch")
FRAMEWORKS = ("torch", "jax", "jaxlib")

# Names with an underscore that may be used elsewhere, and why.
ALLOWED = {
    "torch._check": "torch's manual has it for sizes that are known only when a program runs",
    "torch._dynamo": "only the module's name, to learn that a program has imported the compiler",
    "_ZSt24__throw_invalid_argumentPKc": "of libstdc++, whose names are kept",
    "_ZSt21__throw_runtime_errorPKc": "of libstdc++, whose names are kept",
}
# Attributes of torch's and JAX's objects, whatever they are called where they are used.
ATTRIBUTES = {"_C", "_VF", "_cdata", "_is_zerotensor", "_op", "_op_dispatcher", "_ops", "_schema", "_src", "_version"}


def _files(*endings: str) -> Iterator[Path]:
    for folder in ("bindings", "ffi"):
        for path in sorted((ROOT / folder).rglob("*")):
            inside = path.relative_to(ROOT).as_posix()
            if path.suffix in endings and not inside.startswith(FOLDERS):
                yield path


def _chain(node: ast.AST) -> list[str]:
    """["torch", "_C", "x"] of torch._C.x; [] of what doesn't begin with a name."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        below = _chain(node.value)
        return [*below, node.attr] if below else []
    return []


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def _from_frameworks(tree: ast.AST) -> set[str]:
    """The names in a file that stand for a framework, a module of one or something from it."""
    found = set(FRAMEWORKS)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in FRAMEWORKS:
            found |= {alias.asname or alias.name for alias in node.names}
        if isinstance(node, ast.Import):
            found |= {a.asname for a in node.names if a.asname and a.name.split(".")[0] in FRAMEWORKS}
    return found


def _uses(text: str) -> Iterator[str]:
    """Private names of frameworks that a Python file uses."""
    tree = ast.parse(text)
    theirs = _from_frameworks(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                modules = [f"{node.module}.{alias.name}" for alias in node.names]
            for module in modules:
                root, *rest = module.split(".")
                if root in FRAMEWORKS and any(map(_is_private, rest)):
                    yield module
        elif isinstance(node, ast.Attribute):
            chain = _chain(node)
            of_theirs = bool(chain) and chain[0] in theirs and _is_private(node.attr)
            if of_theirs or (node.attr in ATTRIBUTES and chain[:1] != ["self"]):
                yield ".".join(chain or ["...", node.attr])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"\b(?:torch|jax)\._\w+|\bjax\._src\S*", node.value)


def test_no_other_file_uses_private_names_of_a_framework() -> None:
    found = []
    for path in _files(".py"):
        found += [f"{path.relative_to(ROOT)}: {name}" for name in _uses(path.read_text()) if name not in ALLOWED]
    for path in _files(".c", ".cc", ".h"):
        text = path.read_text()
        names = re.findall(r'"(_Z\w+)"', text) + re.findall(r'"(_C)"|torch\.(_C)\b', text)
        found += [f"{path.relative_to(ROOT)}: {name}" for name in names if name not in ALLOWED]
    assert not found, f"use them in {' or '.join(FOLDERS)}, with a public way behind (docs/private.md)"


@pytest.mark.parametrize(
    "line",
    [
        "import torch\ntorch._C.x()",
        "from jax._src import dispatch",
        "import jax._src.core",
        "from torch.autograd import forward_ad\nforward_ad._set(1)",
        "op._schema",
        "f(x)._version",
        "name = 'torch._C.y'",
    ],
)
def test_private_names_are_found(line: str) -> None:
    assert list(_uses(line))


def test_own_private_names_are_not_meant() -> None:
    assert not list(_uses("import torch\nfrom kernpack import _core\nself._op = _core.x\ntorch.__version__"))


def test_every_hook_is_on_the_page() -> None:
    page = (ROOT / "docs/private.md").read_text()
    for name in _private.HOOKS:
        assert f"| `{name}` |" in page


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2.13.0+cpu", (2, 13)), ("0.6.0", (0, 6)), ("2.14.0a0+git1", (2, 14)), ("2", (0, 0)), ("main", (0, 0))],
)
def test_a_version_is_read_as_its_first_two_numbers(text: str, expected: tuple[int, int]) -> None:
    assert _private.parse(text) == expected


@pytest.mark.parametrize(
    ("setting", "version", "reason"),
    [
        ("", "2.10.0", ""),
        ("", "2.13.1+cu130", ""),
        ("1", "2.12.0", ""),
        ("yes", "2.9.1", "not tested with torch 2.9.1, only with 2.10 to 2.13"),
        ("", "2.14.0", "not tested with torch 2.14.0, only with 2.10 to 2.13"),
        ("", "main", "not tested with torch main, only with 2.10 to 2.13"),
        ("any", "2.14.0", ""),
        ("0", "2.13.0", "KERNPACK_PRIVATE=0"),
    ],
)
def test_when_a_hook_is_refused(monkeypatch, setting: str, version: str, reason: str) -> None:
    monkeypatch.setattr(_private, "SETTING", setting)
    assert _private.HOOKS["torch.fields"].refused(version) == reason


def test_info_lists_the_hooks() -> None:
    assert kernpack.info()["private_hooks"].keys() == _private.HOOKS.keys()
    off = _private.Hook("torch.fields", (2, 10), (2, 10)).refused("2.13.0")
    assert off == "not tested with torch 2.13.0, only with 2.10 to 2.10"


TORCH = """
import sys, torch
torch.__version__ = sys.argv[1] or torch.__version__
import kernpack
k = kernpack.load(sys.argv[2])
x = torch.ones(3)
for _ in range(2):
    assert torch.equal(k.scale(x), 2 * x)
k.bump(x)
assert x._version == 1 and torch.equal(x, torch.full((3,), 2.0))
print([kernpack._core.use_torch_hook(f"torch.{name}", None) for name in ("fields", "watchers", "versions", "results")])
"""


def _run(code: str, setting: str, *arguments: str) -> tuple[str, list[str]]:
    """What the process printed, and its log."""
    environment = os.environ | {"KERNPACK_PRIVATE": setting, "KERNPACK_LOG": "debug"}
    done = subprocess.run([sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), re.findall(r"kernpack: debug: private hook (.*)", done.stderr)


@pytest.mark.parametrize(
    ("setting", "version", "on", "why"),
    [
        ("", "", True, None),
        ("0", "", False, "KERNPACK_PRIVATE=0"),
        ("", "9.1.0", False, r"not tested with torch 9\.1\.0, only with 2\.10 to 2\.13"),
        ("any", "9.1.0", True, None),
    ],
    ids=["as it is", "switched off", "a newer torch", "a newer torch, tried"],
)
def test_hooks_into_torch(k, setting: str, version: str, on: bool, why: str | None) -> None:
    printed, log = _run(TORCH, setting, version, k.path)
    assert printed == str([on] * 4)
    assert len(log) == len(set(log)), "each is said once"
    assert all(why and re.fullmatch(rf"torch\.\w+ is off: {why}", line) for line in log)
    assert (not log) == on


JAX = """
import sys, jax
jax.__version__ = sys.argv[1] or jax.__version__
from kernpack._private.jax import devices
print(devices.may_be_split())
"""


@pytest.mark.parametrize(
    ("setting", "version", "on"), [("", "", True), ("0", "", False), ("", "9.1.0", False), ("any", "9.1.0", True)]
)
def test_hooks_into_jax(setting: str, version: str, on: bool) -> None:
    printed, log = _run(JAX, setting, version)
    assert printed == str(on)
    assert (not log) == on


def test_a_torch_without_a_name_that_operators_need_is_refused() -> None:
    names = pytest.importorskip("kernpack._private.torch.names")
    import torch

    with pytest.raises(ImportError, match=r"expected torch\._C\._nothing, which operators are registered with"):
        names.find(torch, "_C._nothing")


def test_an_unknown_hook_is_refused() -> None:
    with pytest.raises(ValueError, match=r"use_torch_hook: expected torch\.fields, .*, got torch\.nothing"):
        kernpack._core.use_torch_hook("torch.nothing", None)
