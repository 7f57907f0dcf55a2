"""The table of planted bugs: what each is called with, and what the error has to name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import kernpack
import numpy as np
import pytest

Call = Callable[[Any], Any]


class Bug(NamedTuple):
    function: str
    call: Call  # with the function
    says: str  # a regular expression over the error's text


def f32(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)


def twice(*args: Any) -> Call:
    """The bug shows at the second call."""

    def call(f: Any) -> Any:
        f(*args)
        return f(*args)

    return call


def bf16(count: int) -> Any:
    return kernpack.from_dlpack(pytest.importorskip("torch").ones(count).bfloat16())


COPIED = ["f32", "f64", "f16", "bf16", "i8", "u8", "bool", "i16", "i32", "i64"]


def copies(name: str) -> Call:
    kinds = {"f": "float", "i": "int", "u": "uint"}
    if name == "bf16":
        return lambda f: f(bf16(5))
    dtype = name if name == "bool" else kinds[name[0]] + name[1:]
    return lambda f: f(np.ones(5, np.dtype(dtype)))


PAST_5 = (
    r"out: memory past its end was written, 1 element past the last one of \w+\[5\] \(\d bytes?, from index \[5\]\)"
)
MARK = r".*mark it `{0}!"

BUGS = [
    Bug("writes_input", lambda f: f(f32(4, 8)), r"x: .*\[0, 0\].*written" + MARK.format("x")),
    Bug("writes_input_at_its_end", lambda f: f(f32(4, 8)), r"x: .*\[3, 7\].*written" + MARK.format("x")),
    Bug("sorts_in_place", lambda f: f(f32(6)[::-1].copy()), r"x: .*\[0\].*written" + MARK.format("x")),
    Bug("writes_strided_input", lambda f: f(f32(8)[::2]), r"x: .*\[2\].*written" + MARK.format("x")),
    Bug("writes_between_strides", lambda f: f(f32(8)[::2]), r"x: .*between its elements"),
    Bug("writes_item", lambda f: f([f32(3), f32(3)]), r"xs\[1\]: .*\[1\].*written" + MARK.format("xs")),
    Bug("writes_optional", lambda f: f(f32(3), f32(3)), r"bias: .*\[0\].*written" + MARK.format("bias")),
    Bug("writes_in_threads", lambda f: f(f32(64)), r"x: .*\[0\].*written" + MARK.format("x")),
    Bug("writes_wrong_of_two", lambda f: f(f32(4), f32(4)), r"delta: .*\[0\].*written" + MARK.format("delta")),
    Bug("writes_beside_number", lambda f: f(f32(3), 2.0), r"x: .*\[0\].*written" + MARK.format("x")),
    Bug("changes_shape", lambda f: f(f32(4)), r"x: .*shape"),
    Bug("writes_past_result", lambda f: f(f32(5)), r"out: .*past its end"),
    Bug("writes_before_result", lambda f: f(f32(5)), r"out: .*before its start"),
    Bug("writes_past_input", lambda f: f(f32(5)), r"x: .*past its end"),
    Bug("writes_past_mutated", lambda f: f(f32(5)), r"x: .*past its end"),
    Bug("writes_past_destination", lambda f: f(f32(5), out=np.zeros(5, np.float32)), r"out \(y\): .*past its end"),
    Bug("writes_past_workspace", lambda f: f(f32(5)), r"workspace: .*past its end"),
    Bug("writes_past_empty", lambda f: f(f32(0)), r"out: .*past its end"),
    Bug("clears_too_many_bytes", lambda f: f(f32(5)), r"out: .*past its end"),
    Bug("reads_past_input", lambda f: f(f32(5)), r"out: .*\[4\].*outside"),
    Bug("reads_before_input", lambda f: f(f32(5)), r"out: .*\[0\].*outside"),
    Bug("never_writes", lambda f: f(f32(4, 8)), r"out: .*never written"),
    Bug("forgets_last", lambda f: f(f32(4, 8)), r"out: .*\[3, 7\].*not written"),
    Bug("forgets_last_int", lambda f: f(f32(100)), r"out: .*\[99\].*not written"),
    Bug("forgets_tail_of_bytes", lambda f: f(f32(1003)), r"out: .*\[1000\].*not written"),
    Bug("writes_every_second", lambda f: f(f32(6)), r"out: .*\[1\].*not written"),
    Bug("forgets_one_of_two", lambda f: f(f32(6)), r"high: .*never written"),
    Bug("clears_too_few_bytes", lambda f: f(f32(16)), r"out: .*\[4\].*not written"),
    Bug("forgets_remainder", lambda f: f(f32(10)), r"out: .*\[8\].*not written"),
    Bug("forgets_half", lambda f: f(f32(3)), r"out: .*\[1\].*not written"),
    Bug("forgets_flag", lambda f: f(f32(9)), r"out: .*\[8\].*(not written|neither)"),
    Bug("accumulates_into_result", lambda f: f(f32(9)), r"out: .*(not|never) written"),
    Bug("writes_between_mutated", lambda f: f(f32(8)[::2]), r"x: .*between its elements"),
    Bug("forgets_last_column", lambda f: f(f32(3, 4)), r"out: .*\[0, 3\].*not written.*\(3 of 12"),
    Bug("forgets_imaginary", lambda f: f(f32(4)), r"out: .*(not|never) written"),
    Bug(
        "wraps_indices_in_place",
        lambda f: f(f32(4), np.array([0, -1])),
        r"index: .*\[1\].*written" + MARK.format("index"),
    ),
    Bug("only_first_batch", lambda f: f(f32(2, 3, 4)), r"out: .*\[0, 1, 0\].*not written"),
    Bug("scatters_out_of_range", lambda f: f(np.array([0, 2, 3])), r"out: .*past its end"),
    Bug("wrong_width", lambda f: f(kernpack.from_dlpack(f32(8))), r"out: .*past its end"),
    Bug("returns_early", lambda f: f(f32(4)), r"out: .*never written"),
    Bug("reads_past_halves", lambda f: f(f32(4).astype(np.float16)), r"out: .*\[3\].*outside"),
    Bug("reads_past_ints", lambda f: f(np.arange(4)), r"out: .*\[3\].*outside"),
    Bug("halves_one_more", lambda f: f(f32(5)), PAST_5),
    Bug("halves_one_more_double", lambda f: f(f32(5).astype(np.float64)), PAST_5),
    Bug("halves_one_more_int", lambda f: f(np.arange(5, dtype=np.int32)), PAST_5),
    Bug(
        "halves_from_one_before",
        lambda f: f(f32(5)),
        r"out: .*before its start was written, 1 element before the first one of f32\[5\] \(4 bytes, from index \[-1\]\)",
    ),
    Bug("scales_halves_one_more", lambda f: f(f32(5).astype(np.float16)), PAST_5),
    Bug("scales_bfloats_one_more", lambda f: f(bf16(5)), PAST_5),
    *(Bug(f"copies_one_more_{name}", copies(name), PAST_5) for name in COPIED),
    Bug("copies_one_more_of_two", lambda f: f(np.ones(5, np.uint8), np.ones(5, np.uint8)), r"copy: .*past its end"),
    Bug("negates_in_place_twice", lambda f: f(f32(5)), r"x: .*past its end"),
    Bug("negates_doubles_in_place_twice", lambda f: f(f32(5).astype(np.float64)), r"x: .*past its end"),
    Bug("sums_rows_in_tiles", lambda f: f(f32(5, 3)), r"out: .*past its end was written, 1 to 3 elements .*\(12 bytes"),
    Bug("sums_past_end", lambda f: f(f32(5)), r"out: the value of f64\[\] was computed from memory outside of x"),
    Bug("sums_halves_past_end", lambda f: f(bf16(5)), r"out: the value of f32\[\] was computed from .* outside of x"),
    Bug("forgets_strides", lambda f: f(f32(4, 6)[:, :3]), r"out: .*\[1, 0\].* outside of x, or between its elements"),
    Bug("forgets_strides", lambda f: f(f32(6, 4)[:3].T[::-1]), r"out: .* outside of x, or between its elements"),
    Bug("forgets_strides_of_ints", lambda f: f(np.arange(24, dtype=np.int32).reshape(4, 6)[:, :3]), r"out: .*\[1, 0\]"),
    Bug("forgets_strides_in_place", lambda f: f(f32(4, 6)[:, :3]), r"out: .*\[1, 0\].* outside of x, or between"),
    Bug("asks_mask_past_end", lambda f: f(np.ones(5, np.uint8)), r"out: .*differed.*outside"),
    Bug("asks_result", lambda f: f(f32(5)), r"out: .*\[0\].*differed.*not written.*race"),
    Bug("greatest_of_one_more", lambda f: f(f32(5)), r"out: .*differed.*outside"),
    Bug("writes_smaller_ints", lambda f: f(f32(5)), r"out: .*\[2\].*not written \(3 of 5.*dtype's size"),
    Bug("writes_low_halves", lambda f: f(f32(50)), r"out: i64\[50\] was never written"),
    Bug("forgets_value", lambda f: f(f32(5)), r"out: i32\[\] was never written.*zeros first where `\+=` follows"),
    Bug("clears_row_before", lambda f: f(f32(3, 4), -1), r"1 to 4 elements before the first one of f32\[3, 4\] \(16"),
    Bug("forgets_last", lambda f: f(f32(4, 8)), r"out: .*byte_offset is added"),
]

STATE_BUGS = [
    Bug("trusts_contract_workspace", lambda f: f(f32(8)), r"out: .*workspace"),
    Bug("trusts_workspace", lambda f: f(f32(8)), r"out: .*workspace"),
    Bug("keeps_in_workspace", twice(f32(8)), r"out: .*workspace"),
    Bug("overruns_workspace", lambda f: f(f32(8)), r"workspace 'short': .*past its end"),
    Bug("overruns_zeroed", lambda f: f(f32(8)), r"workspace 'zeroed_short': .*past its end"),
    Bug("overruns_in_threads", lambda f: f(f32(64)), r"workspace 'each': .*past its end"),
    Bug("zeroes_too_late", lambda f: f(f32(8)), r"workspace 'both' is requested both with and without kp::zeroed"),
    Bug("keeps_pointer", twice(f32(8)), r"keeps_pointer: x: .*the call that lent it"),
    Bug("changes_type", lambda f: f(f32(8)), r"'plan'.*int.*str"),
    Bug("stores_pointer", lambda f: f(f32(8)), r"'where'.*pointer.*x"),
    Bug("factory_changes_type", lambda f: f(f32(8)), r"'table'.*holds int and is given str"),
    Bug("factory_stores_pointer", lambda f: f(f32(8)), r"'made_where'.*pointer into x"),
    Bug("stores_pointer_in_list", lambda f: f(f32(8)), r"'wheres'.*pointer into out"),
    Bug("stores_workspace_pointer", lambda f: f(f32(8)), r"'scratch'.*pointer into workspace 'stored'"),
    Bug("keeps_pointer_to_workspace", twice(f32(8)), r"workspace 'pointed_to': .*the call that lent it"),
    Bug(
        "overruns_empty",
        lambda f: f(f32(8)),
        r"new tensor f32\[8\]: memory past its end was written, 1 to 4 bytes past the last",
    ),
    Bug("trusts_empty", lambda f: f(f32(8)), r"out: .*computed from a new tensor"),
    Bug("writes_released", lambda f: f(f32(8)), r"new tensor f32\[8\]: was written after"),
    Bug("overruns_stored", twice(f32(8)), r"new tensor i32\[8\]: memory past its end"),
    Bug("overruns_one_of_many", lambda f: f(f32(8)), r"new tensor u8\[4\]: memory past its end"),
    Bug("returns_overrun", lambda f: f(3), r"new tensor i64\[3\]: memory past its end"),
    Bug("overruns_zeroed_in_threads", lambda f: f(f32(8)), r"workspace 'each_zeroed': .*past its end"),
    Bug("leaves_rounding_in_threads", lambda f: f(f32(8)), r"rounding mode of a thread of parallel_for"),
    Bug("leaves_rounding", lambda f: f(f32(8)), r"rounding"),
    Bug("leaves_denormals", lambda f: f(f32(8)), r"denormals|rounding"),
    Bug("keeps_workspace_pointer", twice(f32(4)), r"workspace: .*the call that lent it"),
    Bug("counts_in_workspace", lambda f: f(np.array([1, 5, 1], np.int32)), r"out: the value of i32\[\] .*not written"),
    Bug("asks_kept_workspace", lambda f: f(f32(1)), r"out: the value of i32\[\] .*differed"),
]

C_BUGS = [
    Bug("raises_and_returns_zero", lambda f: f(f32(8)), r"ValueError.*too late.*returned 0"),
    Bug("returns_a_value", lambda f: f(f32(8)), r"returned a value.*int"),
    Bug("ignores_offset", lambda f: f(f32(8)), r"out: .*\[0\].*byte_offset"),
    Bug("changes_arguments", lambda f: f(f32(8)), r"eps: .*changed"),
]
