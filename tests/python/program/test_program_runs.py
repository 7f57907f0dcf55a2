"""Runs of plans: arrays of every framework, results as on one device, two devices at once."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import zipfile

import kernpack
import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
from kernpack_compiler import export_wheel, program
from sample import TENSOR, halve, rows


def two_steps(k, place):
    return program.trace(lambda x, y: halve(program.on_device(k.add(x, y), place)), TENSOR, TENSOR, name="main")


def test_numpy_in_numpy_out(k):
    x, y = rows(), rows() + 1
    found = program.plan(two_steps(k, "cpu")).run(x, y)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, (x + y) / 2)


def test_torch_in_torch_out(k):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x = torch.from_numpy(rows())
    found = program.plan(two_steps(k, "cpu")).run(x, x)
    assert type(found) is torch.Tensor
    torch.testing.assert_close(found, x)


def test_jax_in_jax_out(k):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    x = jax.numpy.asarray(rows())
    found = program.plan(two_steps(k, "cpu")).run(x, x)
    assert isinstance(found, jax.Array)
    np.testing.assert_array_equal(found, x)


def test_kernpack_tensors_stay_so(k):
    x = kernpack.from_dlpack(rows())
    found = program.plan(two_steps(k, "cpu")).run(x, x)
    assert isinstance(found, kernpack.Tensor)


def test_strided_arrays_are_copied_first(k):
    x = np.asfortranarray(rows())
    np.testing.assert_array_equal(program.plan(two_steps(k, "cpu")).run(x, x), x)


def test_arguments_and_results_are_nested_as_in_the_function(k):
    def body(x, weights):
        low, high = k.split(x)
        return {"sum": k.add(low, weights["w"]), "high": [high]}

    x, w = rows(), rows() * 3
    executable = program.plan(program.trace(body, TENSOR, {"w": TENSOR})).executable()
    found = executable.run(x, weights={"w": w, "unused": None})
    np.testing.assert_array_equal(found["sum"], np.minimum(x, 0) + w)
    np.testing.assert_array_equal(found["high"][0], np.maximum(x, 0))


def test_cond_chooses_at_run_time(k):
    def body(x):
        return program.cond(k.any_negative(x), lambda a: k.scale(a, by=-1.0), lambda a: halve(a), x)

    plan = program.plan(program.trace(body, TENSOR))
    x = np.abs(rows())
    np.testing.assert_array_equal(plan.run(x), x / 2)
    np.testing.assert_array_equal(plan.run(-x), x)


def test_a_program_of_programs_runs(k):
    inner = program.trace(lambda x: k.scale(x), TENSOR, name="inner")
    plan = program.plan(program.trace(lambda x: inner(inner(x)), TENSOR))
    np.testing.assert_array_equal(plan.run(rows()), rows() * 4)


def test_a_program_read_from_text_runs_as_the_traced_one(k):
    traced = two_steps(k, "cpu")
    x = rows()
    np.testing.assert_array_equal(program.plan(program.Program.parse(str(traced), [k])).run(x, x), x)


def test_two_devices_give_what_one_gives(k, opencl):
    x, y = rows(), rows() + 1
    plan = program.plan(two_steps(k, "opencl"))
    np.testing.assert_array_equal(plan.run(x, y, devices=[opencl]), program.plan(two_steps(k, "cpu")).run(x, y))


def test_placed_arguments_are_not_copied_again(k, opencl):
    executable = program.plan(two_steps(k, "opencl")).executable([opencl])
    placed = executable.place(rows(), rows())
    again = executable.place(**placed)
    assert all(again[name] is placed[name] for name in ("x", "y"))
    np.testing.assert_array_equal(executable.run(**placed).to("cpu").numpy(), rows())


def test_halves_run_on_two_devices(k):
    devices = kernpack.devices("opencl")
    if len(devices) == 1 and "POCL_DEVICES" not in os.environ:  # PoCL offers as many as a new process is told
        again = [sys.executable, "-m", "pytest", "-q", "-k", "test_halves_run_on_two_devices", __file__]
        environment = {**os.environ, "POCL_DEVICES": "pthread basic"}
        done = subprocess.run(again, env=environment, capture_output=True, text=True, check=False)
        assert "1 passed" in done.stdout, done.stdout + done.stderr
        return
    if len(devices) < 2:
        pytest.skip(f"OpenCL has {len(devices)} devices here")

    def body(x, y):
        return tuple(program.on_device(k.scale(half), f"opencl:{i}") for i, half in enumerate((x, y)))

    plan = program.plan(program.trace(body, TENSOR, TENSOR))
    calls = [step for step in plan.steps if step.kind == "call"]
    assert [step.device for step in calls] == ["opencl:0", "opencl:1"]
    numbers = {index for index, step in enumerate(plan.steps) if step.device == "opencl:0"}
    assert not numbers & set(calls[1].waits)  # neither half waits for the other
    first, second = plan.run(rows(), rows() + 1, devices=devices[:2])
    np.testing.assert_array_equal(first, rows() * 2)
    np.testing.assert_array_equal(second, (rows() + 1) * 2)


def test_a_trace_has_an_event_a_step(k, tmp_path):
    executable = program.plan(two_steps(k, "cpu")).executable()
    executable.trace(tmp_path / "run.json", rows(), rows())
    events = json.loads((tmp_path / "run.json").read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    names = {event["name"] for event in events}
    assert any("sample.add" in name for name in names), names
    assert any("tests.halve" in name for name in names), names


def test_the_peak_of_a_run_is_the_planned_one(k):
    plan = program.plan(two_steps(k, "cpu"))
    executable = plan.executable()
    executable.run(rows(), rows())
    assert executable.peak == plan.peak


def test_a_program_is_a_function_of_a_module_for_every_framework(k):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    jax = pytest.importorskip("jax", reason="jax is not installed")
    module = (
        program.plan(program.trace(lambda x: k.scale(k.scale(x)), TENSOR, name="fourfold"))
        .executable()
        .as_module("traced")
    )
    x = rows()
    np.testing.assert_array_equal(module.fourfold(x), x * 4)
    torch.testing.assert_close(module.fourfold(torch.from_numpy(x)), torch.from_numpy(x * 4))
    np.testing.assert_array_equal(jax.jit(module.fourfold)(x), x * 4)


def test_an_exported_program_is_a_kernel_library(k, tmp_path):
    """In another process, which loads the module that the program calls and no other of that name."""
    plan = program.plan(program.trace(lambda x: k.scale(k.scale(x)), TENSOR, name="fourfold"))
    library = plan.executable().as_module("exported_program").export_library(tmp_path / "program.so")
    script = (
        "import sys, kernpack, numpy as np\n"
        "k = kernpack.load(sys.argv[1].split(':'))\n"
        "x = np.ones((4, 6), np.float32)\n"
        "np.testing.assert_array_equal(kernpack.load(sys.argv[2]).fourfold(x), x * 4)\n"
    )
    subprocess.run([sys.executable, "-c", script, k._source, str(library)], check=True)


def test_a_wheel_holds_an_exported_program(k, tmp_path):
    plan = program.plan(program.trace(lambda x: k.scale(k.scale(x)), TENSOR, name="fourfold"))
    wheel = export_wheel([plan.executable().as_module("wheeled_program")], tmp_path, name="wheeled", version="1.0.0")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    script = (
        "import sys, kernpack, numpy as np\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "k = kernpack.load(sys.argv[1].split(':'))\n"
        "x = np.ones((4, 6), np.float32)\n"
        "np.testing.assert_array_equal(kernpack.load('wheeled').fourfold(x), x * 4)\n"
    )
    subprocess.run([sys.executable, "-c", script, k._source, str(tmp_path / "site")], check=True)


def test_a_program_of_this_process_is_not_pickled(k):
    module = program.plan(program.trace(lambda x: k.scale(x), TENSOR)).executable().as_module("unpickled")
    with pytest.raises(TypeError, match="export_library"):
        pickle.dumps(module)
