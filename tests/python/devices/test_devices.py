"""Devices, streams and tensors from Python, on the processor and on a device whose memory has no addresses."""

from __future__ import annotations

import gc
import json
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import kernpack
import numpy as np
import pytest
from kernpack import _core

ATTRIBUTES = (
    "max_threads_per_block",
    "warp_size",
    "max_shared_memory_per_block",
    "compute_version",
    "device_name",
    "max_clock_rate",
    "multi_processor_count",
    "max_thread_dimensions",
    "max_registers_per_block",
    "gcn_arch",
    "api_version",
    "driver_version",
    "l2_cache_size_bytes",
    "total_global_memory",
    "available_global_memory",
    "image_pitch_alignment",
)
NEVER_ON_CPU = {
    "max_threads_per_block",
    "warp_size",
    "max_shared_memory_per_block",
    "compute_version",
    "max_thread_dimensions",
    "max_registers_per_block",
    "gcn_arch",
    "api_version",
    "driver_version",
    "image_pitch_alignment",
}
TOY_HAS = {"device_name", "total_global_memory", "available_global_memory"}


def test_attributes_of_the_processor() -> None:
    cpu = kernpack.device("cpu", 0)
    assert cpu.exists
    assert not kernpack.device("cpu", 999).exists
    assert {name for name in ATTRIBUTES if getattr(cpu, name) is None} >= NEVER_ON_CPU
    assert cpu.multi_processor_count == len(os.sched_getaffinity(0))
    assert cpu.total_global_memory == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert cpu.memory_scopes == ("global",)
    assert {"addresses", "host_access", "fork_safe"} <= cpu.capabilities


def test_attributes_of_the_toy(toy: kernpack.Device) -> None:
    assert {name for name in ATTRIBUTES if getattr(toy, name) is not None} == TOY_HAS
    assert toy.device_name == "Toy Accelerator"
    assert toy.get_property("arch") == "toy1"
    assert toy.get_property("no such property") is None
    assert toy.properties == ("arch",)
    assert "addresses" not in toy.capabilities
    assert toy.code > 0x1000
    assert pickle.loads(pickle.dumps(toy)) == toy
    assert [str(device) for device in kernpack.devices("toy")] == ["toy:0", "toy:1"]
    assert toy in kernpack.devices()


def test_an_absent_device_is_a_reason_not_an_exception() -> None:
    maia = kernpack.device("maia", 0)
    assert not maia.exists
    assert kernpack.devices("maia") == []
    with pytest.raises(RuntimeError, match="device type maia: no backend is registered"):
        _ = maia.device_name
    with pytest.raises(RuntimeError, match="device type maia"):
        kernpack.empty((2,), "f32", maia)
    with pytest.raises(ValueError, match="device cpu:3 does not exist; there is 1 of type cpu"):
        _ = kernpack.device("cpu", 3).device_name


def test_info_tells_of_every_backend(toy: kernpack.Device) -> None:
    devices = kernpack.info()["devices"]
    assert devices["toy"] == "Toy Accelerator, Toy Accelerator"
    assert devices["cpu"]
    assert all(isinstance(text, str) and text for text in devices.values())


def test_tensors_go_there_and_back(toy: kernpack.Device) -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    there = kernpack.from_dlpack(x, device=toy)
    assert there.device == toy
    assert there.shape == (2, 3, 4)
    np.testing.assert_array_equal(there.to("cpu").numpy(), x)
    np.testing.assert_array_equal(there.to("toy:1").to("cpu").numpy(), x)
    assert there.to(toy) is there
    assert kernpack.zeros((3,), "i64", toy).to("cpu").numpy().tolist() == [0, 0, 0]
    there.copy_(x[::-1] * 2)
    np.testing.assert_array_equal(there.to("cpu").numpy(), x[::-1] * 2)
    wide = np.zeros((4, 3, 2), np.float32)
    kernpack.from_dlpack(wide.T).copy_(there)
    np.testing.assert_array_equal(wide.T, x[::-1] * 2)


def test_empty_tensors_everywhere(toy: kernpack.Device) -> None:
    for device in (toy, "cpu"):
        nothing = kernpack.empty((0, 3), "f32", device)
        nothing.copy_(np.empty((0, 3), np.float32))
        assert nothing.to("toy:1").to("cpu").numpy().shape == (0, 3)


