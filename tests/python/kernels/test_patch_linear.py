"""patch(model, linear=...): linear layers by the kernels, as they are or with a rounded copy of the weight."""

from __future__ import annotations

import copy
import threading

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
import kernpack_kernels.torch as kt  # noqa: E402  (needs torch)

# Errors of a whole product, relative to its size: 8 bits round to 1/254 of a group's largest element, 4 bits to 1/30 of its range.
ROOM = {"dense": 1e-6, "int8": 1e-2, "int4": 1.2e-1}
KINDS = list(ROOM)
ROUNDED = KINDS[1:]


@pytest.fixture(autouse=True)
def _new_programs():
    torch._dynamo.reset()


def small(dtype=torch.float32):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 96), torch.nn.ReLU(), torch.nn.Linear(96, 32, bias=False))
    return model.to(dtype)


def rows(patched):
    return {(row.what, row.by): row for row in patched.rows}


def apart(found, expected):
    return ((found.double() - expected.double()).norm() / expected.double().norm()).item()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(64,), (1, 64), (3, 5, 64), (0, 64), (200, 64)], ids=str)
def test_results_are_those_of_the_layers_within_the_rounding(kind, dtype, shape):
    model, x = small(dtype), torch.randn(shape, dtype=dtype)
    plain = copy.deepcopy(model)
    kt.patch(model, linear=kind)
    with torch.no_grad():
        found, expected = model(x), plain(x)
    assert found.dtype == dtype
    assert found.shape == expected.shape
    if x.numel():
        assert apart(found, plain.double()(x.double())) < ROOM[kind] + (0 if dtype == torch.float32 else 1e-2)
    kt.unpatch(model)
    assert torch.equal(model(x), expected)


@pytest.mark.parametrize("kind", ROUNDED)
@pytest.mark.parametrize("value", [0.0, 1.0, -3.0, 1e-38, 1e12, -1e30])
def test_groups_whose_elements_are_alike(kind, value):
    layer = torch.nn.Linear(64, 32, bias=False)
    with torch.no_grad():
        layer.weight.fill_(value)
        layer.weight[:, 32:] *= 1 + 1e-7 * torch.arange(32)
        x = torch.rand(3, 64)
        expected = layer(x)
        kt.patch(layer, linear=kind)
        torch.testing.assert_close(layer(x), expected, rtol=1e-4, atol=1e-36)


def test_the_table_says_what_became_of_each():
    model = torch.nn.Sequential(
        torch.nn.Linear(64, 64),
        torch.nn.Linear(40, 64),
        torch.nn.Linear(64, 64, dtype=torch.float64),
        torch.nn.Linear(64, 8),
        torch.nn.Bilinear(4, 4, 4),
    )
    with torch.no_grad():
        model[3].weight[0, 0] = float("nan")
    found = rows(kt.patch(model, linear="int8"))
    assert found["Linear", "packed_linear, int8"].count == 1
    notes = sorted(row.note for row in kt.patch(model, linear="int8").rows if not row.by)
    assert notes == [
        "has 40 columns, which isn't a multiple of 32",
        "is on cpu, of torch.float64: linear takes f32, f16 and bf16 on the CPU",
        "its weight has elements that aren't finite",
    ]
    assert not any(what == "Linear" for what, _ in rows(kt.patch(model)))
    assert rows(kt.patch(model, linear="dense"))["Linear", "linear"].count == 3


@pytest.mark.parametrize("linear", ["int2", "", 8, True])
def test_another_kind_is_refused_and_changes_nothing(linear):
    model = small()
    with pytest.raises(ValueError, match=r'patch: linear: expected None, "dense", "int8" or "int4", got'):
        kt.patch(model, linear=linear)
    assert "forward" not in model[0].__dict__


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_the_exact_layers(kind):
    model, x = small(), torch.randn(7, 64, requires_grad=True)
    plain = copy.deepcopy(model)
    kt.patch(model, linear=kind)
    gradients = []
    for each in (model, plain):
        x.grad = None
        each(x).square().sum().backward()
        gradients.append([x.grad, *(parameter.grad for parameter in each.parameters())])
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("kind", ROUNDED)
def test_a_changed_weight_is_rounded_again(kind, compiled):
    model, x = small(), torch.randn(5, 64)
    kt.patch(model, linear=kind)
    call = torch.compile(model, fullgraph=True) if compiled else model
    with torch.no_grad():
        first = call(x)
        assert torch.equal(call(x), first)
        model[2].weight.mul_(2)
        torch.testing.assert_close(call(x), 2 * first, rtol=1e-5, atol=1e-5)
        model.load_state_dict(small().state_dict())
        assert torch.equal(call(x), first)
        model[2].weight = torch.nn.Parameter(4 * model[2].weight)
        torch.testing.assert_close(call(x), 4 * first, rtol=1e-5, atol=1e-5)
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    model(x).sum().backward()
    optimizer.step()
    with torch.no_grad():
        exact = copy.deepcopy(model)
        kt.unpatch(exact)
        assert apart(call(x), exact(x)) < ROOM[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_one_graph_without_breaks(kind):
    model, x = small(), torch.randn(5, 64)
    kt.patch(model, linear=kind)
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(model, fullgraph=True)(x), model(x))
        dynamic = torch.compile(model, fullgraph=True, dynamic=True)
        for count in (2, 9):
            torch.testing.assert_close(dynamic(x[:1].expand(count, 64)), model(x[:1].expand(count, 64)))


