"""Where tensors lie: strides that the contract allows, and starts at any element."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding, Skipped
from kernpack_sdk.testing.checks.repeat import differs, how_equal
from kernpack_sdk.testing.frameworks import NUMPY, at_offset


def placed(value: Any, place: Callable[[np.ndarray], np.ndarray]) -> Any:
    if isinstance(value, list):
        return [placed(item, place) for item in value]
    return place(value) if isinstance(value, np.ndarray) else value


def misaligned(bench: Bench) -> Iterator[Finding]:
    """Tensors may start at any element of a larger one."""
    for call in bench.calls:
        expected = bench.run(call)
        for elements in (1, 3):
            bench.starts(call, f" with tensors that start {elements} elements after a multiple of 64 bytes")
            found = differs(bench, call, expected, NUMPY.call_on(call, _shifted(call, elements)))
            if found:
                yield Finding(
                    f"expected {how_equal(bench)} wherever tensors start, but {found} (starting at 64 bytes, {elements} elements behind)",
                    call.text(),
                    "use unaligned loads: a tensor is aligned to its elements only",
                )
                return


def _shifted(call: Call, elements: int) -> dict[str, Any]:
    def shift(array: np.ndarray) -> np.ndarray:
        return at_offset(array, elements * array.itemsize)

    return {name: placed(value, shift) for name, value in call.values.items()}


def readonly(bench: Bench) -> Iterator[Finding]:
    """Inputs in pages that the processor does not let anyone write to: a kernel that does ends the process."""
    assert bench.op.contract is not None
    mutated = {each.name for each in bench.op.contract.parameters if each.mutated}
    looked = False
    for call in bench.calls:
        expected = bench.run(call)
        values = {
            name: value if name in mutated else placed(value, _in_readonly_pages)
            for name, value in NUMPY.values(call).items()
        }
        looked = looked or len(mutated) < len(values)
        bench.starts(call, " with inputs in memory that cannot be written to")
        given = NUMPY.call_on(call, values)
        found = differs(bench, call, expected, given)
        if found:
            yield Finding(f"expected {how_equal(bench)} of inputs that cannot be written to, but {found}", call.text())
            return
    if not looked:
        raise Skipped("it writes to all of its arguments")


def _in_readonly_pages(array: np.ndarray) -> np.ndarray:
    if not array.nbytes:
        return array
    with tempfile.TemporaryFile() as file:
        file.write(array.tobytes())
        file.flush()
        pages = mmap.mmap(file.fileno(), array.nbytes, prot=mmap.PROT_READ)
    return np.frombuffer(pages, array.dtype).reshape(array.shape)


def _transposed(array: np.ndarray) -> np.ndarray:
    return np.asfortranarray(array)


def _stepped(array: np.ndarray) -> np.ndarray:
    """Every second element of the last dim of a larger array."""
    wide = np.full((*array.shape[:-1], 2 * array.shape[-1]), 77).astype(array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def _backwards(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array[::-1])[::-1]


def _cut(array: np.ndarray) -> np.ndarray:
    """The left columns of a wider array."""
    wide = np.full((*array.shape[:-1], array.shape[-1] + 3), 77).astype(array.dtype)
    wide[..., : array.shape[-1]] = array
    return wide[..., : array.shape[-1]]


_LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "transposed memory": _transposed,
    "every second element": _stepped,
    "negative strides": _backwards,
    "the left part of wider rows": _cut,
}


def strided(bench: Bench) -> Iterator[Finding]:
    """A tensor that is marked `strided` is read by its strides; the host refuses any other strided tensor."""
    assert bench.op.contract is not None
    marked = [each.name for each in bench.op.contract.parameters if each.strided]
    if not marked:
        yield from _refused(bench)
        return
    looked = False
    for call in bench.calls:
        expected = bench.run(call)
        for name in [each for each in marked if call.values[each] is not None and _has_dims(call.values[each])]:
            for words, layout in _LAYOUTS.items():
                values = NUMPY.values(call)
                values[name] = placed(values[name], layout)
                bench.starts(call, f" with {name} in {words}")
                looked = True
                found = differs(bench, call, expected, bench.checked(call, values), exact=False)
                if found:
                    yield Finding(
                        f"expected the same results for {name} in {words}, which the mark `strided` allows, but {found} "
                        "(contiguous, strided)",
                        call.text(),
                        f"index {name} by its strides: kp::TensorView::at or stride(d); or drop `strided`, and callers pass contiguous ones",
                    )
                    return
    if not looked:
        raise Skipped("no call had a tensor that is marked strided")


def _has_dims(value: Any) -> bool:
    return all(item.ndim > 0 for item in (value if isinstance(value, list) else [value]))


def _refused(bench: Bench) -> Iterator[Finding]:
    """One call: the host sees to it for all."""
    for call in bench.calls:
        name = next((n for n, v in call.values.items() if isinstance(v, np.ndarray) and v.ndim and v.size > 1), None)
        if name is None:
            continue
        values = NUMPY.values(call)
        values[name] = _stepped(values[name])
        if values[name].flags.c_contiguous:
            continue
        if bench.run(call, values).error is None:
            yield Finding(
                f"expected {name} with strides to be refused, since it isn't marked `strided`, but the call was made",
                call.text(),
            )
        return
    raise Skipped("no call had a tensor of more than one element")
