"""Explains a build that failed for another reason than its sources: a missing tool, or a full disk. Printed before the tools' output."""

from __future__ import annotations

import errno
import re
import tempfile

from kernpack_sdk.diagnose import lifted

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_CMAKE = re.compile(r"CMakeNotFoundError: ")
NO_CMAKE = "no CMake was found that the project can use; install it: pip install cmake ninja"
_CAUSES = (
    (
        re.compile(r"No CMAKE_CXX_COMPILER could be found|Could not find compiler set in environment variable CXX"),
        "CMake found no C++ compiler; install one (apt-get install g++), or set CXX to the path of one",
    ),
    (
        # Without nvcc, CMake 3.25 speaks of architectures, and of the output of a compiler that it didn't run.
        re.compile(
            r"No CMAKE_CUDA_COMPILER could be found|Could not find compiler set in environment variable CUDACXX|"
            r"Failed to detect a default CUDA architecture\.\s+Compiler output:\s+Call Stack"
        ),
        "CMake found no nvcc, which compiles .cu files; install NVIDIA's CUDA toolkit and put its folder bin on the PATH, or set "
        "CUDACXX to the path of nvcc",
    ),
    (
        re.compile(r"No space left on device|Disk quota exceeded|File too large|File size limit exceeded"),
        "the build couldn't write a file, for a full disk, a quota or a limit (ulimit -f): make room in {temporary}, or set TMPDIR to "
        "another folder, and in the project's folder",
    ),
)


def explained(output: str) -> str:
    """The output of the tools, preceded by the cause if it is known."""
    if _NO_CMAKE.search(output):
        return f"kernpack: {NO_CMAKE}"  # the rest is a traceback
    found = [_said(text) for pattern, text in _CAUSES if pattern.search(output)]
    return "\n\n".join([*found, lifted(output)])


def full_disk(error: OSError) -> str:
    """The message for a full disk; raises any other error again."""
    if error.errno not in _FULL:
        raise error
    return _said(_CAUSES[-1][1])


def _said(text: str) -> str:
    return f"kernpack: {text.format(temporary=tempfile.gettempdir())}"
