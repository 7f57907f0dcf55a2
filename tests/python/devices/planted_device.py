"""Findings of the checking mode about planted bugs on a device: `python planted_device.py MODULE` goes through them
on the fake driver of CUDA."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from typing import Any

import kernpack
import numpy as np

ONE = [
    ("writes_input", r"x: element \[1\] of f32\[5\] on .* was written \(from 2\.0 to 0\.0\).*mark it `x!"),
    ("writes_past_result", r"out: memory past its end was written, 1 element past the last one of f32\[5\]"),
    ("writes_before_result", r"out: memory before its start was written, 1 element before the first one of f32\[5\]"),
    ("forgets_last", r"out: element \[4\] of f32\[5\] on .* was not written.*\(1 of 5 elements\)"),
    ("never_writes", r"out: f32\[5\] on .* was never written"),
    ("reads_past_input", r"out: element \[4\] .* was computed from memory outside of x"),
    ("ignores_offset", r"out: element \[0\] .* was computed from memory outside of x"),
    ("trusts_contract_workspace", r"out: element \[0\] .* was computed from workspace memory"),
    ("writes_past_workspace", r"workspace: memory past its end"),
    ("trusts_workspace", r"out: element \[0\] .* was computed from workspace memory"),
    ("overruns_workspace", r"workspace 'short': memory past its end was written, 1 to \d+ bytes past the last"),
    ("overruns_zeroed", r"workspace 'zeroed_short': memory past its end"),
    ("stores_pointer", r"'where' is given a pointer into x"),
]


def on(device: kernpack.Device, values: np.ndarray) -> Any:
    return kernpack.from_dlpack(values, device)


def counting(dtype: type = np.float32) -> np.ndarray:
    return np.arange(1, 6, dtype=dtype)


def expect(says: str, function: Any, *args: Any) -> None:
    text = "nothing was found"
    try:
        function(*args)
    except kernpack.CheckError as error:
        text = str(error)
    assert re.search(says, text), f"{function}: {text}"


def check(module: kernpack.Module, device: kernpack.Device) -> None:
    """Raises an AssertionError where a bug is not found, or where there is none."""
    x = on(device, counting())
    for name, says in ONE:
        expect(rf"^{name}: .*{says}" if name != "stores_pointer" else says, getattr(module, name), x)
    expect(r"^writes_past_mutated: x: memory past its end", module.writes_past_mutated, on(device, counting()))
    expect(
        r"^reads_past_ints: out: element \[4\] .* differed",
        module.reads_past_ints,
        on(device, counting(np.int32)),
    )
    expect(r"^writes_item: xs\[1\]: element \[0\] ", module.writes_item, [x, on(device, counting())])
    expect(r"^writes_host: by: the value of f32\[\] was written", module.writes_host, x, np.ones((), np.float32))
    np.testing.assert_array_equal(x.to("cpu").numpy(), counting())
    for size in (5, 0, 100_000):
        state, given = on(device, np.ones(3, np.float32)), np.ones(size, np.float32)
        np.testing.assert_array_equal(module.fine(state, on(device, given)).to("cpu").numpy(), given)
        np.testing.assert_array_equal(state.to("cpu").numpy(), np.zeros(3, np.float32))
    kept = [int(module.fine_kept(on(device, counting(np.int32))).to("cpu").numpy()[0]) for _ in range(2)]
    assert kept == [0, 0x01010101], "zeroed workspaces keep what the kernel leaves"


def check_captured(module: kernpack.Module, device: kernpack.Device, driver: ctypes.CDLL) -> None:
    """A stream that is captured into a graph cannot be waited for: the call goes on unchecked, and the capture too."""
    x = on(device, counting())
    stream = kernpack.Stream(device)
    handle = ctypes.c_void_p(stream.handle)
    with kernpack.stream(stream), kernpack.checking():
        assert driver.kernpack_emulator_begin_capture(handle, 0) == 0
        module.writes_input(x)
        assert driver.kernpack_emulator_end_capture(handle) == 1
        expect(r"^writes_input: x: element \[1\] ", module.writes_input, x)


if __name__ == "__main__":
    module, device = kernpack.load(sys.argv[1]), kernpack.device("cuda", 0)
    with kernpack.checking(trace=False):
        check(module, device)
    check_captured(module, device, ctypes.CDLL(os.environ["KERNPACK_CUDA_DRIVER"]))
    print("all found")
