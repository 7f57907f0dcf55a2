"""The program of test_levels.py: pytest, in a process forked off one that has imported what the tests import."""

from __future__ import annotations

import sys

import pytest

sys.exit(pytest.main(sys.argv[1:]))