def test_repr_shows_values(toy: kernpack.Device) -> None:
    small = kernpack.from_dlpack(np.array([1, 2], np.int32), device=toy)
    assert repr(small) == "kernpack.Tensor(shape=(2,), dtype='i32', device='toy:0',\n[1, 2])"
    assert repr(kernpack.zeros((5000,), "i8", toy)) == "kernpack.Tensor(shape=(5000,), dtype='i8', device='toy:0')"


def test_memory_without_addresses_is_not_shared(toy: kernpack.Device) -> None:
    there = kernpack.zeros((2,), "f32", toy)
    with pytest.raises(BufferError, match=r'use \.to\("cpu"\)'):
        there.numpy()
    with pytest.raises(BufferError, match=r'memory of toy:0 has no address to share; use \.to\("cpu"\)'):
        there.__dlpack__()
    with pytest.raises(BufferError):
        memoryview(there)
    assert np.from_dlpack(_CopiedToHost(there)).tolist() == [0.0, 0.0]


class _CopiedToHost:
    """A consumer that asks for the tensor on the CPU."""

    def __init__(self, tensor: kernpack.Tensor) -> None:
        self.tensor = tensor

    def __dlpack__(self, **kwargs: Any) -> object:
        return self.tensor.__dlpack__(dl_device=(1, 0), max_version=kwargs.get("max_version"))

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def test_mistakes_are_named(toy: kernpack.Device) -> None:
    there = kernpack.zeros((2,), "f32", toy)
    with pytest.raises(ValueError, match="one shape"):
        there.copy_(np.zeros(3, np.float32))
    with pytest.raises(TypeError, match="one dtype, got f64 and f32"):
        there.copy_(np.zeros(2))
    with pytest.raises(ValueError, match="unknown memory scope 'texture'; expected global"):
        kernpack.empty((2,), "f32", toy, scope="texture")
    with pytest.raises(MemoryError, match="toy: "):
        kernpack.empty((1 << 40,), "u8", toy)
    with pytest.raises(OSError, match="cannot be loaded"):
        kernpack.load_backend("/nowhere/libtoy.so")


def test_a_kernel_runs_where_its_tensors_are(toy: kernpack.Device, toy_kernels: Any) -> None:
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    for device in ("toy:0", "toy:1", "cpu"):
        out = toy_kernels.axpy(kernpack.from_dlpack(x, device), kernpack.from_dlpack(y, device), a=3.0)
        assert out.device == kernpack.device(device)
        np.testing.assert_array_equal(out.to("cpu").numpy(), 3 * x + y)
    given = kernpack.empty((100,), "f32", toy)
    assert toy_kernels.axpy(kernpack.from_dlpack(x, toy), kernpack.from_dlpack(y, toy), out=given) is given
    np.testing.assert_array_equal(given.to("cpu").numpy(), x + y)
    with pytest.raises(ValueError, match=r"y: expected device toy:0 .that of x., got cpu"):
        toy_kernels.axpy(kernpack.from_dlpack(x, toy), kernpack.from_dlpack(y))
    empty = kernpack.empty((0,), "f32", toy)
    assert toy_kernels.axpy(empty, empty).shape == (0,)


def test_workspaces_of_kernels(toy: kernpack.Device, with_workspace: Any) -> None:
    x = np.arange(1000, dtype=np.float32)
    for _ in range(3):
        out = with_workspace.triple(kernpack.from_dlpack(x, toy))
        np.testing.assert_array_equal(out.to("cpu").numpy(), 3 * x)
    one = kernpack.from_dlpack(np.ones(1, np.float32), toy)
    assert [with_workspace.count(one).to("cpu").numpy()[0] for _ in range(3)] == [1, 2, 3]
    queue = kernpack.Stream(toy)
    with kernpack.stream(queue):
        assert with_workspace.count(one).to("cpu").numpy()[0] == 1, "a stream has a workspace of its own"
    toy.reset()
    assert with_workspace.count(one).to("cpu").numpy()[0] == 1
    with pytest.raises(RuntimeError, match="triple: no variant runs on cpu:0"):
        with_workspace.triple(kernpack.from_dlpack(x))


def test_variants_are_listed(toy_kernels: Any) -> None:
    variants = json.loads(toy_kernels.functions["axpy"]._variants_json())
    assert {variant["target"]: variant["chosen"] for variant in variants} == {None: True, "toy": False}


def _fail_inside(stream: kernpack.Stream) -> None:
    try:
        with kernpack.stream(stream):
            assert kernpack.current_stream(stream.device).handle == stream.handle
            raise ZeroDivisionError
    except ZeroDivisionError:
        pass


