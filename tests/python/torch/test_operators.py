"""The operators themselves: schemas, arguments of every kind, errors."""

from __future__ import annotations

import contextlib

import kernpack.torch
import pytest
import torch
from kernpack._private import SETTING
from recorder import Recorder
from torch.autograd import forward_ad

ASK, BELOW, RECORD = range(3)


@pytest.fixture
def ops(k):
    return getattr(torch.ops, kernpack.torch.ops(k).namespace)


def test_the_namespace_is_the_module(k, ops):
    assert kernpack.torch.ops(k).namespace == "kernpack_torch_tests"
    assert kernpack.torch.ops(k) is kernpack.torch.ops(k)


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("scale", "scale(Tensor x, *, float f=2.) -> Tensor"),
        ("bump", "bump(Tensor(m0!) x) -> ()"),
        ("top", "top(Tensor x, *, SymInt k) -> (Tensor, Tensor)"),
        ("kinds", 'kinds(Tensor x, *, str mode_="single", bool flag=False, SymInt n=0) -> Tensor'),
        ("cast", "cast(Tensor x, *, ScalarType dtype) -> Tensor"),
        ("total", "total(Tensor[] xs) -> Tensor"),
        ("where_add", "where_add(Tensor x, Tensor? y=None) -> Tensor"),
    ],
)
def test_an_operator_has_the_schema_of_its_contract(ops, name, schema):
    assert str(getattr(ops, name).default._schema) == f"kernpack_torch_tests::{schema}"


def test_out_variant(ops):
    assert str(ops.scale.out._schema).endswith("scale.out(Tensor x, *, float f=2., Tensor(r0!) out) -> ()")
    out = torch.empty(3)
    assert ops.scale.out(torch.ones(3), out=out) is None
    assert out.tolist() == [2, 2, 2]


def test_an_operator_has_the_tags_that_its_contract_says(ops):
    assert torch.Tag.pt2_compliant_tag in ops.scale.default.tags
    assert torch.Tag.needs_exact_strides in ops.scale.default.tags
    assert torch.Tag.cudagraph_unsafe in ops.scale.default.tags  # it does not say graph_safe
    assert torch.Tag.nondeterministic_bitwise in ops.scale.default.tags  # nobody knows better
    assert torch.Tag.nondeterministic_bitwise not in ops.weighted.default.tags  # its author says deterministic


def test_arguments_of_every_kind(k, ops):
    x = torch.arange(3.0)
    assert ops.kinds(x, mode_="double", flag=True, n=5).tolist() == [105, 107, 109]
    assert ops.cast(x, dtype=torch.float64).dtype == torch.float64
    assert ops.total([x, x, x]).tolist() == [0, 3, 6]
    assert ops.where_add(x).tolist() == [0, 1, 2]
    assert ops.where_add(x, x).tolist() == [0, 2, 4]
    assert ops.kernel_memory(x).tolist() == [12, 13, 14]
    values, indices = ops.top(x, k=2)
    assert values.tolist() == [0, 1]
    assert indices.dtype == torch.int32


def test_zero_size(ops):
    assert ops.scale(torch.empty(0, 4)).shape == (0, 4)


