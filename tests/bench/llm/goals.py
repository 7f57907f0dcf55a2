"""The goals depend on what the processor multiplies small integers and bf16 with."""

from __future__ import annotations

import os

import machine

CLASSES = ("AMX", "VNNI without AMX", "AVX2")
Goal = float | tuple[float, float, float]  # of each class, in this order


def processor_class() -> str:
    sets = machine.instruction_sets()
    if any(level in os.environ.get("KERNPACK_TARGET", "") for level in ("x86-64-v2", "x86-64-v3")):
        return CLASSES[2]
    if "amx_int8" in sets:
        return CLASSES[0]
    return CLASSES[1] if {"avx512_vnni", "avx_vnni"} & set(sets) else CLASSES[2]


def goal_here(goal: Goal | None) -> float | None:
    return goal[CLASSES.index(processor_class())] if isinstance(goal, tuple) else goal
