"""The checking mode itself: what it leaves alone, where it looks, and what it protects."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import kernpack
import numpy as np
import pytest
from planted import f32
from support import host

MESSAGE = (
    "writes_input: x: element [0, 0] of f32[4, 8] was written (from 1.0 to 7.0), although the signature makes it read-only; "
    "write to a copy or a result, or mark it `x!: ...`"
)


def test_kernels_without_bugs_pass_and_compute_the_same(planted: kernpack.Module) -> None:
    def run() -> tuple[np.ndarray, ...]:
        state, out = f32(6), np.zeros(6, np.float32)
        results = [planted.fine(state, f32(6), xs=[f32(6)]), planted.fine(state, f32(6), 2.0, f32(6), xs=[f32(6)])]
        planted.fine(state, f32(6), xs=[f32(6)], out=out)
        nothing = planted.fine(f32(0), f32(0), xs=[f32(0)])
        return (*results, state, out, nothing)

    unchecked = run()
    with kernpack.checking(trace=False):
        checked = run()
    for one, other in zip(unchecked, checked, strict=True):
        np.testing.assert_array_equal(one, other)


def test_all_bytes_are_results_of_bytes(planted: kernpack.Module) -> None:
    every = np.arange(1 << 16).astype(np.uint8)
    every[1::3] = 0xFA
    with kernpack.checking(trace=False):
        np.testing.assert_array_equal(planted.fine_bytes(every), every)


def test_nan_that_was_given_is_no_finding(planted: kernpack.Module) -> None:
    tags = np.arange(1, 56, dtype=np.uint32)
    marks = ((0x7FC0 | tags) << 16 | 0x7F80 | tags).view(np.float32)  # what is computed from guard zones
    with kernpack.checking(trace=False):
        assert np.isnan(planted.fine(f32(55), marks, 1.0, xs=[f32(55)])).all()
        assert np.isnan(planted.fine(f32(55), f32(110).reshape(55, 2)[:, 0].copy() * np.nan, xs=[f32(55)])).all()


def test_what_lies_between_the_elements_is_not_taken_for_a_given_nan(planted: kernpack.Module) -> None:
    x = np.full((4, 6), np.nan, np.float32)
    x[:, :3] = 1
    kept = x.copy()
    with kernpack.checking(trace=False), pytest.raises(kernpack.CheckError, match="between its elements"):
        planted.forgets_strides(x[:, :3])
    np.testing.assert_array_equal(x, kept)


def test_broadcast_inputs_are_what_they_were(planted: kernpack.Module) -> None:
    with kernpack.checking(trace=False):
        row = planted.fine_gather(np.broadcast_to(f32(3), (4, 3)))
    np.testing.assert_array_equal(row, np.broadcast_to(f32(3), (4, 3)))


def test_zeroed_workspaces_keep_what_kernels_leave(planted_state: kernpack.Module) -> None:
    before = planted_state.fine_ticks()
    with kernpack.checking(trace=False):
        assert [planted_state.fine_ticks(), planted_state.fine_ticks()] == [before + 1, before + 2]
    assert planted_state.fine_ticks() == before + 3


def test_zeroed_workspaces_of_threads_keep_what_kernels_leave(planted_state: kernpack.Module) -> None:
    before = kernpack.get_num_threads()
    kernpack.set_num_threads(2)  # one thread beside the call's own: the same at every call
    try:
        ticks = planted_state.fine_ticks_in_threads()
        with kernpack.checking(trace=False):
            assert [planted_state.fine_ticks_in_threads(), planted_state.fine_ticks_in_threads()] == [
                ticks + 1,
                ticks + 2,
            ]
        assert planted_state.fine_ticks_in_threads() == ticks + 3
    finally:
        kernpack.set_num_threads(before)


def test_calls_made_from_a_call_share_zeroed_workspaces_with_it(planted_state: kernpack.Module) -> None:
    def inside() -> None:
        planted_state.fine_ticks_around(lambda: None)

    def ticks() -> int:
        return planted_state.fine_ticks_around(inside)

    assert ticks() == 2
    with kernpack.checking(trace=False):
        assert ticks() == 4
    assert ticks() == 6


def test_mode_may_end_while_a_call_runs(planted: kernpack.Module, planted_state: kernpack.Module) -> None:
    mode = kernpack.checking(trace=False)
    mode.__enter__()
    assert planted_state.fine_again(lambda: mode.__exit__(None, None, None))
    test_nothing_is_checked_outside_of_the_block(planted)
    assert planted_state.fine_again(lambda: None)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_tensors_that_kernels_make_are_returned(planted_state: kernpack.Module, library: str) -> None:
    module = pytest.importorskip(library)
    for shape in ((3, 4), (), (0, 2)):
        x = module.ones(shape)
        unchecked = planted_state.fine_tensor(x)
        with kernpack.checking(trace=False):
            checked = planted_state.fine_tensor(x)
        assert type(checked) is type(unchecked)
        assert checked.shape == shape
        assert bool((checked == x).all())


def test_what_others_write_between_the_elements_stays(planted: kernpack.Module) -> None:
    """As where two threads work on the columns of one matrix."""
    x = np.zeros((4, 2), np.float32)

    def other() -> None:
        x[:, 1] = 5

    kernpack.register_func("planted.other", other)
    try:
        with kernpack.checking(trace=False):
            planted.fine_strided(x[:, 0])
    finally:
        kernpack.remove_func("planted.other")
    np.testing.assert_array_equal(x, [[1, 5]] * 4)


def test_message_says_what_to_do_and_the_input_stays(planted: kernpack.Module) -> None:
    x = f32(4, 8)
    x.flags.writeable = False
    with kernpack.checking(trace=False), pytest.raises(kernpack.CheckError) as raised:
        planted.writes_input(x)
    assert str(raised.value) == MESSAGE
    np.testing.assert_array_equal(x, f32(4, 8))


def test_errors_of_kernels_stay_what_they_are(planted: kernpack.Module) -> None:
    with kernpack.checking(trace=False), pytest.raises(ValueError, match=r"^fails: x has 3$"):
        planted.fails(f32(3))


def test_nothing_is_checked_outside_of_the_block(planted: kernpack.Module) -> None:
    with kernpack.checking(trace=False), kernpack.checking(trace=False):
        pass
    x = f32(4, 8)
    planted.writes_input(x)
    assert x[0, 0] == 7


def test_torch_calls_are_checked(planted: kernpack.Module) -> None:
    torch = pytest.importorskip("torch")
    x = torch.ones(4, 8)
    compiled = torch.compile(lambda x: planted.writes_input(x) + 1, backend="eager")
    for call in (planted.writes_input, compiled):
        with kernpack.checking(trace=False), pytest.raises(Exception, match=r"x: element \[0, 0\] of .* was written"):
            call(x)
    assert bool((x == 1).all())


def test_jax_calls_are_checked_where_programs_were_compiled_before(planted: kernpack.Module) -> None:
    jax = pytest.importorskip("jax")
    import kernpack.jax

    jnp = jax.numpy
    x = jnp.asarray(np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32))
    kept = np.array(x)
    # Never run unchecked: that would change the immutable x.
    for call in (jax.jit(planted.writes_input).lower(x).compile(), planted.writes_input):
        with (
            kernpack.checking(trace=False),
            pytest.raises(kernpack.CheckError, match=r"^writes_input: x: element \[0, 0\] of .* was written"),
            kernpack.jax.errors(),
        ):
            jax.block_until_ready(call(x))
    np.testing.assert_array_equal(np.asarray(x), kept)


def test_function_that_a_host_fetched_in_the_mode_serves_after_it(
    planted_state: kernpack.Module, capfd: pytest.CaptureFixture[str]
) -> None:
    """A C host keeps what kp_function_resolve gave: a stand-in, which calls straight on once checks are not requested."""
    library = host.lib()
    function = ctypes.c_void_p(planted_state.fine_ticks.__self__.handle)  # type: ignore[attr-defined]
    call, self = ctypes.c_void_p(), ctypes.c_void_p()
    library.kp_checking.restype = ctypes.POINTER(ctypes.c_int32)
    before = planted_state.fine_ticks()
    assert library.kp_checking().contents.value == 0
    library.kp_checking_enter(1)
    assert library.kp_checking().contents.value == 1
    assert library.kp_function_resolve(function, host.Device(1, 0), ctypes.byref(call), ctypes.byref(self)) == 0
    stand_in = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)(
        call.value or 0
    )
    result = host.Any()
    assert stand_in(self, None, 0, ctypes.byref(result)) == 0
    assert result.bits == before + 1
    library.kp_checking_leave(1)
    assert stand_in(self, None, 0, ctypes.byref(result)) == 0
    assert result.bits == before + 2
    assert capfd.readouterr().err.splitlines() == ["kernpack: planted_state.fine_ticks()"]


CRASH = """
    import sys
    import kernpack, numpy as np
    k = kernpack.load_inline(open(sys.argv[1]).read())
    k.crashes(np.zeros((4, 8), np.float32))