def test_the_current_stream_is_restored(toy: kernpack.Device) -> None:
    first, second = kernpack.Stream(toy), kernpack.Stream(toy)
    assert first.handle
    assert first.handle != second.handle
    assert kernpack.current_stream(toy).handle == 0
    with kernpack.stream(first) as current:
        assert current is first
        assert kernpack.current_stream(toy).handle == first.handle
        _fail_inside(second)
        assert kernpack.current_stream(toy).handle == first.handle
        assert kernpack.current_stream("toy:1").handle == 0
        seen: list[int] = []
        thread = threading.Thread(target=lambda: seen.append(kernpack.current_stream(toy).handle))
        thread.start()
        thread.join()
        assert seen == [0]
    assert kernpack.current_stream(toy).handle == 0
    with pytest.raises(ValueError, match="the other on toy:1"):
        first.wait(kernpack.Stream("toy:1"))


def test_streams_of_one_queue_are_equal(toy: kernpack.Device) -> None:
    first, second = kernpack.Stream(toy), kernpack.Stream(toy)
    with kernpack.stream(first):
        assert kernpack.current_stream(toy) == first
        assert hash(kernpack.current_stream(toy)) == hash(first)
    assert kernpack.current_stream(toy) == kernpack.current_stream(toy) != first
    assert first != second
    assert kernpack.current_stream(toy) != kernpack.current_stream("toy:1")
    assert first != first.handle


def test_work_on_streams(toy: kernpack.Device, toy_kernels: Any) -> None:
    x = np.arange(1000, dtype=np.float32)
    first, second = kernpack.Stream(toy), kernpack.Stream(toy)
    with kernpack.stream(first):
        a = kernpack.from_dlpack(x, toy)
        b = toy_kernels.axpy(a, a)
    second.wait(first)
    with kernpack.stream(second):
        c = toy_kernels.axpy(b, a)
        np.testing.assert_array_equal(c.to("cpu").numpy(), 3 * x)
    second.sync()
    assert second.done()
    toy.sync()


def test_nothing_leaks(toy: kernpack.Device, toy_kernels: Any) -> None:
    toy.sync()
    gc.collect()
    objects, free = _core.live_objects(), toy.available_global_memory
    for _ in range(100):
        stream = kernpack.Stream(toy)
        with kernpack.stream(stream):
            x = kernpack.zeros((1000,), "f32", toy)
            toy_kernels.axpy(x, x).to("cpu")
        del stream
    del x
    assert toy.available_global_memory == free
    assert _core.live_objects() == objects
    toy.reset()


def test_a_forked_child_gets_an_error(toy: kernpack.Device) -> None:
    there = kernpack.zeros((2,), "f32", toy)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            there.to("cpu")
            text = "it worked"
        except RuntimeError as error:
            text = str(error)
        del there
        kernpack.zeros((2,), "f32").numpy()
        os.write(write, text.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    assert "opened by this process's parent before it forked" in text


def run_script(script: str, **environment: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_backends_from_the_environment(toy_plugin: Path) -> None:
    script = "import kernpack; print(kernpack.device('toy:1').device_name, len(kernpack.devices('toy')))"
    assert run_script(script, KERNPACK_BACKENDS=f"/nowhere/lib.so:{toy_plugin}") == "Toy Accelerator 2"
    script = "import kernpack; print(kernpack.info()['devices'].get('/nowhere/lib.so'))"
    assert "cannot be loaded" in run_script(script, KERNPACK_BACKENDS="/nowhere/lib.so")


def test_backends_from_installed_packages(toy_plugin: Path, tmp_path: Path) -> None:
    (tmp_path / "toy_package.py").write_text(f"def plugin():\n    return {str(toy_plugin)!r}\n")
    metadata = tmp_path / "toy_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[kernpack.backends]\ntoy = toy_package:plugin\n")
    script = "import kernpack; print(kernpack.device('toy').device_name)"
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    assert run_script(script, PYTHONPATH=path) == "Toy Accelerator"


def test_exit_with_everything_alive(toy_plugin: Path) -> None:
    script = (
        "import kernpack, threading\n"
        f"kernpack.load_backend({str(toy_plugin)!r})\n"
        "s = kernpack.Stream('toy'); x = kernpack.zeros((1000,), 'f32', 'toy')\n"
        "guard = kernpack.stream(s); guard.__enter__()\n"
        "for _ in range(100): x.copy_(x.to('toy:1').to('toy'))\n"
        "print('done')\n"
    )
    assert run_script(script) == "done"
