"""The table of planted bugs: what each is called with, and what the error has to name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import kernpack
import numpy as np

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
    Bug("writes_past_destination", lambda f: f(f32(5), out=np.zeros(5, np.float32)), r"y: .*past its end"),
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
    Bug("trusts_contract_workspace", lambda f: f(f32(8)), r"out: .*workspace"),
    Bug("trusts_workspace", lambda f: f(f32(8)), r"out: .*workspace"),
    Bug("keeps_in_workspace", twice(f32(8)), r"out: .*workspace"),
    Bug("overruns_workspace", lambda f: f(f32(8)), r"workspace 'short': .*past its end"),
    Bug("overruns_zeroed", lambda f: f(f32(8)), r"workspace 'zeroed_short': .*past its end"),
    Bug("overruns_in_threads", lambda f: f(f32(64)), r"workspace 'each': .*past its end"),
    Bug("zeroes_too_late", lambda f: f(f32(8)), r"workspace 'both': .*zeroed"),
    Bug("keeps_pointer", twice(f32(8)), r"keeps_pointer: x: .*earlier call"),
    Bug("changes_type", lambda f: f(f32(8)), r"'plan'.*int.*str"),
    Bug("stores_pointer", lambda f: f(f32(8)), r"'where'.*pointer.*x"),
    Bug("leaves_rounding", lambda f: f(f32(8)), r"rounding"),
    Bug("leaves_denormals", lambda f: f(f32(8)), r"denormals|rounding"),
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
    Bug("keeps_workspace_pointer", twice(f32(4)), r"workspace: .*earlier call"),
    Bug("reads_past_halves", lambda f: f(f32(4).astype(np.float16)), r"out: .*\[3\].*outside"),
    Bug("reads_past_ints", lambda f: f(np.arange(4)), r"out: .*\[3\].*outside"),
]

C_BUGS = [
    Bug("raises_and_returns_zero", lambda f: f(f32(8)), r"ValueError.*too late.*returned 0"),
    Bug("returns_a_value", lambda f: f(f32(8)), r"returned a value.*int"),
    Bug("ignores_offset", lambda f: f(f32(8)), r"out: .*\[0\].*byte_offset"),
    Bug("changes_arguments", lambda f: f(f32(8)), r"eps: .*changed"),
]
