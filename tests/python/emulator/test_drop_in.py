"""`python -m kernpack_cuda_emulator run`: programs find the emulated device where a GPU's driver and tools would be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.emulated import without_emulator

pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")

_COUNT = """
import ctypes
driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
assert driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
print(count.value)
"""
# Two warps write to one word, and the first reads what nothing wrote: which of the two is an error, the command says.
_MISTAKES = """
import ctypes, sys
c, driver = ctypes, ctypes.CDLL("libcuda.so.1")
device, context, module, kernel, memory = c.c_int(), c.c_void_p(), c.c_void_p(), c.c_void_p(), c.c_uint64()
body = {
    "race": ".shared .align 4 .b8 s[4]; st.shared.u32 [s], %r1;",
    "read": "ld.global.u32 %r1, [%d1]; st.global.u32 [%d1], %r1;",
}[sys.argv[1]]
ptx = (".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry k(.param .u64 p) { .reg .u32 %r<4>; .reg .u64 %d<4>; "
       "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; " + body + " ret; }").encode()
driver.cuInit(0)
driver.cuDeviceGet(c.byref(device), 0)
driver.cuDevicePrimaryCtxRetain(c.byref(context), device)
driver.cuCtxSetCurrent(context)
assert driver.cuModuleLoadData(c.byref(module), ptx) == 0
assert driver.cuModuleGetFunction(c.byref(kernel), module, b"k") == 0
assert driver.cuMemAlloc_v2(c.byref(memory), c.c_size_t(64)) == 0
parameters = (c.c_void_p * 1)(c.addressof(memory))
assert driver.cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, None, parameters, None) == 0
sys.exit(driver.cuCtxSynchronize() != 0)
"""


def _run(*words: str | Path, check: bool = False) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "kernpack_cuda_emulator", "run", *words],
        env=without_emulator(), capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert not check or done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("devices", ["sm_80", "sm_90,sm_80"])
def test_the_driver_has_the_devices_that_were_asked_for(devices: str) -> None:
    done = _run("--device", devices, "--", sys.executable, "-c", _COUNT, check=True)
    assert done.stdout.split() == [str(len(devices.split(",")))]


def test_nvidia_smi_names_the_devices() -> None:
    lines = _run("--device", "sm_90,sm_80", "--", "nvidia-smi", check=True).stdout.splitlines()
    assert lines[0] == "GPU 0: emulated, sm_90 (kernpack-cuda-emulator)"
    assert lines[1] == "GPU 1: emulated, sm_80 (kernpack-cuda-emulator)"


_MANAGEMENT = """
import ctypes as c, os
nvml = c.CDLL("libnvidia-ml.so.1")
count, handle, text, index, major, minor = c.c_uint(), c.c_void_p(), c.create_string_buffer(96), c.c_uint(), c.c_int(), c.c_int()
memory = (c.c_uint64 * 3)()
assert nvml.nvmlDeviceGetCount_v2(c.byref(count)) == 1
assert nvml.nvmlInit_v2() == 0 and nvml.nvmlDeviceGetCount_v2(c.byref(count)) == 0
print(count.value)
assert nvml.nvmlDeviceGetHandleByIndex_v2(2, c.byref(handle)) == 2
assert nvml.nvmlDeviceGetHandleByPciBusId_v2(b"0000:03:00.0", c.byref(handle)) == 6
assert nvml.nvmlDeviceGetHandleByPciBusId_v2(b"00000000:02:00.0", c.byref(handle)) == 0
assert nvml.nvmlDeviceGetIndex(handle, c.byref(index)) == 0 and index.value == 1
assert nvml.nvmlDeviceGetName(handle, text, 3) == 7 and nvml.nvmlDeviceGetName(handle, text, 96) == 0
print(text.value.decode())
assert nvml.nvmlDeviceGetUUID(handle, text, 96) == 0
assert nvml.nvmlDeviceGetHandleByUUID(text, c.byref(handle)) == 0 and nvml.nvmlDeviceGetIndex(handle, c.byref(index)) == 0
assert index.value == 1
assert nvml.nvmlDeviceGetCudaComputeCapability(handle, c.byref(major), c.byref(minor)) == 0
print(major.value, minor.value)
assert nvml.nvmlDeviceGetMemoryInfo(handle, memory) == 0
print(memory[0] == memory[1] > 0 == memory[2])
assert nvml.nvmlDeviceGetUtilizationRates(handle, memory) == 3
assert nvml.nvmlDeviceGetName(c.c_void_p(1), text, 96) == 2
assert nvml.nvmlShutdown() == 0 and nvml.nvmlShutdown() == 1
# The question doesn't begin a use of the device, which a fork would end.
if (child := os.fork()) == 0:
    driver = c.CDLL("libcuda.so.1")
    os._exit(driver.cuInit(0) or driver.cuDeviceGetCount(c.byref(count)))
