"""Code that reads the insides of torch and JAX is in one folder each, and can be turned off."""

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
# Not of the runtime: it computes torch's own operators on the CPU for tests on the emulated device, and no kernel's result depends on it.
EMULATED_TORCH = "bindings/emulator/kernpack_cuda_emulator/torch_operators.py"
FRAMEWORKS = ("torch", "jax", "jaxlib")

# Names with an underscore that may be used elsewhere, and why.
ALLOWED = {
    "torch._check": "torch's manual has it for sizes that are known only when a program runs",
    "torch._dynamo": "only the module's name, to learn that a program has imported the compiler",
    "_ZN": "how the names of CUDA kernels in namespaces begin",
    "_Z5scalePfi": "a CUDA kernel, in an example",
    "_ZSt24__throw_invalid_argumentPKc": "of libstdc++, whose names are kept",
    "_ZSt21__throw_runtime_errorPKc": "of libstdc++, whose names are kept",
}
# Attributes of torch's and JAX's objects, whatever they are called where they are used.
ATTRIBUTES = {"_C", "_VF", "_cdata", "_is_zerotensor", "_op", "_op_dispatcher", "_ops", "_schema", "_src", "_version"}


def _files(*endings: str) -> Iterator[Path]:
    for folder in ("bindings", "ffi"):
        for path in sorted((ROOT / folder).rglob("*")):
            inside = path.relative_to(ROOT).as_posix()
            if path.suffix in endings and not inside.startswith(FOLDERS) and inside != EMULATED_TORCH:
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


def test_info_lists_the_hooks() -> None:
    states = kernpack.info()["private_hooks"]
    assert states.keys() == _private.HOOKS.keys()
    assert all(state.startswith(("on", "off: ", "not ")) for state in states.values())


# Calls of every kind that the hooks make quick; what came of the hooks; warnings as Python prints them.
TORCH = """
import sys, torch
torch.__version__ = sys.argv[1] or torch.__version__
exec(sys.argv[3])
import kernpack
k = kernpack.load(sys.argv[2])
x = torch.ones(3)
for _ in range(2):
    assert torch.equal(k.scale(x), 2 * x)
    assert torch.equal(kernpack.torch.ops(k).scale(x), 2 * x)
weight = torch.ones(3, requires_grad=True)
with torch.no_grad():
    assert torch.equal(k.scale(weight), 2 * weight)
k.bump(x)
assert x._version == 1 or "_version" in sys.argv[3]
assert torch.equal(x, torch.full((3,), 2.0))
for special in (torch.ones(3).to_sparse(), torch._efficientzerotensor(3), torch.ones(3, device="meta")):
    try:
        k.touch(special)
        sys.exit(f"{special} was read")
    except TypeError:
        pass
print(sorted(name for name, state in kernpack.info()["private_hooks"].items() if state == "on" and name[0] == "t"))
"""
# torch.lowerings waits for torch's compiler.
TORCH_HOOKS = sorted(name for name in _private.HOOKS if name.startswith("torch.") and name != "torch.lowerings")


