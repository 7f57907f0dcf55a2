"""Each op of the kernels' wheel at each level of the processor, within its tolerance of the exact results: what the pages of the ops show.

On Linux tests/python/kernels/test_levels.py runs the kernels' own tests at each level, in processes that are forked.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python" / "kernels"))

from processor_levels import LEVELS, chosen  # noqa: E402  (its folder is put on the path above)


@pytest.mark.parametrize("level", [*LEVELS, "native"])
def test_every_op_is_exact_at_every_level(level: str) -> None:
    target = {} if level == "native" else {"KERNPACK_TARGET": f"llvm -mcpu={level}"}
    if target and chosen(**target) == chosen():
        pytest.skip(f"this processor has no more than {level}: the native level runs that")
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "site" / "op_facts.py")],
        env=os.environ | target | {"PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    assert done.stdout.count("its largest error | gradient") > 30  # ops
