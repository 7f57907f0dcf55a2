"""Four processes of torch.distributed on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

WORKER = Path(__file__).with_name("distributed.py")


def test_four_ranks(tmp_path):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"}
    ranks = [
        subprocess.Popen(
            [sys.executable, str(WORKER), str(rank), str(tmp_path / "rendezvous")],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(4)
    ]
    outcomes = [rank.communicate(timeout=300) for rank in ranks]
    errors = "\n".join(f"rank {i}: {error[-2000:]}" for i, (_, error) in enumerate(outcomes) if ranks[i].returncode)
    assert not errors, errors
    expected = ["data_parallel", "partial_sums", "other_dims_are_gathered", "uneven", "trained_alike"]
    printed = [[line for line in output.split("\n") if line and "[Gloo]" not in line] for output, _ in outcomes]
    assert printed == [expected] * 4
