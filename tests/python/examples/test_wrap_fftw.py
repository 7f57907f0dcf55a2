"""examples/wrap_fftw: FFTW's transforms beside torch's and JAX's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "wrap_fftw"


@pytest.fixture(scope="module")
def k() -> Any:
    sys.path.insert(0, str(FOLDER))
    try:
        import main

        return main.load()
    except main.NoFftw as error:
        pytest.skip(str(error))
    finally:
        sys.path.remove(str(FOLDER))
        sys.modules.pop("main", None)


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_the_example_runs(k: Any) -> None:
    done = subprocess.run([sys.executable, FOLDER / "main.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "NumPy: True" in done.stdout
    assert "JAX, jit of vmap of grad: True" in done.stdout


def test_nothing_of_fftw_is_left_to_find(k: Any) -> None:
    needed = subprocess.run(["readelf", "-d", k.path], capture_output=True, text=True, check=True).stdout
    assert "libfftw" not in needed


@pytest.mark.parametrize("n", [1, 2, 7, 16, 101])
def test_transforms_of_every_size_agree_with_torch(k: Any, n: int) -> None:
    x = torch.randn(3, 2, n, dtype=torch.complex64)
    close(k.fft(x), torch.fft.fft(x))
    close(k.fft(x, inverse=True, scale=1 / n), torch.fft.ifft(x))
    close(k.rfft(x.real), torch.fft.rfft(x.real))  # real parts lie two floats apart


def test_nothing_to_do(k: Any) -> None:
    assert k.fft(np.empty((0, 4), np.complex64)).shape == (0, 4)
    assert k.fft(np.empty((4, 0), np.complex64)).shape == (4, 0)
    assert k.rfft(np.empty((0, 4), np.float32)).shape == (0, 3)


@pytest.mark.parametrize("n", [1, 6, 7])
def test_gradients_agree_with_torch(k: Any, n: int) -> None:
    for mine, its, dtype in (
        (k.fft, torch.fft.fft, torch.complex64),
        (lambda x: k.fft(x, inverse=True), lambda x: torch.fft.ifft(x, norm="forward"), torch.complex64),
        (k.rfft, torch.fft.rfft, torch.float32),
    ):
        x = torch.randn(4, n, dtype=dtype, requires_grad=True)
        weight = torch.randn(its(x).shape, dtype=torch.complex64)
        (found,) = torch.autograd.grad((mine(x) * weight).abs().sum(), x)
        (expected,) = torch.autograd.grad((its(x) * weight).abs().sum(), x)
        close(found, expected)
        tangent = torch.randn_like(x)
        close(torch.func.jvp(mine, (x.detach(),), (tangent,))[1], torch.func.jvp(its, (x.detach(),), (tangent,))[1])


def test_second_order(k: Any) -> None:
    x = torch.randn(5, dtype=torch.complex64, requires_grad=True)
    (first,) = torch.autograd.grad(k.fft(x).abs().square().square().sum(), x, create_graph=True)
    (found,) = torch.autograd.grad(first.abs().sum(), x)
    (first,) = torch.autograd.grad(torch.fft.fft(x).abs().square().square().sum(), x, create_graph=True)
    (expected,) = torch.autograd.grad(first.abs().sum(), x)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-2)


def test_transforms_of_torch(k: Any) -> None:
    x = torch.randn(6, 4, dtype=torch.complex64)
    close(torch.func.vmap(k.fft, in_dims=1)(x), torch.fft.fft(x.T))
    close(torch.compile(lambda x: k.fft(x * 2), fullgraph=True, backend="aot_eager")(x), torch.fft.fft(x * 2))


def test_compiled_gradients_agree_with_jax(k: Any) -> None:
    x = jnp.asarray(np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32))

    def loss(transform: Any) -> Any:
        return jax.jit(jax.grad(lambda x: jnp.abs(transform(x)).sum()))

    np.testing.assert_allclose(loss(k.rfft)(x), loss(jnp.fft.rfft)(x), rtol=1e-4, atol=1e-4)
    z = x + 1j * x[::-1]
    np.testing.assert_allclose(loss(k.fft)(z), loss(jnp.fft.fft)(z), rtol=1e-4, atol=1e-4)


def test_other_dtypes_are_refused(k: Any) -> None:
    with pytest.raises(TypeError, match=r"fft: x: expected dtype c64, got f32"):
        k.fft(np.ones(3, np.float32))
    with pytest.raises(TypeError, match=r"rfft: x: expected dtype f32, got f64"):
        k.rfft(np.ones(3))
