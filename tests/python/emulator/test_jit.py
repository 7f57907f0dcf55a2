"""Modules that carry CUDA C++: NVRTC compiles a kernel when it is first launched, without nvcc, here for the emulated device."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kernpack_sdk
import pytest
from support.emulated import run_emulated, without_emulator

HERE = Path(__file__).parent / "jit"
TOOK, FOUND = " took ", " is in the cache: "
pytestmark = pytest.mark.usefixtures("nvrtc")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The module, from a folder of its own whose sources are gone: no compiler of CUDA takes part."""
    pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    folder = tmp_path_factory.mktemp("jit")
    source = shutil.copytree(HERE, folder / "source")
    configure = [
        "cmake",
        "-S",
        source,
        "-B",
        folder / "build",
        "-G",
        "Ninja",
        f"-Dkernpack_DIR={kernpack_sdk.cmake_dir()}",
    ]
    for command in (configure, ["cmake", "--build", folder / "build"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    shutil.rmtree(source)
    return Path(shutil.move(folder / "build" / "jit_rows.so", folder))


@pytest.fixture(scope="module")
def fake_nvrtc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("fake") / "libnvrtc.so"
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", HERE / "fake_nvrtc.c", "-o", made], check=True)
    return made


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def _call(rows: Path, cache: Path, *words: str, devices: str = "sm_90", **variables: str) -> tuple[list[Any], str]:
    """The results, and what was said on stderr."""
    settings = {"KERNPACK_CACHE_DIR": str(cache), "KERNPACK_LOG": "info", **variables}
    done = run_emulated(HERE / "call.py", str(rows), *words, devices=devices, **settings)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def _warm(*words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kernpack", "warm", *words],
        env={**without_emulator(), **variables}, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def _entries(cache: Path) -> list[Path]:
    return sorted(cache.glob("cuda/*/*.bin"))


OPS = {
    "scale:f4": [0.0, 2.0, 4.0, 6.0],
    "scale:f8": [0.0, 2.0, 4.0, 6.0],
    "add_two:i4": [2, 3, 4, 5],
    "negate": [-0.0, -1.0, -2.0, -3.0],
    "shift": [1.0, 2.0, 3.0, 4.0],
}


def test_kernels_are_compiled_once_for_all_processes(rows: Path, cache: Path) -> None:
    results, said = _call(rows, cache, *OPS, PATH="/nowhere")  # no nvcc, no gcc
    assert results == list(OPS.values())
    # Kernels that aren't templates are compiled together.
    assert said.count(TOOK) == 4
    assert "compiling kernel scale<float> of rows.cu for compute_90 with NVRTC " in said
    results, said = _call(rows, cache, *OPS)
    assert results == list(OPS.values())
    assert (said.count(TOOK), said.count(FOUND)) == (0, 4)
    assert len(_entries(cache)) == 4
    # Another architecture is other code.
    assert TOOK in _call(rows, cache, "shift", devices="sm_80")[1]


LIFTED, STOOD_IN = [1.0, 2.0, 3.0, 4.0], [100.0, 101.0, 102.0, 103.0]


def test_a_stand_in_runs_until_the_kernel_is_compiled(rows: Path, cache: Path) -> None:
    (first, last), said = _call(rows, cache, "lift", UNTIL="1")
    assert (first, last) == (STOOD_IN, LIFTED)
    assert "compiling kernel lift<float, 1> of rows.cc for compute_90" in said
    # A later process takes the cache at once. An instance that the stand-in doesn't have is waited for.
    results, said = _call(rows, cache, "lift", "lift_two")
    assert results == [LIFTED, [2.0, 3.0, 4.0, 5.0]]
    assert (said.count(FOUND), said.count(TOOK)) == (1, 1)
    # PTX for newer devices doesn't stand in.
    assert _call(rows, cache, "lift", devices="sm_70")[0][0].startswith("RuntimeError: cuda:0: NVRTC ")


def test_a_process_that_ends_waits_for_the_compilation(rows: Path, cache: Path) -> None:
    assert _call(rows, cache, "lift")[0] == [STOOD_IN]
    assert len(_entries(cache)) == 1


def test_a_stand_in_stays_where_nothing_can_be_compiled(rows: Path, cache: Path) -> None:
    again = {"UNTIL": "1", "UNTIL_SECONDS": "2"}
    (first, last), said = _call(rows, cache, "lift", KERNPACK_NVRTC="/nowhere/libnvrtc.so", **again)
    assert (first, last) == (STOOD_IN, STOOD_IN)
    assert (
        said.count("kernpack: the PTX that rows.cc carries goes on running, because: cuda:0: kernel lift<float, 1>")
        == 1
    )
    assert "/nowhere/libnvrtc.so: no such file" in said


def test_a_stand_in_in_a_file(rows: Path, cache: Path) -> None:
    nowhere = {"KERNPACK_NVRTC": "/nowhere/libnvrtc.so"}
    assert _call(rows, cache, "twice:f4", **nowhere)[0] == [STOOD_IN]
    assert "which needs NVRTC" in _call(rows, cache, "twice:f2", **nowhere)[0][0]


def _most_at_once(log: Path) -> int:
    """Of compilations, by the marks of the fake NVRTC."""
    marks = log.read_text()
    return max(marks[:i].count("b") - marks[:i].count("e") for i in range(len(marks) + 1))


needs_processors = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="compiles one at once on one processor")


@needs_processors
def test_a_call_compiles_several_kernels_at_once(rows: Path, cache: Path, fake_nvrtc: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    fake = {"KERNPACK_NVRTC": str(fake_nvrtc), "FAKE_NVRTC_SECONDS": "1", "FAKE_NVRTC_LOG": str(log)}
    (said,), _ = _call(rows, cache, "several", **fake)
    assert said.startswith(
        "RuntimeError: cuda:0: compiling kernel scale<float> of rows.cu for compute_80 with NVRTC 13.9"
    )
    assert log.read_text().count("b") == 3  # two kernels aren't templates, and are one compilation
    assert 2 <= _most_at_once(log) <= len(os.sched_getaffinity(0))
    results, said = _call(rows, cache, "several")
    assert results == [[8.0, 10.0, 12.0, 14.0]]
    assert said.count(TOOK) == 3


@needs_processors
def test_warm_compiles_several_kernels_at_once(rows: Path, cache: Path, fake_nvrtc: Path, tmp_path: Path) -> None:
    for jobs in (1, 2):
        log = tmp_path / f"log{jobs}"
        fake = {"KERNPACK_NVRTC": str(fake_nvrtc), "FAKE_NVRTC_SECONDS": "0.3", "FAKE_NVRTC_LOG": str(log)}
        done = _warm(rows, "--cuda-arch", "80", "--jobs", str(jobs), KERNPACK_CACHE_DIR=str(cache), **fake)
        assert done.returncode == 1
        assert log.read_text().count("b") > 3
        assert _most_at_once(log) == jobs


def test_kernels_of_halves_with_headers_of_wheels(rows: Path, cache: Path) -> None:
    (result,), said = _call(rows, cache, "twice:f2")
    if isinstance(result, str) and "pip install nvidia-cuda-cccl" in result:
        pytest.skip("no nvidia-cuda-cccl is installed")
    assert result == [0.0, 2.0, 4.0, 6.0]
    assert "kernel twice<kernpack::half> of halves.cu" in said
    assert FOUND in _call(rows, cache, "twice:f2")[1]


def test_a_machine_without_nvrtc(rows: Path, cache: Path) -> None:
    """It needs what another one compiled: with a container's image, say."""
    nowhere = {"KERNPACK_NVRTC": "/nowhere/libnvrtc.so"}
    (said,), _ = _call(rows, cache, "shift", **nowhere)
    assert said == (
        "RuntimeError: cuda:0: rows.cu is compiled when it is first used, which needs NVRTC, but KERNPACK_NVRTC names one "
        "that can't be used: /nowhere/libnvrtc.so: no such file; unset it, or correct it"
    )
    assert _call(rows, cache, "shift")[0] == [OPS["shift"]]
    results, log = _call(rows, cache, "shift", **nowhere)
    assert results == [OPS["shift"]]
    assert FOUND in log


def test_a_mistake_in_the_source_has_the_authors_file_and_line(rows: Path, cache: Path) -> None:
    line = subprocess.run(
        [sys.executable, "-c", "import kernpack, sys; print(kernpack.load(sys.argv[1]).broken_line())", rows],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    (broken, lacking, absent, no_type, again), _ = _call(
        rows, cache, "broken", "lacking", "absent", "scale:c8", "shift"
    )
    assert broken.startswith("RuntimeError: cuda:0: compiling rows.cc for compute_90 with NVRTC ")
    assert f'failed; its messages:\nrows.cc({line}): error: identifier "nothing_of_this_name" is undefined' in broken
    assert lacking.endswith("the header 'cub/not_there.cuh' isn't installed: pip install nvidia-cuda-cccl")
    assert absent.startswith("AttributeError: cuda:0: the code has no kernel 'negative', only ")
    assert no_type == "TypeError: scale: kp::instance: no C++ type of CUDA kernels has the dtype c64"
    assert again == OPS["shift"]


def test_a_gpu_that_nvrtc_does_not_know(rows: Path, cache: Path) -> None:
    (older,), _ = _call(rows, cache, "shift", devices="sm_60")
    assert "makes no code for sm_60, only for sm_75, " in older
    assert 'pip install "nvidia-cuda-nvrtc-cu12>=12,<13"' in older
    done = _warm(rows, "--cuda-arch", "35", KERNPACK_CACHE_DIR=str(cache))
    assert "; nor does that of CUDA 12, whose oldest architecture is sm_50" in done.stderr
    (newer,), said = _call(rows, cache, "shift", devices="sm_199")  # PTX for the newest known one
    assert newer == OPS["shift"]
    assert "for compute_199" not in said


def test_two_processes_at_once_compile_once(rows: Path, cache: Path) -> None:
    words = [sys.executable, HERE / "call.py", rows, "shift"]
    settings = {
        **without_emulator(),
        "KERNPACK_EMULATOR": "sm_90",
        "KERNPACK_LOG": "info",
        "KERNPACK_CACHE_DIR": str(cache),
    }
    running = [subprocess.Popen(words, env=settings, stdout=-1, stderr=-1, text=True) for _ in range(3)]
    said = [process.communicate(timeout=300) for process in running]
    assert [json.loads(out) for out, _ in said] == [OPS["shift"]] * 3
    assert sum(log.count(TOOK) for _, log in said) == 1
    assert sum(log.count(FOUND) for _, log in said) == 2


@pytest.fixture
def long_compilation(rows: Path, cache: Path, fake_nvrtc: Path) -> Iterator[subprocess.Popen[str]]:
    settings = {"KERNPACK_NVRTC": str(fake_nvrtc), "FAKE_NVRTC_SECONDS": "60", "KERNPACK_CACHE_DIR": str(cache)}
    process = subprocess.Popen(
        [sys.executable, HERE / "call.py", rows, "shift"],
        env={**without_emulator(), "KERNPACK_EMULATOR": "sm_90", **settings}, stdout=-1, stderr=-1, text=True,
    )  # fmt: skip
    yield process
    process.kill()
    process.communicate()


def test_a_long_compilation_says_so_and_a_killed_one_leaves_nothing(
    rows: Path, cache: Path, long_compilation: subprocess.Popen[str]
) -> None:
    assert long_compilation.stderr is not None
    assert (
        long_compilation.stderr.readline()
        == "kernpack: compiling rows.cu for compute_80 with NVRTC 13.9; it is kept for later processes\n"
    )
    long_compilation.send_signal(signal.SIGKILL)
    long_compilation.wait()
    assert _entries(cache) == []
    assert _call(rows, cache, "shift")[0] == [OPS["shift"]]


def test_one_that_waits_takes_over_when_the_other_is_killed(
    rows: Path, cache: Path, long_compilation: subprocess.Popen[str]
) -> None:
    assert long_compilation.stderr is not None
    assert "compiling" in long_compilation.stderr.readline()
    settings = {"KERNPACK_CACHE_DIR": str(cache), "KERNPACK_EMULATOR": "sm_90"}
    waiting = subprocess.Popen(
        [sys.executable, HERE / "call.py", rows, "shift"],
        env={**without_emulator(), **settings}, stdout=-1, stderr=-1, text=True,
    )  # fmt: skip
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.communicate(timeout=3)
    long_compilation.kill()
    out, said = waiting.communicate(timeout=120)
    assert json.loads(out) == OPS["shift"], said


def test_one_that_waits_for_another_can_be_interrupted(
    rows: Path, cache: Path, fake_nvrtc: Path, long_compilation: subprocess.Popen[str]
) -> None:
    assert long_compilation.stderr is not None
    assert "compiling" in long_compilation.stderr.readline()
    code = "import sys, signal, threading, os; threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start();"
    code += f"sys.argv = ['call.py', {str(rows)!r}, 'shift']; exec(open({str(HERE / 'call.py')!r}).read())"
    settings = {"KERNPACK_NVRTC": str(fake_nvrtc), "KERNPACK_CACHE_DIR": str(cache), "KERNPACK_EMULATOR": "sm_90"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**without_emulator(), **settings},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert "KeyboardInterrupt" in done.stderr


def test_a_cache_that_cannot_be_written(rows: Path, tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    results, said = _call(rows, in_the_way, "shift", "scale:f4")
    assert results == [OPS["shift"], OPS["scale:f4"]]
    assert said.count(f"kernpack: can't keep compiled CUDA code below '{in_the_way}/cuda' (Not a directory)") == 1
    assert "it is kept" not in said


def test_a_cache_that_is_full(rows: Path, cache: Path) -> None:
    """Writing ends within the entry, as on a full disk: nothing of it stays, and the call has its result."""
    results, said = _call(rows, cache, "shift", FILE_LIMIT="1000")
    assert results == [OPS["shift"]]
    assert f"kernpack: can't keep compiled CUDA code below '{cache}/cuda' (File too large), so every process" in said
    assert [path.name for path in cache.glob("cuda/*/*")] == ["lock"]
    assert TOOK in _call(rows, cache, "shift")[1]


def test_a_compilation_whose_result_is_lost_does_not_promise_to_keep_it(
    rows: Path, fake_nvrtc: Path, tmp_path: Path
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    _, said = _call(rows, in_the_way, "shift", KERNPACK_NVRTC=str(fake_nvrtc), FAKE_NVRTC_SECONDS="2")
    assert "kernpack: compiling rows.cu for compute_80 with NVRTC 13.9\n" in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into any folder")
def test_a_cache_that_is_read_only(rows: Path, cache: Path) -> None:
    _call(rows, cache, "shift")
    folder = cache / "cuda"
    folder.chmod(0o555)
    results, said = _call(rows, cache, "shift", "scale:f4")
    folder.chmod(0o755)
    assert results == [OPS["shift"], OPS["scale:f4"]]
    assert FOUND in said
    assert said.count(f"kernpack: can't keep compiled CUDA code below '{folder}' (Permission denied)") == 1


def test_a_damaged_or_foreign_entry_is_compiled_again(rows: Path, cache: Path) -> None:
    _call(rows, cache, "shift")
    (entry,) = _entries(cache)
    content = entry.read_bytes()
    entry.write_bytes(content.replace(b"add.", b"sub.") + b" ")
    assert TOOK in _call(rows, cache, "shift")[1]
    assert entry.read_bytes() == content
    entry.chmod(0o666)  # others could have written it
    assert TOOK in _call(rows, cache, "shift")[1]


def test_warm_compiles_ahead(rows: Path, cache: Path) -> None:
    settings = {"KERNPACK_CACHE_DIR": str(cache), "KERNPACK_EMULATOR": "sm_90"}
    done = _warm(rows.parent, "--json", "--jobs", "2", **settings)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    (problem,) = found["problems"]
    assert "nothing_of_this_name" in problem
    built = [(each["source"], each["unit"], each["arch"], each["compiled"]) for each in found["built"]]
    assert [each for each in built if each[0] == "rows.cu"] == [
        ("rows.cu", "", "compute_90", True),
        ("rows.cu", "scale<float>", "compute_90", True),
        ("rows.cu", "scale<double>", "compute_90", True),
        ("rows.cu", "add<int, 2>", "compute_90", True),
    ]
    results, said = _call(rows, cache, *OPS)
    assert results == list(OPS.values())
    assert (said.count(TOOK), said.count(FOUND)) == (0, 4)


def test_warm_for_a_gpu_that_is_not_here(rows: Path, cache: Path) -> None:
    done = _warm(rows, "--cuda-arch", "80,90", KERNPACK_CACHE_DIR=str(cache), KERNPACK_PROGRESS="0")
    assert "rows.cu, sm_80: scale<float>: compiled\n" in done.stdout
    assert "rows.cu, sm_90: scale<float>: compiled\n" in done.stdout
    assert b"\x7fELF" in next(iter(_entries(cache))).read_bytes()
    done = _warm(rows, "--cuda-arch", "90", KERNPACK_CACHE_DIR=str(cache), KERNPACK_PROGRESS="0")
    assert "rows.cu, sm_90: scale<float>: in the cache\n" in done.stdout


def test_warm_fails_where_nothing_can_be_kept(rows: Path, tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    done = _warm(rows, "--cuda-arch", "90", KERNPACK_CACHE_DIR=str(in_the_way), KERNPACK_PROGRESS="0")
    assert done.returncode == 1
    assert (
        f"kernpack warm: can't keep compiled CUDA code below '{in_the_way}/cuda' (Not a directory); set " in done.stderr
    )
    assert done.stdout == ""


def test_mistakes_of_warm(rows: Path, tmp_path: Path) -> None:
    assert (
        "expected compute capabilities without the dot, as in 80,90, got 'sm_90'"
        in _warm(rows, "--cuda-arch", "sm_90").stderr
    )
    plain = tmp_path / "plain.so"
    plain.write_bytes(b"\x7fELF")
    done = _warm(plain, "--cuda-arch", "90")
    assert done.returncode == 1
    assert f"{plain} carries no CUDA source; its code is compiled already" in done.stderr


def test_inspect_and_explain_name_sources_architectures_and_nvrtc(
    rows: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kernpack import _jit
    from kernpack_sdk import contents

    monkeypatch.setenv("KERNPACK_CACHE_DIR", str(cache))
    (module,) = contents.facts(str(rows))["modules"]
    assert [row["kind"] for row in module["device_code"]] == ["cuda", "ptx"]  # of the stand-ins
    sources = {each["source"]: each for each in module["cuda_sources"]}
    assert sources["rows.cu"]["kernels"] == ["scale<float>", "scale<double>", "add<int, 2>"]
    assert (sources["rows.cu"]["stand_in"], sources["halves.cu"]["stand_in"]) == (None, "compute_75")
    assert {len(each["cached"]) for each in sources.values()} == {0}
    _call(rows, cache, "shift", "scale:f4")
    _warm(rows, "--cuda-arch", "80", KERNPACK_CACHE_DIR=str(cache), KERNPACK_PROGRESS="0")
    (found,) = [each for each in _jit.facts(rows) if each["source"] == "rows.cu"]
    by_number, by_ptx = found["cached"]
    assert (by_number["architecture"], len(by_number["units"])) == ("sm_80", 4)
    assert (by_ptx["architecture"], by_ptx["units"]) == ("compute_90", ("", "scale<float>"))
    (version,) = by_ptx["nvrtc"]
    words = [sys.executable, "-m", "kernpack", "explain", f"{rows}.shift"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ})
    assert "CUDA source rows.cu: kernels: scale<float>, scale<double>, add<int, 2>\n" in done.stdout
    assert f"  in the cache for compute_90: 2 of 4 compilations, by NVRTC {version}\n" in done.stdout
    assert "  PTX of compute_75 runs while they are compiled\n" in done.stdout
    assert f"compiled when first used, by NVRTC {version}" in done.stdout
    nowhere = {**os.environ, "KERNPACK_NVRTC": "/nowhere/libnvrtc.so"}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=nowhere)
    assert "to compile, it needs NVRTC, but KERNPACK_NVRTC names one that can't be used: /nowhere" in done.stdout
    words[3:] = ["inspect", str(rows)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert f"  in the cache for sm_80: 4 of 4 compilations, by NVRTC {version}\n" in done.stdout
