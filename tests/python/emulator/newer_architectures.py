"""Code for one architecture alone on an emulated device of it: `newer_architectures.py ARCH PTX`, such as 100, with KERNPACK_EMULATOR set.

PTX: of newer_architectures.cu. Code for that architecture is all that there is: where the device took other code, calls would fail."""

from __future__ import annotations

import sys
from pathlib import Path

import kernpack
import kernpack_compiler as kc
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "compiler"))
from python_kernels import CASES, block_sums, expected_block_sums, normal


def on_device(x: np.ndarray) -> kernpack.Tensor:
    return kernpack.from_dlpack(x).to("cuda")


def generated(target: str) -> None:
    built, x = block_sums.build(target), normal(150)
    assert list(built.functions["block_sums"].targets) == [target]
    np.testing.assert_allclose(built.block_sums(on_device(x)).to("cpu").numpy(), expected_block_sums(x), rtol=1e-4)
    for name in ("softmax", "topk"):
        kernel, arguments, reference, tolerance = CASES[name]
        results = getattr(kernel.build(target), kernel.__name__)(*map(on_device, arguments))
        expected = reference(*arguments)
        pairs = zip(results, expected, strict=True) if isinstance(expected, tuple) else [(results, expected)]
        for result, wanted in pairs:
            np.testing.assert_allclose(
                result.to("cpu").numpy(), wanted, rtol=max(tolerance, 1e-6), atol=tolerance, err_msg=name
            )


def imported(ptx: Path) -> None:
    function = kc.import_kernel(
        ptx, "(x: f32[N], y: f32[N]) -> (out: f32[N])",
        entry="twice_plus", args=["x", "y", "out"], grid="N // 64", block=32,
    )  # fmt: skip
    module = kc.build_imported([function], "newer")
    x, y = normal(256), normal(256)
    found = module.twice_plus(on_device(x), on_device(y)).to("cpu").numpy()
    np.testing.assert_array_equal(found, (2 * x.astype(np.float64) + y).astype(np.float32))


arch, ptx = sys.argv[1:]
imported(Path(ptx))
generated(f"cuda -arch=compute_{arch}")
print("agrees")
