"""Runs that cannot be: each names what is wrong, and the process goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import kernpack
import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
from kernpack_compiler import program
from sample import TENSOR, halve, rows


@pytest.fixture
def executable(k):
    return program.plan(program.trace(lambda x: halve(k.scale(x)), TENSOR, name="main")).executable()


def test_a_wrong_shape_names_the_parameter(executable):
    with pytest.raises(ValueError, match=r"main: x: expected f32\[4, 6\] on cpu, got f32\[3, 6\]"):
        executable.run(np.zeros((3, 6), np.float32))


def test_a_wrong_dtype_names_the_parameter(executable):
    with pytest.raises(TypeError, match=r"main: x: expected f32\[4, 6\] on cpu, got i32"):
        executable.run(np.zeros((4, 6), np.int32))


def test_what_is_no_array_names_the_parameter(executable):
    with pytest.raises(TypeError, match="main: x: "):
        executable.run("rows")


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        ((), {}, "missing x"),
        ((1, 2), {}, r"expected 1 arguments \(x\), got 2"),
        ((1,), {"x": 2}, "'x' is given twice"),
        ((), {"z": 2}, "'z' isn't one of its parameters"),
    ],
)
def test_wrong_arguments_are_counted(executable, arguments, named, message):
    with pytest.raises(TypeError, match=message):
        executable.run(*arguments, **named)


@pytest.mark.parametrize(
    ("gives", "message"),
    [
        (lambda x: None, r"result 0: expected f32\[4, 6\], got None"),
        (lambda x: kernpack.empty((4, 5), "f32"), r"result 0: expected f32\[4, 6\], got f32\[4, 5\]"),
        (lambda x: kernpack.empty((4, 6), "i32"), r"result 0: expected f32\[4, 6\], got i32\[4, 6\]"),
    ],
)
def test_what_a_function_without_a_contract_gives_is_what_the_program_says(gives, message):
    kernpack.register_func("bad_runs.gives", gives, replace=True)
    traced = program.trace(lambda x: program.call("bad_runs.gives", x, results=TENSOR), TENSOR, name="main")
    with pytest.raises(TypeError, match=rf"main: step 0 \(call bad_runs.gives\): {message}"):
        program.plan(traced).run(np.zeros((4, 6), np.float32))


def test_a_virtual_device_that_none_is_given_for_is_named(k):
    traced = program.trace(lambda x: program.on_device(k.scale(x), "opencl:1"), TENSOR, name="main")
    with pytest.raises((ValueError, RuntimeError), match="opencl:1"):
        program.plan(traced).executable([kernpack.device("opencl", 0)])


def test_a_device_that_is_not_there_is_named(k):
    traced = program.trace(lambda x: program.on_device(k.scale(x), "opencl"), TENSOR, name="main")
    with pytest.raises((ValueError, RuntimeError), match="opencl:77"):
        program.plan(traced).executable([kernpack.device("opencl", 77)])


def test_a_plan_for_a_device_that_this_machine_lacks_is_refused_when_it_is_bound(k, opencl):
    count = len(kernpack.devices("opencl"))
    missing = f"opencl:{count + 2}"
    traced = program.trace(lambda x: program.on_device(k.scale(x), missing), TENSOR, name="main")
    plan = program.plan(traced)  # it may be for another machine
    message = rf"the plan's {missing}, .*: there is no {missing}; this machine has {count} of that type"
    for bind in (plan.executable, lambda: plan.run(rows())):
        with pytest.raises(RuntimeError, match=message):
            bind()
    with pytest.raises(
        ValueError, match=rf"the plan's {missing}, .* expected at least {count + 3} devices of type opencl"
    ):
        plan.executable([opencl])


def test_a_device_that_disappears_is_an_error_that_says_why(k):
    """The plan is made where there are devices, the run where the driver's library is gone."""
    script = (
        "import kernpack, sys\n"
        "from kernpack_compiler import program\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from sample import TENSOR\n"
        "k = kernpack.load(sys.argv[1].split(':'))\n"
        "traced = program.trace(lambda x: program.on_device(k.scale(x), 'opencl'), TENSOR)\n"
        "try:\n"
        "    program.plan(traced).executable()\n"
        "except RuntimeError as error:\n"
        "    print('refused:', error)\n"
    )
    environment = {**os.environ, "KERNPACK_OPENCL_LIBRARY": "/nonexistent/libOpenCL.so.1"}
    arguments = [sys.executable, "-c", script, k._source, os.path.dirname(__file__)]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused: ")
    assert "opencl" in done.stdout


def test_an_error_in_a_call_names_the_call_and_keeps_its_kind(k):
    @program.foreign("tests.fails", "(x: f32[...]) -> (out: f32[...])")
    def fails(x, out):
        raise ValueError("mine")

    executable = program.plan(program.trace(lambda x: fails(k.scale(x)), TENSOR, name="main")).executable()
    with pytest.raises(ValueError, match="mine") as caught:
        executable.run(rows())
    assert "tests.fails" in "".join([str(caught.value), *getattr(caught.value, "__notes__", [])])


def test_running_out_of_memory_in_the_middle_frees_what_was_taken(k):
    @program.foreign("tests.exhausted", "(x: f32[...]) -> (out: f32[...])")
    def exhausted(x, out):
        if x.numpy()[0, 0] > 0:
            raise MemoryError("no memory left")
        np.copyto(out.numpy(), x.numpy())

    executable = program.plan(program.trace(lambda x: k.scale(exhausted(k.scale(x))), TENSOR)).executable()
    with pytest.raises(MemoryError, match="no memory left"):
        executable.run(np.ones((4, 6), np.float32))
    np.testing.assert_array_equal(executable.run(-np.ones((4, 6), np.float32)), np.full((4, 6), -4.0))


def test_an_interrupt_ends_the_run(k):
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # parallel test runs ignore it
    reached = []

    @program.foreign("tests.interrupts", "(x: f32[...]) -> (out: f32[...])")
    def interrupts(x, out):
        signal.raise_signal(signal.SIGINT)

    @program.foreign("tests.later", "(x: f32[...]) -> (out: f32[...])")
    def later(x, out):
        reached.append(True)

    executable = program.plan(program.trace(lambda x: later(interrupts(x)), TENSOR)).executable()
    try:
        with pytest.raises(KeyboardInterrupt):
            executable.run(rows())
    finally:
        signal.signal(signal.SIGINT, handler)
    assert reached == []


def test_devices_are_a_list(k):
    plan = program.plan(program.trace(lambda x: k.scale(x), TENSOR))
    with pytest.raises(TypeError, match="put it in brackets"):
        plan.executable("opencl")
