"""sample of the pack by rejection, on the emulated device: `sampling_by_rejection.py TESTS FOLDER`.

FOLDER has sample_rejection.fatbin, of f32 alone. Few draws of each row: tests/python/cuda_pack has more, each week."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import kernpack
import numpy as np
from kernpack_cuda_emulator import counted


def main() -> None:
    tests, folder = map(Path, sys.argv[1:])
    sys.path.insert(0, str(tests))
    from support import distributions
    from support.pack_code import KERNELS, load_op

    module = load_op(KERNELS / "sampling/cuda/sampling_op.cc", folder, "sample_rejection", "sample", "topk")

    def sample(x: Any, **by: Any) -> Any:
        given = kernpack.from_dlpack(x).to(kernpack.device("cuda", 0))
        return np.from_dlpack(module.sample(given, **by).to("cpu"))

    with counted() as ran:
        for logits, by in distributions.CASES[1:3]:
            distributions.check(sample, logits.astype(np.float32), logits, by, 120)
        for logits, by in distributions.CASES:  # one token is left
            x = logits.astype(np.float32)[None]
            assert sample(x, seed=1, top_k=1).tolist() == [x.argmax()]
            assert sample(x, seed=1, top_p=1e-9, min_p=by.get("min_p", 0.0)).tolist() == [x.argmax()]
    print(*{kernel["name"] for kernel in ran})


if __name__ == "__main__":
    main()
