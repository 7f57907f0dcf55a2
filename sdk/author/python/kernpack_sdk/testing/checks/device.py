"""An op on a CUDA device, which `kernpack test --emulate` emulates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kernpack_sdk.testing import device
from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding
from kernpack_sdk.testing.checks.repeat import differs, how_equal

FACTOR = 4.0  # devices add in another order, and their functions are other approximations
_OF_THE_BACKEND = re.compile(r"cuda:\d+: ")


def of_the_backend(error: Exception) -> bool:
    """Not the op's own refusal."""
    return _OF_THE_BACKEND.match(str(error)) is not None


def cuda(bench: Bench) -> Iterator[Finding]:
    """The results of the CPU, if it runs there too, and the same ones again. A call that the op itself refuses on a device isn't wrong."""
    on = device.OnDevice()
    refusals = []
    for call in bench.calls:
        bench.starts(call, " on the device")
        first = on.call(call)
        if first.error is not None and not of_the_backend(first.error):
            refusals.append((call, first.refusal))
            continue
        if first.error is not None:
            yield Finding(f"expected the device to run the call, but {first.refusal}", call.text())
            return
        found = differs(bench, call, bench.run(call), first, FACTOR, exact=False) if bench.on_cpu else ""
        if found:
            yield Finding(
                f"expected the results of the CPU up to rounding, but {found} (CPU, device)",
                call.text(),
                "look at sizes that leave a block or warp partly used, and at elements that no thread writes",
            )
            return
        again = _repeated(bench, on, call)
        if again:
            yield again
            return
    if len(refusals) == len(bench.calls):
        call, text = refusals[-1]
        yield Finding(
            f"expected the device to run calls that the CPU runs, but it refused all {len(refusals)}: {text}",
            call.text(),
        )


def _repeated(bench: Bench, on: device.OnDevice, call: Call) -> Finding | None:
    bench.starts(call, " on the device, twice")
    found = differs(bench, call, on.call(call), on.call(call))
    if not found:
        return None
    return Finding(
        f"expected {how_equal(bench)} of two equal calls on the device, but {found}",
        call.text(),
        "look for atomic additions of floats, whose order isn't fixed, and for races between blocks",
    )
