"""A CUDA device, real or emulated, as a place that an op is called on: NumPy arrays in, NumPy arrays out."""

from __future__ import annotations

import functools
import os
import re
from typing import Any

import kernpack
import numpy as np

from kernpack_sdk.testing.case import Call, Op, Skipped
from kernpack_sdk.testing.frameworks import Framework, Outcome

KIND = "cuda"
# The driver's message after a kernel failed: from then on, the driver refuses calls of this process.
_STICKY = "This error is sticky"
_LACKING = ("isn't emulated", "is not known here")
# NVIDIA's runtime library opens the system's driver itself.
_OTHER_DRIVER = "cudaErrorInsufficientDriver"
_FOUND = re.compile(r": (kernel .+?)(, while [a-z]+ing [^,]*)?\. This error is sticky", re.DOTALL)


class DeviceLost(Exception):
    """A kernel failed on the device, which takes no more calls of this process. call: the one that showed it."""

    def __init__(self, text: str, call: Call) -> None:
        super().__init__(text)
        self.call = call


def has_code(op: Op) -> bool:
    """True if an implementation runs on CUDA devices."""
    if op.contract is not None and op.contract.on is not None:
        return op.contract.on == KIND
    return any((variant["target"] or "").split()[:1] == [KIND] for variant in op.module.functions[op.name].variants)


def only_there(op: Op) -> bool:
    """True if CUDA devices alone run it: the contract says so, or each implementation is for them."""
    if op.contract is None:
        return False
    if op.contract.on is not None:
        return op.contract.on == KIND
    targets = [variant["target"] or "" for variant in op.module.functions[op.name].variants]
    return bool(targets) and all(target.split()[:1] == [KIND] for target in targets)


@functools.cache
def first_device() -> Any:
    """None where there is no device."""
    found = kernpack.devices(KIND)
    return found[0] if found else None


class OnDevice(Framework):
    name = KIND

    def make(self, array: np.ndarray) -> Any:
        return kernpack.from_dlpack(super().make(array)).to(first_device())

    def read(self, tensor: Any) -> np.ndarray:
        return super().read(tensor.to("cpu"))

    def call_on(self, call: Call, values: dict[str, Any], **keywords: Any) -> Outcome:
        """DeviceLost where a kernel failed, which shows when results are read; Skipped where the emulated device lacks something."""
        try:
            made = {name: self._made(value) for name, value in values.items()}
            outcome = super().call_on(call, made, **keywords)
        except Exception as error:  # of a copy: whatever a driver may say
            outcome = Outcome(error=error)
        text = str(outcome.error)
        if any(words in text for words in _LACKING):
            raise Skipped(text)
        if _OTHER_DRIVER in text and os.environ.get("KERNPACK_EMULATOR"):
            raise Skipped("it was built for NVIDIA's driver; build it with KERNPACK_EMULATOR set (docs/emulator.md)")
        raise_if_lost(text, call)
        return outcome


def raise_if_lost(error: str, call: Call) -> None:
    """DeviceLost where the driver said so."""
    if _STICKY in error:
        found = _FOUND.search(error)
        raise DeviceLost(found.group(1) if found else error, call)
