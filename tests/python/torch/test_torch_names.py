"""A parameter or result may have any name that a contract allows: those of the Python that is generated for torch's operators, of
torch's functions that pass an operator's arguments on by name, and of Python's builtins."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import tokenize
from pathlib import Path

import kernpack
import kernpack.torch
import pytest
import torch
from kernpack.torch import _binder

WORDS, TENSORS, RESULTS = 60, 40, 16
RESERVED = {"out", "self", "dtypes", "_", "q4", "q8", "__debug__", *keyword.kwlist}
DTYPES = "bool i4 i8 i16 i32 i64 u4 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128"
# Where torch passes on what an operator is called with.
FORWARDING = [
    "_ops.py",
    "_library",
    "_subclasses",
    "_higher_order_ops",
    "_functorch",
    "_inductor/fx_passes",
    "_inductor/fx_utils.py",
    "_inductor/graph.py",
    "_inductor/ir.py",
    "_inductor/lowering.py",
    "_dynamo/variables",
    "fx",
    "export",
    "utils/_python_dispatch.py",
    "autograd",
]
DUNDER = [
    "__class__",
    "__init__",
    "__call__",
    "__dict__",
    "__name__",
    "__doc__",
    "__file__",
    "__self__",
    "__builtins__",
    "__x",
    "__",
    "_x",
    "_1",
    "x_",
    "mode_",
    "mode__",
    "cls_",
]


def allowed(found):
    taken = RESERVED | set(DTYPES.split())
    return sorted({name for name in found if re.fullmatch("[a-z_][a-z0-9_]*", name) and name not in taken})


def identifiers(path):
    """Of a source of ours, those in its texts included."""
    with tokenize.open(path) as source:
        return re.findall(r"[A-Za-z_]\w*", source.read())


def forwarded_names():
    """The parameters of torch's functions that also take **kwargs."""
    root = Path(torch.__file__).parent
    found = set()
    for part in FORWARDING:
        for path in [root / part] if part.endswith(".py") else (root / part).rglob("*.py"):
            for declared in re.findall(r"def \w+\(([^()]*\*\*\w+[^()]*)\)", path.read_text()):
                found.update(re.findall(r"(?:^|[,(*\s])([a-z_]\w*)\s*(?=[:=,]|$)", declared))
    return found


def groups(names, size):
    names = [*names, *(f"more_{i}" for i in range(-len(names) % size))]
    return [names[i : i + size] for i in range(0, len(names), size)]


TEMPLATES = [Path(_binder.__file__).with_name(f"{name}.py") for name in ("_autograd", "_binder", "_function", "_node")]
OURS = allowed({name for path in TEMPLATES for name in identifiers(path)} | {*dir(builtins), *DUNDER, "any"})
THEIRS = allowed(forwarded_names())
NUMBERS = groups(sorted({*OURS, *THEIRS}), WORDS)
ARRAYS = groups([name for name in OURS if name in {"any", "getattr"} or name.startswith("_")], TENSORS)


def source():
    numbers = ", ".join(f"double a{i}" for i in range(WORDS))
    arrays = ", ".join(f"kp::TensorView a{i}" for i in range(TENSORS))
    results = ", ".join(f"kp::MutTensorView o{i}" for i in range(RESULTS))
    first = " + ".join(f"a{i}.data_ptr<float>()[0]" for i in range(TENSORS))
    rows = [
        "#include <kernpack/kernel.h>\nnamespace kp = kernpack;",
        f"void Numbers(kp::TensorView x, kp::MutTensorView y, {numbers}, kp::MutTensorView o) {{",
        f"  const double all = {' + '.join(f'a{i}' for i in range(WORDS))};",
        "  y.data_ptr<float>()[0] += 1; o.data_ptr<float>()[0] = x.data_ptr<float>()[0] + static_cast<float>(all); }",
        f"void Arrays({arrays}, {results}) {{ const float all = {first};",
        "  " + " ".join(f"o{i}.data_ptr<float>()[0] = all + {i};" for i in range(RESULTS)) + " }",
        'KP_MODULE("torch_names", "1.0.0");',
    ]
    for i, group in enumerate(NUMBERS):
        words = ", ".join(f"{name}: float = 0.5" for name in group)
        rows.append(f'KP_EXPORT(numbers{i}, Numbers, "(x__: f32[N], y__!: f32[N], *, {words}) -> (o__: f32[N])");')
    for i, group in enumerate(ARRAYS):
        words = ", ".join(f"{name}: f32[N]" for name in group)
        named = ", ".join(f"{name}: f32[N]" for name in list_results(i))
        rows.append(f'KP_EXPORT(arrays{i}, Arrays, "({words}) -> ({named})");')
    return "\n".join(rows)


