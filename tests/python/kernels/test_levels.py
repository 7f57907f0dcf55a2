"""The same tests under a CPU level below the machine's own, one process each: the level is read once."""

import os
import sys
from pathlib import Path

import pytest
from processor_levels import LEVELS, chosen
from support import forked

HERE = Path(__file__).parent
FILES = (
    "test_norms.py",
    "test_group_norm.py",
    "test_norm_weights.py",
    "test_softmax.py",
    "test_gelu.py",
    "test_gated.py",
    "test_embedding.py",
    "test_bags.py",
    "test_sums.py",
    "test_softmax_columns.py",
    "test_causal_conv.py",
    "test_gradients.py",
    "test_edges.py",
    "test_attention.py",
    "test_attention_masks.py",
    "test_paged.py",
    "test_attention_gradient.py",
    "test_attention_mask_gradient.py",
    "test_llm_rows.py",
    "test_sampling.py",
    "test_topk.py",
    "test_cross_entropy.py",
    "test_fused_linear_cross_entropy.py",
    "test_optimizers.py",
)
TILES = (
    "test_linear.py",
    "test_dense.py",
    "test_batch_invariance.py",
)  # made of matrix tiles, which have levels of their own
PAIRS = (
    "test_attention.py",
    "test_paged.py",
    "test_attention_gradient.py",
    "test_fused_linear_cross_entropy.py",
)  # bf16 values have a level of their own


INTEGERS = ("test_linear.py", "test_batch_invariance.py")  # with a level for nothing else


@pytest.mark.parametrize("level", LEVELS)
def test_every_processor_level_passes_the_kernel_tests(level, tmp_path):
    target = f"llvm -mcpu={level}"
    assert chosen().count("\n") > 60
    if chosen(KERNPACK_TARGET=target) == chosen():
        pytest.skip(f"this processor has no more than {level}: the tests beside this one run that")
    files = PAIRS + TILES
    if level in ("x86-64-v2", "x86-64-v3"):
        files = FILES + TILES
    elif level.endswith("+avx512vnni"):
        files = INTEGERS
    # Plugins have no part in it; what they are made of would be compiled by each process.
    environment = os.environ | {"KERNPACK_TARGET": target, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    options = ("-q", "-p", "no:cacheprovider", *(str(HERE / f) for f in files))
    forked.run(HERE / "level.py", options, environment, list(filter(None, sys.path)), tmp_path)
