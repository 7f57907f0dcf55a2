"""Peaks of devices, for estimates: the bandwidth of the memory, and the work of a multiprocessor per clock cycle."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Device:
    """Peaks. `rates`: of each unit, results per clock cycle and multiprocessor; `matrix`: operations per second of each type."""

    name: str
    bandwidth: float  # bytes per second
    multiprocessors: int
    clock: float  # Hz, boosted
    rates: dict[str, float]
    matrix: dict[str, float] = field(default_factory=dict)

    def seconds(self, unit: str, amount: float) -> float | None:
        """The least time for that many operations (a fused one is two), passes or instructions; None where it isn't known."""
        if unit.startswith("matrix_"):
            peak = self.matrix.get(unit.removeprefix("matrix_").replace("u8", "s8"))
            return amount / peak if peak else None
        rate = self.rates.get(unit)
        if rate is None:
            return None
        operations = 2 if unit in ("f16", "bf16", "f32", "f64") else 1  # a result is of a fused multiply-add
        return amount / (rate * operations * self.multiprocessors * self.clock)


# Results per clock cycle: "Throughput of Native Arithmetic Instructions", CUDA C++ Programming Guide 13.0; 32 banks serve a pass in each
# cycle, and four schedulers issue an instruction of a warp each.
_COMMON = {"special": 16.0, "passes": 1.0, "instructions": 4.0}
_SM_80 = {**_COMMON, "f16": 256.0, "bf16": 128.0, "f32": 64.0, "f64": 32.0}
_SM_89 = {**_COMMON, "f16": 128.0, "bf16": 128.0, "f32": 128.0, "f64": 2.0}
_SM_90 = {**_COMMON, "f16": 256.0, "bf16": 256.0, "f32": 128.0, "f64": 64.0}


def _tera(**peaks: float) -> dict[str, float]:
    return {name: 1e12 * peak for name, peak in peaks.items()}


# Bandwidth, multiprocessors, clock and dense matrix products: NVIDIA's data sheets of the SXM modules, and of the L4 and L40S.
_HOPPER = _tera(f16=989.4, bf16=989.4, tf32=494.7, f64=66.9, s8=1978.9)
DEVICES = {
    "a100": Device(
        "A100 80 GB", 2.039e12, 108, 1.41e9, _SM_80, _tera(f16=311.9, bf16=311.9, tf32=156.0, f64=19.5, s8=623.9)
    ),
    "l4": Device("L4", 0.300e12, 58, 2.04e9, _SM_89, _tera(f16=121.0, bf16=121.0, tf32=60.0, s8=242.0)),
    "l40s": Device("L40S", 0.864e12, 142, 2.52e9, _SM_89, _tera(f16=362.1, bf16=362.1, tf32=183.0, s8=733.0)),
    "h100": Device("H100 80 GB", 3.35e12, 132, 1.98e9, _SM_90, _HOPPER),
    "h200": Device("H200", 4.8e12, 132, 1.98e9, _SM_90, _HOPPER),
}
