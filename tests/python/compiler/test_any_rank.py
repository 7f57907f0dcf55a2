"""Generated functions whose tensors have any number of leading dimensions, in every framework."""

from __future__ import annotations

from pathlib import Path

import kernpack
import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
import kernpack_compiler as kc
from kernpack_compiler import ir


@ir.func("(x: f32[N...]) -> (out: f32[N...])", grad="silu_backward")
def silu(x, out, N):
    with ir.vectorized(N, lanes=16) as i:
        out[i] = x[i] * ir.sigmoid(x[i])


@ir.func("(d_out: f32[N...], x: f32[N...]) -> (d_x: f32[N...])")
def silu_backward(d_out, x, d_x, N):
    with ir.vectorized(N, lanes=16) as i:
        s = ir.let(ir.sigmoid(x[i]), "s")
        d_x[i] = d_out[i] * s * (1 + x[i] * (1 - s))


@ir.func("(x: f32[N..., D], weight: f32[D], seen!: i32[N...]) -> (out: f32[N..., D])")
def rms_norm(x, weight, seen, out, N, D):
    with ir.parallel(N) as i:
        mean = ir.let(ir.sum(D, lambda j: x[i, j] * x[i, j]) / ir.f32(D), "mean")
        seen[i] = seen[i] + 1
        with ir.vectorized(D, lanes=16) as j:
            out[i, j] = x[i, j] / ir.sqrt(mean + 1e-6) * weight[j]


MODULE = ir.IRModule([silu, silu_backward, rms_norm], "any_rank")
SHAPES = [(), (5,), (2, 3, 4), (2, 0, 3), (1, 2, 1, 3, 2)]


def expected_silu(x):
    return x / (1 + np.exp(-x))


def sample(*shape: int) -> np.ndarray:
    return np.asarray(np.random.default_rng(0).standard_normal(shape), dtype=np.float32)


@pytest.fixture(scope="module", params=["c", "llvm"])
def built(request) -> kc.BuiltModule:
    return kc.build(MODULE, request.param)


def test_text_and_contract(built) -> None:
    assert str(silu).startswith("func silu(x: f32[N...]) -> (out: f32[N...])")
    assert silu.params[0] == ("x", "input", ir.f32, ("N...",))
    assert built.silu.__doc__.startswith("silu(x: f32[...]) -> (out: f32[...])")
    assert ir.IRModule.parse(str(MODULE)) == MODULE


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_numpy_and_the_interpreter(built, shape: tuple[int, ...]) -> None:
    x = sample(*shape)
    for got in (built.silu(x), ir.interpret(MODULE, silu, x)):
        assert got.shape == shape
        np.testing.assert_allclose(got, expected_silu(x), rtol=1e-5, atol=1e-7)


def test_rows_of_any_rank(built) -> None:
    x, weight = sample(2, 3, 8), sample(8)
    for run in (built.rms_norm, lambda *given: ir.interpret(MODULE, rms_norm, *given)):
        seen = np.zeros((2, 3), np.int32)
        got = run(x, weight, seen)
        np.testing.assert_allclose(got, x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * weight, rtol=1e-5)
        assert (seen == 1).all()


def test_leading_dimensions_must_agree(built) -> None:
    x, weight = sample(2, 3, 8), sample(8)
    for run in (built.rms_norm, lambda *given: ir.interpret(MODULE, rms_norm, *given)):
        with pytest.raises(ValueError, match=r"rms_norm: seen: expected .*\[2, 3\]"):
            run(x, weight, np.zeros((3, 2), np.int32))
        with pytest.raises(ValueError, match=r"rms_norm: x: expected .*at least 1"):
            run(np.array(3, np.float32), weight, np.zeros((), np.int32))


def test_torch_calls_differentiates_and_batches_it(built) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x = torch.from_numpy(sample(2, 3, 4)).requires_grad_()
    out = built.silu(x)
    torch.testing.assert_close(out, torch.nn.functional.silu(x))
    out.sum().backward()
    want = torch.autograd.grad(torch.nn.functional.silu(x).sum(), x)[0]
    torch.testing.assert_close(x.grad, want)
    batched = torch.vmap(built.silu, in_dims=1)(x.detach())
    torch.testing.assert_close(batched, torch.nn.functional.silu(x.detach()).movedim(1, 0))
    compiled = torch.compile(lambda t: built.silu(t * 2), fullgraph=True)
    torch.testing.assert_close(compiled(x.detach()), torch.nn.functional.silu(x.detach() * 2))


def test_jax_compiles_differentiates_and_batches_it(built) -> None:
    jax = pytest.importorskip("jax", reason="jax is not installed")
    import jax.numpy as jnp

    x = jnp.asarray(sample(2, 3, 4))
    np.testing.assert_allclose(jax.jit(built.silu)(x), jax.nn.silu(x), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(
        jax.grad(lambda a: built.silu(a).sum())(x), jax.grad(lambda a: jax.nn.silu(a).sum())(x), rtol=1e-4, atol=1e-6
    )
    np.testing.assert_allclose(jax.vmap(built.silu, in_axes=1)(x), jax.nn.silu(x).swapaxes(0, 1), rtol=1e-5, atol=1e-7)


def test_an_exported_module_takes_any_rank(tmp_path: Path) -> None:
    kc.build(MODULE, "llvm").export_library(tmp_path / "any_rank.so")
    loaded = kernpack.load(tmp_path / "any_rank.so")
    x = sample(2, 3, 4)
    np.testing.assert_allclose(loaded.silu(x), expected_silu(x), rtol=1e-5)


def test_a_stage_program_of_any_rank() -> None:
    p = ir.StageProgram("twice")
    n, d = p.dim("N..."), p.dim("D")
    x = p.input("x", "f32", [n, d])
    p.result(p.compute("out", [n, d], lambda i, j: x[i, j] * 2))
    s = ir.Schedule(p)
    s.parallel("out", "i")
    s.vectorize("out", "j", 8)
    twice = s.lower()
    assert str(twice).startswith("func twice(x: f32[N..., D]) -> (out: f32[N..., D])")
    x = sample(2, 3, 9)
    np.testing.assert_array_equal(kc.build(ir.IRModule([twice], "twice"), "c").twice(x), x * 2)
