"""CUDA_ARCHITECTURES of kernpack_add_module(): the options of nvcc, and what is refused. Needs no nvcc."""

from __future__ import annotations

import subprocess
from pathlib import Path

import kernpack_sdk
import pytest
from author_project import MODULE


def _options(folder: Path, *architectures: str) -> subprocess.CompletedProcess[str]:
    script = folder / "options.cmake"
    script.write_text(
        f'cmake_minimum_required(VERSION 3.22)\ninclude("{kernpack_sdk.cmake_dir()}/kernpack_cuda.cmake")\n'
        f"kernpack_cuda_code_(options m {' '.join(architectures)})\n"
        'list(JOIN options "\\n" options)\nmessage("${options}")\n'
    )
    return subprocess.run(["cmake", "-P", script], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("architectures", "codes"),
    [
        (["80"], ["80 sm_80,compute_80"]),
        (["80", "90"], ["80 sm_80,compute_80", "90 sm_90,compute_90"]),
        (["100", "80", "90"], ["100 sm_100,compute_100", "80 sm_80,compute_80", "90 sm_90"]),
        (["90a"], ["90a sm_90a"]),
        (["80", "90a", "100f"], ["80 sm_80,compute_80", "90a sm_90a", "100f sm_100f"]),
    ],
)
def test_machine_code_for_each_and_ptx_of_the_lowest_and_the_highest(
    tmp_path: Path, architectures: list[str], codes: list[str]
) -> None:
    said = _options(tmp_path, *architectures).stderr
    options = ["--generate-code=arch=compute_{},code=[{}]".format(*code.split()) for code in codes]
    assert said.splitlines() == [f"$<$<COMPILE_LANGUAGE:CUDA>:{option}>" for option in options]


@pytest.mark.parametrize("architecture", ["8.0", "sm_80", "80-real", "native", "9", "90b"])
def test_what_is_no_architecture(tmp_path: Path, architecture: str) -> None:
    done = _options(tmp_path, "80", architecture)
    assert done.returncode == 1
    said = " ".join(done.stderr.split())
    assert f"expected compute capabilities without the dot, such as 80 90 90a, got '{architecture}'" in said


def test_architectures_without_a_cuda_source(build) -> None:
    built = build("kernpack_add_module(m SOURCES m.cc CUDA_ARCHITECTURES 80)\n", {"m.cc": MODULE})
    assert not built.ok
    assert "CUDA_ARCHITECTURES is for .cu files, and there is none in SOURCES" in built.text


def test_a_dynamic_cuda_runtime_is_refused(build) -> None:
    """Played by a library of its name."""
    runtime = "add_library(cudart SHARED cudart.c)\nset_target_properties(cudart PROPERTIES SOVERSION 13)\n"
    user = MODULE.replace("static void", 'extern "C" int cudaFree(void*);\nstatic void', 1).replace(
        "int64_t i = 0", "int64_t i = cudaFree(nullptr)"
    )
    built = build(
        f"enable_language(C)\n{runtime}kernpack_add_module(m SOURCES m.cc LIBRARIES cudart)\n",
        {"m.cc": user, "cudart.c": "int cudaFree(void* p) { return p != 0; }\n"},
    )
    assert not built.ok
    assert (
        "m.so: needs libcudart.so.13: it would load only where this version of CUDA's runtime is installed."
        in built.text
    )
