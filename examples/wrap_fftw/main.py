"""FFTW as ops of NumPy, PyTorch and JAX, from one C++ file: builds it, and filters a noisy signal by gradient descent."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import kernpack

HERE = Path(__file__).resolve().parent
PREFIX = os.environ.get("FFTW_PREFIX")  # where FFTW is, if not among the system's: its include/ and lib/


class NoFftw(Exception):
    """There is no FFTW to link."""


def load() -> Any:
    flags = [f"-L{PREFIX}/lib"] if PREFIX else []
    link = [*flags, "-l:libfftw3f.a", "-lm"]  # the archive: the module needs no libfftw3f.so where it runs
    include = [f"{PREFIX}/include"] if PREFIX else []
    _require(include, link)
    return kernpack.load([str(HERE / "fftw.cc")], extra_cflags=["-O3"], extra_include_paths=include, extra_ldflags=link)


def _require(include: list[str], link: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.cc"
        source.write_text("#include <fftw3.h>\nint main() { fftwf_cleanup(); }\n")
        command = [
            os.environ.get("CXX", "g++"),
            *(f"-I{path}" for path in include),
            str(source),
            "-o",
            f"{folder}/probe",
            *link,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NoFftw("FFTW is not installed: apt-get install libfftw3-dev, or set FFTW_PREFIX to where it is")


def main() -> None:
    import jax
    import jax.numpy as jnp
    import numpy as np
    import torch

    k = load()
    time = np.arange(256, dtype=np.float32)
    clean = np.sin(time / 8) + 0.5 * np.cos(time / 3)
    noisy = (clean + np.random.default_rng(0).normal(0, 0.3, 256)).astype(np.float32)

    print("NumPy:", np.abs(k.rfft(noisy) - np.fft.rfft(noisy)).max() < 1e-3)

    # A gain per frequency, learned so that the filtered signal is the clean one: gradients pass through both transforms.
    gain = torch.ones(256, requires_grad=True)
    signal, target = torch.from_numpy(noisy).to(torch.complex64), torch.from_numpy(clean)

    def error() -> torch.Tensor:
        filtered = k.fft(k.fft(signal) * gain, inverse=True, scale=1 / 256)
        return (filtered.real - target).square().mean()

    before = error().item()
    optimizer = torch.optim.Adam([gain], lr=0.05)
    for _ in range(100):
        optimizer.zero_grad()
        error().backward()
        optimizer.step()
    print(f"PyTorch: mean squared error {before:.3f} before, {error().item():.4f} after")

    rows = jnp.asarray(noisy.reshape(4, 64))
    power = jax.jit(jax.vmap(jax.grad(lambda row: jnp.abs(k.rfft(row)).sum())))(rows)
    expected = jax.vmap(jax.grad(lambda row: jnp.abs(jnp.fft.rfft(row)).sum()))(rows)
    print("JAX, jit of vmap of grad:", bool(jnp.allclose(power, expected, rtol=1e-3, atol=1e-3)))


if __name__ == "__main__":
    try:
        main()
    except NoFftw as error:
        raise SystemExit(f"wrap_fftw: {error}") from None