def _run(code: str, setting: str, *arguments: str) -> tuple[str, list[str], list[str]]:
    """The output of the process, its log, and its warnings."""
    environment = os.environ | {"KERNPACK_PRIVATE": setting, "KERNPACK_LOG": "debug"}
    done = subprocess.run([sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    log = re.findall(r"kernpack: debug: private hook (.*)", done.stderr)
    return done.stdout.strip(), log, re.findall(r"RuntimeWarning: kernpack: (.*)", done.stderr)


@pytest.mark.parametrize(
    ("setting", "version", "on"), [("", "", True), ("0", "", False), ("", "9.1.0", True), ("", "3.0.0a0+git1", True)]
)
def test_hooks_into_torch_are_used_on_any_version_unless_turned_off(k, setting: str, version: str, on: bool) -> None:
    printed, log, warned = _run(TORCH, setting, version, k.path, "")
    assert printed == str(TORCH_HOOKS if on else [])
    # torch.versions is looked for with torch.fields alone.
    off = {f"{name} is off: KERNPACK_PRIVATE=0" for name in TORCH_HOOKS if name != "torch.versions"}
    assert set(log) == (set() if on else off)
    assert len(log) == len(set(log)), "each is said once"
    assert not warned, "they were turned off on purpose"


_FACTS = "from kernpack._private.torch import facts; own = facts.{0}; facts.{0} = {1}"
# Changes that another torch might make, and the hooks whose checks notice them.
CHANGED_TORCH = {
    "a tensor's C++ half lies 8 bytes on": (
        _FACTS.format("_row", "lambda b, t, *rest: (t, t._cdata + 8, *own(b, t, *rest)[2:])"),
        ["torch.fields", "torch.versions"],
    ),
    "two keys are swapped": (
        _FACTS.format(
            "_row",
            "lambda b, t, g, *rest: (*own(b, t, g, *rest)[:2], own(b, t, g, *rest)[2] ^ ((1 << 34 | 1 << 36) * (g == 1)), "
            "*own(b, t, g, *rest)[3:])",
        ),
        ["torch.fields", "torch.versions"],
    ),
    "a kind of tensor looks plain": (
        _FACTS.format("_special_tensors", "lambda torch: [torch.ones(3)]"),
        ["torch.fields", "torch.versions"],
    ),
    "a new key shares the bits of plain tensors": (
        _FACTS.format("_PARTS", "()"),
        ["torch.fields", "torch.versions"],
    ),
    "writes aren't counted where they were": (
        "torch.Tensor._version = property(lambda self: 0)",
        ["torch.versions"],
    ),
    "the thread's keys are elsewhere": (
        _FACTS.format("torch_added_keys", "lambda: own() ^ 1"),
        ["torch.watchers"],
    ),
    "operators are called in another way": (
        "torch._ops.OpOverload.__call__ = lambda self, /, *args, **kwargs: self._handle_call(*args, **kwargs)\n"
        "import types\n"
        "torch._ops.OpOverload._handle_call = lambda self, *a, **kw: torch._C._jit_get_operation(self._schema.name)[0](*a, **kw)",
        ["torch.operators"],
    ),
}


# The first question is refused, as inside vmap, after another thread has called; the second one is answered.
REFUSED_ONCE = (
    _FACTS.format("torch_samples", "lambda: answers.pop()()")
    + """
import threading
def refuse():
    thread = threading.Thread(target=lambda: seen.append(k.scale(torch.ones(3))))
    thread.start()
    thread.join(60)
    raise RuntimeError("not now")
seen, answers = [], [own, refuse]
"""
)


@pytest.mark.skipif(_private.SETTING == "0", reason="KERNPACK_PRIVATE=0: no hook is looked for")
def test_a_torch_that_cannot_be_asked_yet_is_asked_again_by_one_thread_at_a_time(k) -> None:
    printed, _, warned = _run(
        TORCH + "assert torch.equal(seen[0], torch.full((3,), 2.0)) and not answers", "", "", k.path, REFUSED_ONCE
    )
    assert printed == str(TORCH_HOOKS)
    assert not warned


@pytest.mark.skipif(_private.SETTING == "0", reason="KERNPACK_PRIVATE=0: no hook is looked for")
@pytest.mark.parametrize("change", CHANGED_TORCH)
def test_a_torch_that_changed_turns_its_hooks_off_and_the_user_is_told(k, change: str) -> None:
    code, lost = CHANGED_TORCH[change]
    printed, log, warned = _run(TORCH, "", "9.1.0", k.path, code)
    assert printed == str([name for name in TORCH_HOOKS if name not in lost])
    said = [name for name in lost if name != "torch.versions" or lost == ["torch.versions"]]
    assert [line.partition(" ")[0] for line in log] == said
    assert len(warned) == len(said)
    for name, line in zip(said, warned, strict=True):
        assert line.startswith(f"torch 9.1.0 isn't as the hook {name} expects. Results are right, but ")
        assert "pip install -U kernpack" in line
        assert "KERNPACK_PRIVATE=0" in line


@pytest.mark.skipif(_private.SETTING == "0", reason="KERNPACK_PRIVATE=0: no hook is looked for")
@pytest.mark.parametrize("name", ["fallback_handler", "register_lowering"])
def test_a_compiler_that_changed_turns_its_hook_off_and_the_user_is_told(name: str) -> None:
    code = f"import torch; from torch._inductor import lowering; del lowering.{name}; "
    _, log, warned = _run(code + "from kernpack._private import look_for; look_for('torch')", "")
    assert [line.partition(" ")[0] for line in log] == ["torch.lowerings"]
    assert len(warned) == 1


JAX = """
import sys, jax
jax.__version__ = sys.argv[1] or jax.__version__
exec(sys.argv[2])
from kernpack._private import look_for, private_states
look_for("jax")
print(sorted(n for n, state in private_states({"jax": jax.__version__, "torch": "not installed"}).items() if state == "on"))
"""
JAX_HOOKS = ["jax.shares"]


@pytest.mark.parametrize(("setting", "version", "on"), [("", "", True), ("0", "", False), ("", "9.1.0", True)])
def test_hooks_into_jax_are_used_on_any_version_unless_turned_off(setting: str, version: str, on: bool) -> None:
    printed, log, warned = _run(JAX, setting, version, "")
    assert printed == str(JAX_HOOKS if on else [])
    assert (not log) == on
    assert not warned


@pytest.mark.skipif(_private.SETTING == "0", reason="KERNPACK_PRIVATE=0: no hook is looked for")
@pytest.mark.parametrize(
    ("code", "lost"),
    [
        (
            "from jax._src import custom_partitioning as c; c._custom_partitioning_partition = lambda a, b, c, d, e, f: 0",
            "jax.shares",
        ),
        ("from jax._src import custom_partitioning as c; del c._sharding_callbacks", "jax.shares"),
    ],
)
def test_a_jax_that_changed_turns_its_hook_off_and_the_user_is_told(code: str, lost: str) -> None:
    printed, log, warned = _run("import jax._src.custom_partitioning\n" + JAX, "", "9.1.0", code)
    assert printed == str([name for name in JAX_HOOKS if name != lost])
    assert log == [f"{lost} is off: jax 9.1.0 isn't as expected"]
    assert len(warned) == 1
    assert warned[0].startswith(f"jax 9.1.0 isn't as the hook {lost} expects")


def test_a_torch_without_a_name_that_operators_need_is_refused() -> None:
    names = pytest.importorskip("kernpack._private.torch.names")
    import torch

    with pytest.raises(ImportError, match=r"expected torch\._C\._nothing, which operators are registered with"):
        names.find(torch, "_C._nothing")


def test_an_unknown_hook_is_refused() -> None:
    with pytest.raises(ValueError, match=r"use_torch_hook: expected torch\.fields, .*, got torch\.nothing"):
        kernpack._core.use_torch_hook("torch.nothing", None)
