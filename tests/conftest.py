"""Makes `support` importable from every suite, and gives JAX's CPU backend devices to shard over: whichever test starts it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite("support.refusal")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Workers share the processors: torch's pool of compiling processes, one pool for each worker, only makes the others wait. So do OpenMP's
# threads where they spin until the next parallel region; they sleep, a fifth less processor time in torch's tests.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

# Tests that take minutes, of code that changes rarely: `make release-check` runs them every week and before a release (scripts/whole), and
# so does KERNPACK_WEEKLY=1.
WEEKLY = (
    "tests/python/cuda_pack/",
    "tests/abi/test_rehearsal.py::test_a_covering_subset_of_cells",
    "tests/python/cli/test_build_cuda.py",
    "tests/python/cli/test_real_cublas.py",  # downloads 440 MB
    "tests/python/cli/test_windows_build.py::test_a_wheel",  # zig first compiles C++'s library for Windows
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("KERNPACK_WEEKLY"):
        return
    skip = pytest.mark.skip(
        reason="takes minutes: `make release-check` runs it every week; KERNPACK_WEEKLY=1 runs it here"
    )
    for item in items:
        if item.nodeid.startswith(WEEKLY):
            item.add_marker(skip)
