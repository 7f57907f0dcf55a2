"""Eight CPU devices: each calls the kernel on its share, and the numbers are those of one device."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import kernpack
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from kernpack._private import SETTING
from kernpack.jax import _devices, _partition
from meshes import shard_map, using
from wide import close, normal

pytestmark = pytest.mark.usefixtures("x64", "devices")
X, W = normal(8, 6, 4), normal(4)


def mesh(kind=AxisType.Auto):
    return jax.make_mesh((4, 2), ("data", "model"), axis_types=(kind, kind))


def placed(value, spec, on):
    return jax.device_put(value, NamedSharding(on, spec))


def compiled(function, *args):
    return jax.jit(function).lower(*args).compile().as_text()


def loss(g):
    return lambda x, w: jnp.sin(g.scale(x, w)).sum()


def expected_gradients(x=X):
    return jax.grad(lambda x, w: jnp.sin(x * w).sum(), (0, 1))(x, W)


@pytest.mark.parametrize(
    "spec", [P("data"), P("data", "model"), P(("data", "model")), P(("model", "data")), P("model"), P(None, "model")]
)
def test_batch_dims_stay_sharded(g, spec):
    x = placed(X, spec, mesh())
    out = jax.jit(g.scale)(x, W)
    assert out.sharding.is_equivalent_to(x.sharding, X.ndim)
    close(out, X * W)
    program = compiled(g.scale, x, W)
    assert "all-gather" not in program
    assert f"f64[{','.join(map(str, x.sharding.shard_shape(X.shape)))}]" in program


@pytest.fixture(params=[True, False], ids=["shardy", "gspmd"])
def partitioner(request):
    before = jax.config.jax_use_shardy_partitioner
    jax.config.update("jax_use_shardy_partitioner", request.param)
    yield
    jax.config.update("jax_use_shardy_partitioner", before)


@pytest.mark.usefixtures("partitioner")
def test_both_partitioners_split_calls_gradients_and_batches(g):
    x = placed(X, P("data"), mesh())
    value, gradients, batched = g.scale, jax.grad(loss(g), (0, 1)), jax.vmap(g.scale, (0, None))
    for call in (value, gradients, batched):
        program = compiled(call, x, W)
        assert "all-gather" not in program
        assert "f64[2,6,4]" in program
        assert "f64[8,6,4]" not in program
    for result in (jax.jit(value)(x, W), jax.jit(gradients)(x, W)[0], jax.jit(batched)(x, W)):
        assert result.sharding.is_equivalent_to(NamedSharding(mesh(), P("data")), X.ndim)


@pytest.fixture
def told_anew():
    _partition.warn_of_gathering.cache_clear()


def test_a_jax_that_does_not_say_its_devices_gathers_with_a_warning(g, monkeypatch, told_anew):
    monkeypatch.setattr(_devices, "needed", dict)  # as if JAX didn't look for it
    call = lambda x: g.square(x, factor=0.8125)[0]  # noqa: E731 - of a number that no other test has
    x = placed(X, P("data"), mesh())
    with pytest.warns(RuntimeWarning, match=r"\.square: jax .* gathers its arrays.*jax\.shard_map"):
        out = jax.jit(call)(x)
    close(out, call(X))


@pytest.mark.usefixtures("told_anew", "partitioner")
def test_a_sharded_dim_that_the_call_needs_whole_is_a_warning(g):
    x = placed(X, P(None, None, "data"), mesh())
    with pytest.warns(RuntimeWarning, match=r"\.scale: x is sharded over data in dim 2"):
        out = jax.jit(lambda x: g.scale(x, W) + 0)(x)
    close(out, X * W)


@pytest.mark.parametrize("spec", [P("data"), P("data", "model"), P(None, "model"), P()])
def test_numbers_do_not_depend_on_the_split(g, spec):
    x = placed(X, spec, mesh())
    close(jax.jit(g.scale)(x, W), X * W)
    for found, expected in zip(jax.jit(jax.grad(loss(g), (0, 1)))(x, W), expected_gradients(), strict=True):
        close(found, expected)


@pytest.mark.skipif(SETTING == "0", reason="without the hook jax.shares JAX lowers each device's share of each call")
def test_calls_alike_are_lowered_once(g, monkeypatch):
    """A program of many calls compiles in the time of few: XLA asks at each call what one device's share is."""
    from kernpack.jax import _sharding

    lowered = []
    monkeypatch.setattr(_sharding, "summed", lambda config, was=_sharding.summed: lowered.append(config) or was(config))

    def run(x):
        for _ in range(20):
            x = g.square(x, factor=0.375)[0]
        return x

    x = placed(X[:, :5], P("data"), mesh())
    program = compiled(run, x)
    assert program.count(" custom-call(") == 20
    assert len(lowered) <= 2  # the first may get its operand in another layout
    close(jax.jit(run)(x), run(X[:, :5]))


