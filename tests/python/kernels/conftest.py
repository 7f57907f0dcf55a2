"""The installed kernel wheel, and arrays of each dtype."""

import sys
from pathlib import Path

import kernpack
import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def k():
    return kernpack.load("kernpack_kernels")
