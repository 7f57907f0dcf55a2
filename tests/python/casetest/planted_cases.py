"""The tables of planted ops: which check finds each, and what the finding says."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

INPUTS = Path(__file__).with_name("kernpack_inputs.py")


class Planted(NamedTuple):
    op: str
    checks: tuple[str, ...]  # those that are run; any of them may find it
    says: str  # a regular expression over the findings


def found_by(op: str, check: str, says: str) -> Planted:
    return Planted(op, tuple(check.split()), says)


BUGS = [
    found_by("writes_input", "memory", r"x: element \[0\].*was written"),
    found_by("reads_beyond", "memory", r"out: .*outside of x"),
    found_by("writes_beyond", "memory", r"out: memory past its end was written"),
    found_by("forgets_tail", "memory", r"out: .*(not|never) written"),
    found_by("wrong_tail", "mirror", r"at all multiples of 8, but not at 9.*last full vector"),
    found_by("sums_vectors_only", "mirror", r"at all multiples of 4, but not at 5"),
    found_by("counts_in_bytes", "mirror", r"N = 257.*but not at 257, 512"),
    found_by("first_rows_sum", "rows", r"row \d+ of the batch, called alone"),
    found_by("ignores_strides", "strided", r"the same results for x in .*stride"),
    found_by("ignores_inner_stride", "strided", r"x in transposed memory"),
    found_by("ignores_bias", "influence", r"bias to change a result"),
    found_by("ignores_mode", "influence", r"mode to change a result"),
    found_by("races_on_static", "callers", r"4 threads call at once.*static buffers"),
    found_by("wrong_gradient", "gradients", r"that of x\[.*from differences"),
    found_by("wrong_gradient_tail", "gradients", r"that of x\[\d+\] is 0 and"),
    found_by("wrong_tangent", "tangents", r"that of out\[.*from differences"),
    found_by("wrong_second_backward", "gradients", r"that of x\["),
    found_by("leaks", "growth", r"leaks about \d+ bytes of"),
    found_by("random", "repeat", r"two equal calls"),
    found_by("part_per_thread", "pool", r"on \d threads as on one.*cut the work by its size"),
    found_by("races_in_pool", "pool callers", r"threads"),
    found_by("adds_to_result", "garbage", r"whatever was there.*don't add to what is there"),
    found_by("trusts_heap", "processes", r"0xaa.*read before it is written"),
    found_by("half_without_factor", "dtypes", r"T = f16 to give the results of T = f32"),
    found_by("aligns_away", "misaligned", r"wherever tensors start"),
    found_by("divides_by_rows", "calls", r"the process ended: SIGFPE.*\(f32\[0, \d\]"),
    found_by("own_thread", "fork", r"child made by fork\(\) too, but the calls hadn't finished"),
    found_by("adds_zero_times_next", "special", r"NaN in row \d+ of the batch to stay"),
    found_by("mean_marked_sum", "rows", r"out, marked `sum`, to be the sum"),
    found_by("other_order_in_blocks", "invariant", r"along batch to have the same bits in a batch of \d+, but out"),
    found_by("other_order_in_large_batches", "invariant", r"of the 70 along B to have .*take B out of invariant"),
    found_by("mixes_columns", "columns", r"part of D, which is independent"),
    found_by("asks_its_host", "hosts", r"the same results from both hosts.*\(kernpack, apache-tvm-ffi\)"),
    found_by(
        "refuses_all", "calls", r"refused all 80.*lanes: expected the machine's.*@argument\(\"refuses_all\", NAME\)"
    ),
]

CHEATS = [
    found_by("caches_by_pointer", "state", r"after a call with other values in the same memory.*by address"),
    found_by("caches_by_size", "processes state", r"the last call first.*kept from call to call"),
    found_by("caches_by_first", "processes state", r"the last call first.*kept from call to call"),
    found_by("returns_kept_memory", "kept", r"result 0 not to change, but a later call changed it"),
    found_by("borrows_input", "readonly", r"process ended: SIGSEGV.*cannot be written to"),
    found_by("right_for_small", "mirror", r"but not at 255, 256"),
    found_by("right_for_tests", "mirror", r"sizes, but not at"),
    found_by("every_thirtieth", "repeat", r"two equal calls"),
    found_by("gradient_of_sums", "gradients", r"that of x\["),
    found_by("finishes_later", "memory", r"its memory was written after the call that lent it"),
    found_by("keeps_first_factor", "influence", r"factor to change a result"),
    found_by("asks_address", "garbage", r"wherever they are written"),
]

# Of held_out.cc: those that a check finds; docs/testing.md says how many were found at first.
HELD_OUT = [
    found_by("swaps_last_rows", "rows", r"row \d+ of the batch, called alone"),
    found_by("leaves_denormals_off", "memory", r"treatment of denormals"),
    found_by("gradient_at_default", "gradients", r"that of x\[.*from differences.*scale="),
    found_by("narrow_sum", "dtypes", r"T = bf16 to give the results of T = f32"),
    found_by("two_leading_dims", "rows", r"row \d+ of the batch, called alone.*f32\[\d+, \d+, \d+"),
    found_by("scratch_stays", "state", r"other calls of the same shapes.*keeps from call to call"),
    found_by("leaks_on_error", "growth", r"leaks about \d+ bytes of the heap"),
    found_by("absolute_strides", "strided", r"x in negative strides"),
]
# Nothing says that they are mistakes: an op may ignore a part of its mask, and may replace NaN.
NOT_FOUND = ("mask_without_tail", "swallows_nan")
