"""Looks for every hook into JAX, without a kernel."""

from __future__ import annotations

from kernpack._private.jax import shares


def look() -> None:
    shares.is_registered()