@pytest.mark.parametrize("kind", ROUNDED)
def test_a_deep_copy_has_weights_of_its_own(kind):
    model, x = small(), torch.randn(5, 64)
    kt.patch(model, linear=kind)
    with torch.no_grad():
        first = model(x)
        other = copy.deepcopy(model)
        other[2].weight.zero_()
        assert not other(x).any()
        assert torch.equal(model(x), first)
    assert list(model.state_dict()) == list(small().state_dict())


@pytest.mark.parametrize("kind", ROUNDED)
def test_where_torch_would_do_something_else_it_does(kind):
    model, x = small(), torch.randn(5, 64)
    plain = copy.deepcopy(model)
    kt.patch(model, linear=kind)
    with torch.no_grad():
        with torch.autocast("cpu", torch.bfloat16):
            assert torch.equal(model(x), plain(x))
        with pytest.raises(RuntimeError, match="same dtype"):
            model(x.double())
        with pytest.raises(ValueError, match="packed_linear: x: expected a last dimension of 64"):
            model(x[:, :32])
        model.double()
        plain.double()
        assert torch.equal(model(x.double()), plain(x.double()))


@pytest.mark.parametrize("kind", KINDS)
def test_batched_by_vmap(kind):
    model, x = small().requires_grad_(False), torch.randn(3, 5, 64)
    plain = copy.deepcopy(model)
    kt.patch(model, linear=kind)
    torch.testing.assert_close(torch.vmap(model)(x), model(x))
    torch.testing.assert_close(torch.vmap(model, in_dims=1, out_dims=1)(x), model(x))
    state = {name: torch.stack([value, 2 * value]) for name, value in plain.state_dict().items()}
    found = torch.vmap(lambda s: torch.func.functional_call(model, s, (x,)))(state)
    expected = torch.vmap(lambda s: torch.func.functional_call(plain, s, (x,)))(state)
    assert apart(found, expected) < ROOM[kind]


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_of_frozen_models_are_exact(kind, compiled):
    model, x = small().requires_grad_(False), torch.randn(64)
    plain = copy.deepcopy(model)
    kt.patch(model, linear=kind)
    kinds = [lambda f: lambda x: torch.func.jvp(f, (x,), (torch.ones_like(x),))[1], torch.func.jacfwd]
    if not compiled or kind == "dense":  # torch doesn't compile reverse mode through an operator made in Python
        kinds.append(torch.func.jacrev)
    for of in kinds:
        call = torch.compile(of(model), fullgraph=True) if compiled else of(model)
        torch.testing.assert_close(call(x), of(plain)(x))


@pytest.mark.parametrize("kind", ROUNDED)
def test_an_exported_model_has_the_exact_layers(kind):
    model, x = small().requires_grad_(False), torch.randn(5, 64)
    plain = copy.deepcopy(model)
    kt.patch(model, linear=kind)
    exported = torch.export.export(model, (x,)).module()
    assert torch.equal(exported(x), plain(x))


@pytest.mark.parametrize("kind", ROUNDED)
def test_weights_given_for_one_call(kind):
    model, x = small(), torch.randn(5, 64)
    kt.patch(model, linear=kind)
    doubled = {name: 2 * value for name, value in model.state_dict().items()}
    with torch.no_grad():
        first = model(x)
        assert not torch.equal(torch.func.functional_call(model, doubled, (x,)), first)
        assert torch.equal(model(x), first)
    with torch.inference_mode():
        theirs = {name: value.clone() for name, value in doubled.items()}
        expected = torch.func.functional_call(small(), doubled, (x,))
        assert torch.equal(torch.func.functional_call(model, theirs, (x,)), expected)
        assert torch.equal(model(x), first)


@pytest.mark.parametrize("kind", ROUNDED)
def test_threads_may_call_at_the_same_time(kind):
    model, x = small(), torch.randn(5, 64)
    kt.patch(model, linear=kind)
    found = []

    def call():
        with torch.no_grad():
            found.extend(model(x) for _ in range(20))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 80
    assert all(torch.equal(each, found[0]) for each in found)


def test_an_encoder_of_torch_says_when_it_calls_its_modules():
    model, x = torch.nn.TransformerEncoderLayer(64, 2, 128, batch_first=True).eval(), torch.randn(2, 5, 64)
    with torch.no_grad():
        exact = model(x)
        notes = {row.what: row.note for row in kt.patch(model, linear="int8").rows if not row.by}
        assert "unless torch.backends.mha.set_fastpath_enabled(False)" in notes["TransformerEncoderLayer"]
        assert "attention" in notes["MultiheadAttention"]
        assert "derived from torch.nn.Linear" in notes["NonDynamicallyQuantizableLinear"]
        assert torch.equal(model(x), exact)
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            assert 0 < apart(model(x), exact) < ROOM["int8"]
        finally:
            torch.backends.mha.set_fastpath_enabled(True)