def test_other_dims_are_made_whole(g):
    x = placed(X, P("data", None, "model"), mesh())
    close(jax.jit(g.scale)(x, W), X * W)


def test_gradients_add_up_over_devices(g):
    x = placed(X, P("data"), mesh())
    close(jax.jit(jax.grad(loss(g), (0, 1)))(x, W), expected_gradients())
    program = compiled(jax.grad(loss(g), (0, 1)), x, W)
    assert "all-gather" not in program
    assert "all-reduce" in program


def test_results_that_reduce(g):
    x = placed(X, P("data"), mesh())
    close(jax.jit(g.row_sums)(x), X.sum((0, 1)))
    assert "all-gather" not in compiled(g.row_sums, x)
    close(jax.jit(g.whole_sums)(x), X.sum((0, 1)))  # not marked `sum`: one call on all of it
    assert "all-gather" in compiled(g.whole_sums, x)


def test_columns_of_a_table_stay_sharded():
    """Indices and columns are split over different axes: the table's gradient adds up over those of the indices only."""
    k = kernpack.load("kernpack_kernels")
    table, cotangent = normal(5, 4), normal(8, 4)
    indices = jnp.asarray(np.arange(8) * 3 % 5)
    on = mesh()
    split = (
        placed(table, P(None, "model"), on),
        placed(indices, P("data"), on),
        placed(cotangent, P("data", "model"), on),
    )

    def gradient(table, indices, d):
        return jax.vjp(lambda t: k.embedding(t, indices), table)[1](d)[0]

    close(jax.jit(k.embedding)(*split[:2]), table[indices])
    assert "all-gather" not in compiled(k.embedding, *split[:2])
    close(jax.jit(gradient)(*split), jnp.zeros_like(table).at[indices].add(cotangent))
    assert "all-gather" not in compiled(gradient, *split)


def test_columns_of_a_mean_stay_sharded():
    k = kernpack.load("kernpack_kernels")
    x, tokens = placed(X, P("data", None, "model"), mesh()), jnp.ones((8, 6), bool)
    close(jax.jit(k.mean_pool)(x, tokens), X.mean(1))
    assert "all-gather" not in compiled(k.mean_pool, x, tokens)


def test_six_rows_on_four_devices(g):
    on = NamedSharding(mesh(), P("data"))

    def constrained(x, w):
        return loss(g)(jax.lax.with_sharding_constraint(x, on), w)

    close(jax.jit(jax.grad(constrained, (0, 1)))(X[:6], W), expected_gradients(X[:6]))


