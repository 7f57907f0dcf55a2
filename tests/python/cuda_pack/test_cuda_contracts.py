"""Every op of the pack by its contract: what `kernpack test --emulate` calls on the emulated device equals the CPU's results, also
from a graph."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def test_each_op_computes_on_the_device_what_it_does_on_the_cpu(files: str, tmp_path: Path) -> None:
    for file in files.split(os.pathsep):
        (tmp_path / Path(file).name).symlink_to(file)
    inputs = Path(__file__).with_name("inputs.py")
    where = [] if os.environ.get("KERNPACK_CUDA_PACK") else ["--emulate"]
    checks = [word for check in ("cuda", "invariant", "graph") for word in ("--check", check)]
    options = [*where, *checks, "--json", "--inputs", str(inputs), "--seed", "3"]
    done = subprocess.run(
        [sys.executable, "-m", "kernpack_sdk", "test", str(tmp_path), *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    results = json.loads(done.stdout)["results"]
    in_every_batch = {each["op"] for each in results if each["status"] == "passed" and each["check"] == "invariant"}
    assert {"rms_norm", "softmax", "swiglu", "rope", "masked_attention", "paged_attention", "argmax"} <= in_every_batch
    assert "fused_linear_cross_entropy" in in_every_batch
    in_graphs = {each["op"]: each for each in results if each["check"] == "graph"}
    results = [each for each in results if each["check"] == "cuda"]
    passed = {each["op"] for each in results if each["status"] == "passed"}
    assert {"rms_norm", "softmax", "rope", "embedding", "attention", "paged_attention", "cross_entropy"} <= passed
    assert {"layer_norm_backward", "softmax_mask_backward", "swiglu_backward", "embedding_backward"} <= passed
    assert {"fused_linear_cross_entropy", "fused_linear_cross_entropy_backward"} <= passed
    assert {
        "argmax",
        "topk",
        "topk_backward",
        "sample",
        "adamw",
        "lion",
        "sgd",
        "clip_grad_norm",
        "packed_linear",
    } <= passed
    if where:
        assert {op for op, each in in_graphs.items() if each["status"] == "passed"} == passed
    assert {each["reason"] for each in results if each["op"] not in passed} == {"the function has no code for cuda"}