assert os.waitpid(child, 0)[1] == 0
"""


def test_the_management_library_knows_the_devices() -> None:
    done = _run("--device", "sm_90,sm_80", "--", sys.executable, "-c", _MANAGEMENT, check=True)
    assert done.stdout.splitlines() == ["2", "Emulated GPU 1 (sm_80)", "8 0", "True"]
    assert done.stderr == (
        "kernpack_cuda_emulator: nvmlDeviceGetUtilizationRates was called, and the emulated device doesn't have it; the call returned "
        "3, not supported\n"
    )


def test_a_call_after_the_program_is_an_error_not_an_end() -> None:
    program = """if True:
        import ctypes
        driver = ctypes.CDLL("libcuda.so.1")
        # A function that is registered earlier is called later: after the driver's own.
        assert ctypes.CDLL(None).__cxa_atexit(driver.cuCtxSynchronize, None, None) == 0
        assert driver.cuInit(0) == 0
    """
    assert _run("--", sys.executable, "-c", program).returncode == 0


def test_ptxas_hands_ptx_through(tmp_path: Path) -> None:
    ptx, cubin = tmp_path / "k.ptx", tmp_path / "k.cubin"
    ptx.write_text(".version 8.0\n")
    _run("--", "ptxas", "-v", "--opt-level", "3", "--gpu-name=sm_90a", ptx, "-o", cubin, check=True)
    assert cubin.read_text() == ptx.read_text()
    assert "release 13.0, V13.0.0" in _run("--", "ptxas", "--version", check=True).stdout
    done = _run("--", "ptxas", "-o", cubin, tmp_path / "none.ptx")
    assert done.returncode == 1
    assert done.stderr == "ptxas (kernpack-cuda-emulator): expected a file with PTX\n"


@pytest.mark.parametrize("mistake", ["race", "read"])
def test_checks_look_for_the_errors_that_were_asked_for(mistake: str) -> None:
    program = ("--", sys.executable, "-c", _MISTAKES, mistake)
    said = "with no barrier in between" if mistake == "race" else "that nothing has written"
    for checks in ([], ["--check", "races,init"], ["--check", {"race": "races", "read": "init"}[mistake]]):
        done = _run(*checks, *program)
        assert (done.returncode, said in done.stderr) == (1, True), (checks, done)
    for other in ("none", {"race": "init", "read": "races"}[mistake]):
        assert _run("--check", other, *program).returncode == 0, other


def test_a_seed_is_handed_on() -> None:
    assert (
        "KERNPACK_EMULATOR_SEED=7 reproduces it"
        in _run("--seed", "7", "--", sys.executable, "-c", _MISTAKES, "race").stderr
    )


def test_the_report_has_what_kernels_did(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = _run("--report", report, "--", sys.executable, "-c", _MISTAKES, "race")
    assert done.returncode == 1
    written = json.loads(report.read_text(encoding="utf-8"))
    assert written["command"] == [sys.executable, "-c", _MISTAKES, "race"]
    assert (written["version"], written["status"]) == (1, 1)
    (finding,) = written["findings"]
    assert (finding["kind"], finding["kernel"], finding["instruction"]) == ("race", "k", "st.shared.u32")
    assert finding["thread"][0] != 0
    assert (
        f"kernel k, block (0, 0, 0), thread ({finding['thread'][0]}, 0, 0), PTX line {finding['ptx_line']}"
        in finding["message"]
    )
    assert written["kernels"] == [{"name": "k", "device": "sm_90", "launches": 1, "findings": 1}]


def test_the_report_says_what_a_program_asked_for_in_vain(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    program = """if True:
        import ctypes
        driver, entry, module = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
        driver.cuInit(0)
        assert [driver.cuGraphicsMapResources(1, None, None) for _ in range(3)] == [801] * 3
        assert driver.cuGetProcAddress_v2(b"cuNoSuchFunction", ctypes.byref(entry), 13000, ctypes.c_uint64(0), None) == 500
        context = ctypes.c_void_p()
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
        driver.cuCtxSetCurrent(context)
        assert driver.cuModuleLoadData(ctypes.byref(module), b".version 8.0 .target sm_80 .entry k() { no.such.thing; }") != 0
    """
    done = _run("--report", report, "--", sys.executable, "-c", program, check=True)
    assert done.stderr == (
        "kernpack_cuda_emulator: cuGraphicsMapResources was called, and the emulated device doesn't have it; the call returned 801, "
        "not supported\n"
    )
    written = json.loads(report.read_text(encoding="utf-8"))
    assert written["missing"] == [
        {"function": "cuGraphicsMapResources", "calls": 3},
        {"function": "cuNoSuchFunction", "calls": 0},
    ]
    (refused,) = written["refused"]
    assert "PTX line 1" in refused
    assert written["findings"] == written["kernels"] == []


def test_pythons_own_start_is_as_without_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        "import sys; print('sitecustomize' in sys.modules, any('kernpack_cuda_emulator/start' in p for p in sys.path))"
    )
    assert _run("--", sys.executable, "-c", program, check=True).stderr == ""
    (tmp_path / "sitecustomize.py").write_text("print('of the environment')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    done = _run("--", sys.executable, "-c", program, check=True)
    assert done.stdout.splitlines()[-2:] == ["of the environment", "True False"]
    assert done.stderr == ""


def test_the_exit_status_is_the_programs() -> None:
    assert _run("--", sys.executable, "-c", "raise SystemExit(3)").returncode == 3
    assert _run("--", sys.executable, "-c", "import os; os.kill(os.getpid(), 9)").returncode == 137


def test_what_a_program_needed_is_gone_afterwards() -> None:
    folder = _run(
        "--", sys.executable, "-c", "import os; print(os.environ['TRITON_PTXAS_PATH'])", check=True
    ).stdout.strip()
    assert folder
    assert not os.path.exists(folder)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "expected a command after --, such as: run -- python my_program.py"),
        (
            ("--check", "speed", "--", "true"),
            "--check: expected some of races, global, init, separated by commas, or none; got 'speed'",
        ),
        (
            ("--device", "sm_90,h100", "--", "true"),
            "--device: expected architectures such as sm_90, separated by commas; got 'h100'",
        ),
        (("--seed", "soon", "--", "true"), "--seed: expected a number below 1000000000, or random; got 'soon'"),
    ],
)
def test_a_wrong_command_line_is_refused(words: tuple[str, ...], said: str) -> None:
    done = _run(*words)
    assert done.returncode == 2
    assert done.stderr.endswith(f"error: {said}\n")


def test_a_command_that_is_not_there_is_named() -> None:
    done = _run("--", "no-such-program")
    assert done.returncode == 127
    assert done.stderr == "kernpack_cuda_emulator: can't run no-such-program: No such file or directory\n"