def list_results(index):
    """Names that aren't those of the function's parameters, and `out`."""
    others = [name for name in OURS if name not in ARRAYS[index]]
    return [*others[index :: max(1, len(others) // (RESULTS - 1))][: RESULTS - 1], "out"]


@pytest.fixture(scope="module")
def k():
    return kernpack.load_inline(source())


def numbers(k, x, y, **more):
    """Every function of numbers, each with its keywords."""
    return [getattr(k, f"numbers{i}")(x, y, **dict.fromkeys(group, 1.0), **more) for i, group in enumerate(NUMBERS)]


def arrays(k, x):
    return [getattr(k, f"arrays{i}")(*[x] * TENSORS) for i in range(len(ARRAYS))]


SUM = [61.0] * len(NUMBERS)
ALL = [[TENSORS + i for i in range(RESULTS)]] * len(ARRAYS)


def values(found):
    return [[item.item() for item in each] if isinstance(each, tuple) else each.item() for each in found]


def test_the_names_are_many():
    assert {"any", "getattr", "keyset", "mode", "mode_", "_call", "_op", "_x", "__class__"} <= {*OURS, *THEIRS}
    assert len(OURS) > 300
    assert len(THEIRS) > 200


def test_our_own_names_in_generated_code_have_capitals(monkeypatch):
    """Whatever isn't a parameter or result, or an attribute, has one: no name of a contract can meet it."""
    texts = []
    define = _binder.define
    for module in ("_binder", "_autograd"):
        monkeypatch.setattr(f"kernpack.torch.{module}.define", lambda n, s, g: texts.append(s) or define(n, s, g))
    function = kernpack.load_inline(
        "void f(kp::ListView<kp::TensorView> p, std::optional<kp::TensorView> q, double r, kp::MutTensorView s) {}",
        {"f": "(p: list[f32[N]], q: f32[N]?, *, r: float = 1.0) -> (s: f32[N])"},
        name="torch_names_written",
    )
    with torch.no_grad():
        function.f([torch.ones(1, device="meta")], None)
    torch.compile(function.f, backend="eager")([torch.ones(1)], None)
    texts = [text for text in texts if "p, q" in text]  # other modules are registered with what is imported here, too
    trees = [ast.parse(text) for text in texts]
    found = {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}
    found |= {node.arg for tree in trees for node in ast.walk(tree) if isinstance(node, ast.arg)}
    found |= {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert len(texts) > 4
    assert {name for name in found if name == name.lower()} == {"p", "q", "r", "s", "out"}


def test_direct_calls(k):
    x = torch.ones(1)
    assert values(numbers(k, x, torch.zeros(1))) == SUM
    assert values(arrays(k, x)) == ALL
    assert values(numbers(k, x, torch.zeros(1), out=torch.zeros(1))) == SUM


def test_calls_that_torch_sees(k):
    x = torch.ones(1)
    with torch.profiler.profile():  # such calls go through the dispatcher
        assert values(numbers(k, x, torch.zeros(1))) == SUM
        assert values(numbers(k, x, torch.zeros(1), out=torch.zeros(1))) == SUM
        assert values(arrays(k, x)) == ALL
    meta = torch.ones(1, device="meta")
    assert [each.shape for each in numbers(k, meta, meta.clone())] == [(1,)] * len(NUMBERS)
    assert arrays(k, meta)[0][0].shape == (1,)


def test_operators_by_name(k):
    ops = torch.ops.kernpack_torch_names
    for i, group in enumerate(NUMBERS):
        given = {_binder.in_schema(name): 1.0 for name in group}
        schema = getattr(ops, f"numbers{i}").default._schema
        assert [argument.name for argument in schema.arguments][2:] == list(given)
        assert getattr(ops, f"numbers{i}")(torch.ones(1), torch.zeros(1), **given) == 61


def test_vmap(k):
    def every(x, y):
        return [each[0] for each in numbers(k, x, y)], arrays(k, x)[0][0][0]

    one, more = torch.vmap(every)(torch.ones(2, 1), torch.zeros(2, 1))
    assert [each.tolist() for each in one] == [[61, 61]] * len(NUMBERS)
    assert more.tolist() == [TENSORS, TENSORS]


def test_compile(k):
    def step(x, y):
        return numbers(k, x, y), arrays(k, x)

    y = torch.zeros(1)
    one, more = torch.compile(step, fullgraph=True)(torch.ones(1), y)
    assert (values(one), values(more), y.item()) == (SUM, ALL, len(NUMBERS))