@pytest.mark.parametrize("inner", [2, 4, 16])
def test_dims_that_a_part_of_an_axis_splits_are_gathered(g, inner):
    """As heads of keys are, where there are fewer than devices: XLA splits what a reshape makes of 16 columns over 4 devices."""
    x = placed(normal(3, 16), P(None, "data"), mesh())
    w = normal(inner)

    def scaled(x, by):
        return by(x.reshape(3, 16 // inner, inner), w)

    close(jax.jit(lambda x: scaled(x, g.scale))(x), scaled(np.asarray(x), np.multiply))
    found = jax.jit(jax.grad(lambda x: jnp.sin(scaled(x, g.scale)).sum()))(x)
    close(found, jax.grad(lambda x: jnp.sin(scaled(x, jnp.multiply)).sum())(x))


def test_broadcast_operand(g):
    x, mask = placed(X, P("data"), mesh()), normal(1, 6, 4)
    call = lambda x, m: g.mixed(x, m, [W])  # noqa: E731
    close(jax.jit(call)(x, mask), X + mask + W)
    assert "all-gather" not in compiled(call, x, mask)


def test_vmap_of_a_sharded_batch(g):
    x = placed(X, P("data"), mesh())
    call = jax.vmap(g.scale, (0, None))
    close(jax.jit(call)(x, W), X * W)
    assert "all-gather" not in compiled(call, x, W)


@pytest.mark.parametrize("spec", [P("data"), P("data", "model"), P("data", None, "model")])
def test_explicit_axes(g, spec):
    on = mesh(AxisType.Explicit)
    with using(on):
        x, w = placed(X, spec, on), placed(W, P(), on)
        batch = P(*(*spec, None, None)[:2], None)
        (out,) = jax.make_jaxpr(g.scale)(x, w).out_avals
        assert out.sharding.spec == batch
        close(np.asarray(jax.jit(g.scale)(x, w)), X * W)
        for wrap in (jax.jit, lambda f: f):
            got = wrap(jax.grad(loss(g), (0, 1)))(x, w)
            assert got[0].sharding.spec == P(*spec, *(None,) * (3 - len(spec)))
            close(tuple(np.asarray(value) for value in got), expected_gradients())
        if hasattr(jax.sharding, "use_abstract_mesh") and len(spec) < 3:
            assert "all-gather" not in compiled(jax.grad(loss(g), (0, 1)), x, w)


@pytest.mark.parametrize("check_vma", [True, False])
def test_shard_map(g, check_vma):
    def mapped(function, out_specs, **more):
        specs = {"in_specs": (P("data"), P()), "out_specs": out_specs}
        return jax.jit(shard_map(function, mesh=mesh(), check_vma=check_vma, **specs, **more))

    call = mapped(g.scale, P("data"))
    close(call(X, W), X * W)
    assert "all-gather" not in call.lower(X, W).compile().as_text()
    close(jax.grad(lambda x, w: jnp.sin(call(x, w)).sum(), (0, 1))(X, W), expected_gradients())


def test_shard_map_over_some_axes(g):
    specs = {"in_specs": (P("data"), P()), "out_specs": P("data"), "axis_names": {"data"}}
    before = jax.config.jax_use_shardy_partitioner
    try:
        jax.config.update("jax_use_shardy_partitioner", True)
        close(jax.jit(shard_map(g.scale, mesh=mesh(), **specs))(X, W), X * W)
        jax.config.update("jax_use_shardy_partitioner", False)
        with pytest.raises(
            NotImplementedError, match="scale: shard_map over some axes of a mesh needs XLA's partitioner"
        ):
            jax.jit(shard_map(g.scale, mesh=mesh(), **specs))(X, W)
    finally:
        jax.config.update("jax_use_shardy_partitioner", before)


@pytest.mark.parametrize("check_vma", [True, False])
def test_gradients_inside_shard_map(g, check_vma):
    def inside(scale, argnum, out_spec):
        gradient = jax.grad(lambda x, w: jnp.sin(scale(x, w)).sum(), argnum)
        specs = {"in_specs": (P("data"), P()), "out_specs": out_spec}
        return jax.jit(shard_map(lambda x, w: gradient(x, w), mesh=mesh(), check_vma=check_vma, **specs))(X, W)

    try:
        inside(jnp.multiply, 0, P("data"))
    except ValueError as error:
        pytest.skip(f"jax {jax.__version__} cannot differentiate its own operations here: {error}")
    close(inside(g.scale, 0, P("data")), expected_gradients()[0])
    if check_vma:  # without, JAX does not know that the gradient of what is replicated is a sum
        close(inside(g.scale, 1, P()), expected_gradients()[1])


def test_scan_over_a_sharded_carry(g):
    x = placed(X, P("data"), mesh())
    call = lambda x: jax.lax.scan(lambda c, _: (g.scale(c, W), None), x, length=3)[0]  # noqa: E731
    close(jax.jit(call)(x), X * W**3)
    assert "all-gather" not in compiled(call, x)


def test_mutated_parameter(k):
    cache = placed(jnp.zeros((8,), jnp.float32), P("data"), mesh())
    close(jax.jit(k.accumulate, donate_argnums=0)(cache, jnp.ones(8, jnp.float32)), np.ones(8))
