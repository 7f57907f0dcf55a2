"""KERNPACK_EMULATOR from Python: which devices there are, kernels for CUDA on them, what is found and said."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import kernpack
import pytest
from emulated import run

HERE = Path(__file__).parent
LIST = """import kernpack
for device in kernpack.devices("cuda"): print(device, device.device_name)"""


def _last_line(text: str) -> str:
    return text.strip().splitlines()[-1] if text.strip() else ""


@pytest.fixture(scope="session")
def library() -> Path:
    """The emulated device, where the backend looks for it."""
    emulator = pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    return Path(emulator.LIBRARY)


@pytest.mark.parametrize(
    ("value", "archs"), [("sm_90", ["sm_90"]), ("sm_90,sm_80", ["sm_90", "sm_80"]), ("1", ["sm_90", "sm_80"])]
)
def test_devices_are_listed_and_called_emulated(library: Path, value: str, archs: list[str]) -> None:
    done = run("-c", LIST, KERNPACK_EMULATOR=value)
    lines = done.stdout.splitlines()
    assert len(lines) == len(archs), done.stderr
    for index, (line, arch) in enumerate(zip(lines, archs, strict=True)):
        assert line.endswith(f"Emulated GPU {index} ({arch})")


@pytest.mark.parametrize("value", ["sm90", "sm_90,", "sm_9000"])
def test_a_wrong_value_is_named(value: str) -> None:
    done = run("-c", LIST, KERNPACK_EMULATOR=value)
    assert done.returncode == 1
    assert "kernpack.devices: " in _last_line(done.stderr)
    assert "expected KERNPACK_EMULATOR to name devices from sm_50 to sm_199 with commas between them" in done.stderr
    assert f"got '{value}'" in done.stderr


def test_a_wrong_seed_is_named() -> None:
    done = run("-c", LIST, KERNPACK_EMULATOR="sm_90", KERNPACK_EMULATOR_SEED="-3")
    assert "expected KERNPACK_EMULATOR_SEED to be a whole number from 0" in _last_line(done.stderr)
    assert "got '-3'" in done.stderr


def test_a_wrong_limit_of_freed_memory_is_named(library: Path) -> None:
    done = run("-c", LIST, KERNPACK_EMULATOR="sm_90", KERNPACK_CUDA_FREED_MIB="64M")
    assert done.returncode == 1
    assert "expected KERNPACK_CUDA_FREED_MIB to be a whole number of MiB" in done.stderr
    assert "got '64M'" in done.stderr


LOOP = """import kernpack, numpy
device = kernpack.devices("cuda")[0]
for i in range(300):
    x = kernpack.from_dlpack(numpy.full(4096, i, numpy.float32)).to("cuda")
    assert (x.to("cpu").numpy() == i).all()
    del x
print(device.total_global_memory - device.available_global_memory)"""


@pytest.mark.parametrize("mebibytes", ["0", "1"])
def test_tensors_of_a_loop_take_no_more_memory(library: Path, mebibytes: str) -> None:
    done = run("-c", LOOP, KERNPACK_EMULATOR="sm_90", KERNPACK_CUDA_FREED_MIB=mebibytes)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) == 0


def test_another_driver_is_never_taken_for_it() -> None:
    done = run("-c", LIST, KERNPACK_EMULATOR="sm_90", KERNPACK_CUDA_DRIVER="libc.so.6")
    assert "KERNPACK_CUDA_DRIVER names libc.so.6, which isn't the emulated device: unset one of them" in done.stderr


def test_without_the_library_the_error_says_how_to_get_it(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("libkernpack_cuda_emulator.so", "__pycache__")
    shutil.copytree(Path(kernpack.__file__).parent, tmp_path / "kernpack", ignore=ignored)
    done = run("-c", LIST, KERNPACK_EMULATOR="sm_90", PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "KERNPACK_EMULATOR is set, but the emulated device's library" in done.stderr
    assert "`pip install kernpack-cuda-emulator` has it" in done.stderr


def test_a_built_kernel_equals_numpy(library: Path, nvrtc: None) -> None:
    done = run(HERE / "add_one.py", "1000", KERNPACK_EMULATOR="sm_90")
    assert done.stdout == "equal\n", done.stderr


@pytest.mark.parametrize("host", ["llvm", "c"])
def test_a_generated_kernel_has_more_than_48_kib_of_shared_memory(library: Path, nvrtc: None, host: str) -> None:
    done = run(HERE / "large_block.py", host, KERNPACK_EMULATOR="sm_90")
    assert done.stdout == "equal\n", done.stderr


def test_a_finding_is_the_error_of_the_call_with_its_seed(library: Path, nvrtc: None) -> None:
    done = run(HERE / "add_one.py", "64", "unset", KERNPACK_EMULATOR="sm_90", KERNPACK_EMULATOR_SEED="17")
    said = _last_line(done.stderr)
    for part in ("kernel ", "block (", "thread (", "PTX line", "of global memory that nothing has written"):
        assert part in said
    assert "KERNPACK_EMULATOR_SEED=17" in said
    assert "compute-sanitizer" not in said
    plain = run(HERE / "add_one.py", "64", "unset", KERNPACK_EMULATOR="sm_90")
    assert "nothing has written" in plain.stderr
    assert "KERNPACK_EMULATOR_SEED" not in plain.stderr
    drawn = run(HERE / "add_one.py", "64", "unset", KERNPACK_EMULATOR="sm_90", KERNPACK_EMULATOR_SEED="random")
    assert "KERNPACK_EMULATOR_SEED=" in drawn.stderr


def test_ctrl_c_ends_a_kernel_and_reaches_who_handles_it(library: Path, nvrtc: None) -> None:
    env = {**os.environ, "KERNPACK_EMULATOR": "sm_90", "KERNPACK_EMULATOR_SECONDS": "1000"}
    with subprocess.Popen(
        [sys.executable, HERE / "never_ends.py"], env=env, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "launched\n"
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:  # the first may come before the kernel runs
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        process.kill()
        printed = process.stdout.read()
    assert "handled\n" in printed
    assert "was being run when the kernel was interrupted" in printed
