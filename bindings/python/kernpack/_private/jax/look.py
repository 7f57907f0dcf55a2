"""Looks for every hook into JAX, without a kernel."""

from __future__ import annotations

from kernpack._private.jax import devices, shares


def look() -> None:
    devices.may_be_split()
    shares.is_registered()
