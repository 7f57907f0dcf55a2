"""For `kernpack bench`: two sizes of blocks of one kernel, and one that no device has. Needs an emulated device."""

from pathlib import Path

import kernpack
import kernpack_compiler as kc
import numpy as np

PTX = Path(__file__).parents[1] / "compiler" / "rows.ptx"


def make(configs):
    return kc.import_kernel(
        PTX,
        "(x: f64[N], y!: f64[N], k: float) -> ()",
        entry="add",
        args=["x", "y", "N", "k"],
        grid="ceildiv(N, 32)",
        block=32,
        shared=configs[0]["constants"]["BYTES"],
    )


def cases():
    small, large = (tuple(kernpack.from_dlpack(np.zeros(n)).to("cuda") for _ in range(2)) for n in (32, 64))
    rows = [{"constants": {"BYTES": bytes}, "num_warps": 1} for bytes in (0, 1024, 10**9)]
    yield from kc.config_cases(make, rows, {"N <= 32": (*small, 1.0), "": (*large, 1.0)})