def test_errors_keep_their_words(ops):
    with pytest.raises(ValueError, match=r"^top: expected 0 < k <= N, got k = 9, N = 3 \(bound by x\)$"):
        ops.top(torch.ones(3), k=9)
    with pytest.raises(TypeError, match=r"^scale: x: expected dtype T in \{f32, f64\}, got i64\n    convert it first"):
        ops.scale(torch.ones(3, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"scale: x: expected a contiguous tensor"):
        ops.scale(torch.ones(3, 2).t())
    with pytest.raises(IndexError, match=r"^refuse: not today$"):
        ops.refuse(torch.ones(3))


def test_errors_release_what_they_were_given(ops):
    x = torch.ones(3, dtype=torch.int64)
    before = torch._C._storage_Use_Count(x.untyped_storage()._cdata)
    for _ in range(10):
        with pytest.raises(TypeError):
            ops.scale(x)
    assert torch._C._storage_Use_Count(x.untyped_storage()._cdata) == before


def test_version_counter(k, ops):
    x = torch.zeros(3)
    ops.bump(x)
    assert x._version == 1
    ops.scale.out(torch.ones(3), out=x)
    assert x._version == 2


def test_every_dtype_number(k):
    """The table in ffi/src/guests/torch/dtype.cc against the torch at hand."""
    source = "void same(kp::TensorView x, kp::MutTensorView out) {}"
    names = [
        "bool",
        "i8",
        "i16",
        "i32",
        "i64",
        "u8",
        "u16",
        "u32",
        "u64",
        "f16",
        "bf16",
        "f32",
        "f64",
        "c64",
        "c128",
        "f8_e4m3fn",
        "f8_e5m2",
        "f8_e8m0fnu",
    ]
    module = kernpack.load_inline(source, {"same": "(x: T[N]) -> (out: T[N]) where T in any"}, name="torch_dtypes")
    same = kernpack.torch.ops(module).same
    from kernpack.torch._dtypes import of_name

    for name in names:
        x = torch.empty(2, dtype=of_name(name))
        assert same(x).dtype == x.dtype
        assert kernpack.DType(x.dtype).name == name


def test_a_name_that_python_keeps_for_itself():
    module = kernpack.load_inline(
        "void lambda(kp::TensorView x) {}", {"lambda": "(x: f32[N]) -> ()"}, name="torch_keyword"
    )
    operator = getattr(kernpack.torch.ops(module), "lambda")
    assert operator(torch.ones(2)) is None
    with pytest.raises(TypeError, match="lambda"):
        operator()


def test_two_versions_of_a_module(k, tmp_path):
    """The second content of a name gets a namespace with its digest."""
    one = kernpack.load_inline("void f(kp::TensorView x) {}", {"f": "(x: f32[N]) -> ()"}, name="twice_there")
    two = kernpack.load_inline("void f(kp::TensorView x) { }", {"f": "(x: f32[M]) -> ()"}, name="twice_there")
    assert kernpack.torch.ops(one).namespace == "kernpack_twice_there"
    assert kernpack.torch.ops(two).namespace == f"kernpack_twice_there_{two.digest[:8]}"


def test_a_name_that_begins_as_the_namespace_does():
    """It is not said twice, and a module whose namespace would be the same gets another."""
    load = lambda name: kernpack.load_inline(  # noqa: E731
        "void f(kp::TensorView x) {}", {"f": "(x: f32[N]) -> ()"}, name=name
    )
    one, two = load("kernpack_stutter"), load("stutter")
    assert kernpack.torch.ops(one).namespace == "kernpack_stutter"
    assert kernpack.torch.ops(two).namespace == f"kernpack_stutter_{two.digest[:8]}"


@pytest.mark.parametrize("how", ["direct", "operator", "autograd", "error"])
def test_no_call_leaves_memory_behind(k, ops, how):
    resource = pytest.importorskip("resource", reason="Windows has no getrusage()")
    """Calls with tensors, lists, text and numbers: after 20 000 of them the process is as large as it was."""
    x, live = torch.arange(64.0), torch.ones(64, requires_grad=True)

    def direct():
        k.kinds(x, mode="double", flag=True, n=5)
        k.total([x, x])

    def operator():
        ops.kinds(x, mode_="double", flag=True, n=5)
        ops.total([x, x])
        ops.where_add(x, None)

    def autograd():
        k.square(live).backward(x)
        live.grad = None

    def error():
        with contextlib.suppress(ValueError):
            k.top(x, k=99)

    call = {"direct": direct, "operator": operator, "autograd": autograd, "error": error}[how]
    for rounds in (3000, 20000):  # the first only to settle
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(rounds):
            call()
    assert (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 512
    )  # KiB; 20 000 leaks of a tensor are 10 times that


def test_calls_of_operators_that_nothing_follows_stay_below_autograd(k, slow):
    """With the hooks, too: the kernel at the Autograd key, which is written in Python, doesn't run."""
    ops, way = kernpack.torch.ops(k), kernpack._core.torch_way
    x, weight = torch.arange(3.0), torch.nn.Parameter(torch.ones(3))
    torch.testing.assert_close(ops.scale(x, f=3.0), 3 * x)
    assert ops.scale(x, out=torch.empty(3)).tolist() == [0, 2, 4]
    ops.bump(x)
    assert (x.tolist(), x._version) == ([1, 2, 3], 1)
    with torch.no_grad():
        torch.testing.assert_close(ops.scale(weight), 2 * weight)
    assert not slow
    with Recorder() as seen:
        ops.scale(x)
    assert seen.seen == ["kernpack_torch_tests.scale.default"]
    assert (way(x), way(x, weight)) == (BELOW, RECORD)
    assert (way(), way(None), way(3), way(x.numpy()), way(x, 3)) == (ASK,) * 5
    assert way(x.as_subclass(type("Subclass", (torch.Tensor,), {}))) == ASK
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, x)
        assert way(dual) == ASK
        with pytest.raises(RuntimeError, match="carries a tangent"):
            ops.scale(dual)
    answers = [way(x)]
    torch.testing.assert_close(torch.vmap(ops.scale)(torch.ones(2, 3)), torch.full((2, 3), 2.0))
    torch.jit.trace(lambda t: answers.append(way(t)) or ops.scale(t), (x,), check_trace=False)
    assert answers == [BELOW, ASK if SETTING != "0" else BELOW]  # without hooks, torch isn't asked about traces here
