"""jax.export: symbolic shapes, to bytes and back in another process, gradients included."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_modules import run_python
from wide import close

pytest.importorskip("flatbuffers", reason="jax.export writes bytes with flatbuffers, which is not installed")
pytest.importorskip("jax.export", exc_type=ImportError, reason="this jax.export needs absl-py, which is not installed")

READ = """
import sys, numpy as np, jax, kernpack, kernpack.jax
kernpack.load(sys.argv[1])
program = kernpack.jax.deserialize(open(sys.argv[2], "rb").read())
x = np.arange(12, dtype=np.float32).reshape(3, 4)
print([np.asarray(value).tolist() for value in jax.jit(program.call)(x, np.full(4, 2, np.float32))])
"""


def shapes(text):
    (rows,) = jax.export.symbolic_shape(text)
    return jax.ShapeDtypeStruct((rows, 4), jnp.float32), jax.ShapeDtypeStruct((4,), jnp.float32)


def test_to_bytes_and_back_in_another_process(g, gradients_path, tmp_path):
    import kernpack.jax

    def step(x, w):
        return g.scale(x, w), *jax.grad(lambda x, w: g.scale(x, w).sum(), (0, 1))(x, w)

    program = kernpack.jax.export(jax.jit(step))(*shapes("rows"))
    assert [str(aval.shape) for aval in program.out_avals] == ["(rows, 4)", "(rows, 4)", "(4,)"]
    text = program.mlir_module()
    assert "jax_gradients@v1/scale" in text
    assert "@kernpack.call.v1(" in text
    (tmp_path / "step.bin").write_bytes(program.serialize())
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    expected = [(2 * x).tolist(), np.full((3, 4), 2.0).tolist(), x.sum(0).tolist()]
    assert run_python(READ, str(gradients_path), str(tmp_path / "step.bin")) == f"{expected}\n"


def test_the_module_must_be_loaded_there(g, k, tmp_path, module_path):
    import kernpack.jax

    program = kernpack.jax.export(jax.jit(g.scale))(*shapes("rows"))
    (tmp_path / "step.bin").write_bytes(program.serialize())
    with pytest.raises(AssertionError, match="scale of module jax_gradients with version v1 is needed"):
        run_python(READ, str(module_path), str(tmp_path / "step.bin"))


def test_dims_that_cannot_fit_are_refused_while_exporting(g):
    import kernpack.jax

    x, _ = shapes("rows")
    with pytest.raises(ValueError, match=r"scale: w: expected shape \[D\] with D = 4 \(bound by x\), got \[5\]"):
        kernpack.jax.export(jax.jit(g.scale))(x, jax.ShapeDtypeStruct((5,), jnp.float32))


def test_dims_that_do_not_fit_at_run_time(g):
    import kernpack.jax

    rows, columns = jax.export.symbolic_shape("rows, columns")
    left, right = (jax.ShapeDtypeStruct((dim,), jnp.float32) for dim in (rows, columns))
    program = kernpack.jax.export(jax.jit(g.times))(left, right)
    close(program.call(np.ones(3, np.float32), np.ones(3, np.float32)), np.ones(3))
    with pytest.raises(ValueError, match=r"times: b: expected"), kernpack.jax.errors():
        jax.block_until_ready(program.call(np.ones(3, np.float32), np.ones(4, np.float32)))


def test_shape_arithmetic_and_workspace(k):
    import kernpack.jax

    (n,) = jax.export.symbolic_shape("n")
    program = kernpack.jax.export(jax.jit(k.scratch))(jax.ShapeDtypeStruct((n,), jnp.float32))
    close(program.call(np.arange(5, dtype=np.float32)), np.arange(5))


def test_a_symbolic_dim_as_static_argument(k):
    import kernpack.jax

    (n,) = jax.export.symbolic_shape("n")
    with pytest.raises(TypeError, match="axpb: a: expected int, got the symbolic dim n"):
        kernpack.jax.export(jax.jit(lambda x: k.axpb(x, a=x.shape[0])))(jax.ShapeDtypeStruct((n,), jnp.float32))