"""


QUIET = """
    import sys
    import kernpack, numpy as np
    k = kernpack.load_inline(open(sys.argv[1]).read())
    try:
        k.writes_input(np.zeros((4, 8), np.float32))
    except kernpack.CheckError:
        print("found")
"""


def test_environment_turns_the_mode_on_without_its_lines() -> None:
    source = Path(__file__).parent / "planted.cc"
    for value, lines in (("quiet", 0), ("1", 1)):
        ended = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(QUIET), str(source)],
            env={**os.environ, "KERNPACK_CHECK": value},
            capture_output=True,
            text=True,
            check=True,
        )
        assert ended.stdout == "found\n"
        assert len(ended.stderr.splitlines()) == lines


def test_last_line_before_a_crash_names_the_call() -> None:
    source = Path(__file__).parent / "planted.cc"
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CRASH), str(source)],
        env={**os.environ, "KERNPACK_CHECK": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode < 0
    assert ended.stderr.splitlines()[-1] == "kernpack: planted.crashes(f32[4, 8], eps=1e-05)"


def test_trace_shows_every_kind_of_value(
    planted: kernpack.Module, planted_state: kernpack.Module, capfd: pytest.CaptureFixture[str]
) -> None:
    with kernpack.checking():
        planted.fine(f32(2), f32(2), 2, None, xs=[f32(2)])
        planted_state.fine_ticks()
    lines = capfd.readouterr().err.splitlines()
    assert lines == [
        "kernpack: planted.fine(f32[2], f32[2], eps=2.0, bias=None, xs=[f32[2]])",
        "kernpack: planted_state.fine_ticks()",
    ]
