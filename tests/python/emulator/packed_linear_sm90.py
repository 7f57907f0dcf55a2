"""packed_linear for sm_90 of the pack on the emulated device against float64: `packed_linear_sm90.py TESTS FOLDER`.

FOLDER has packed_linear_sm90.fatbin, of f16 alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kernpack
import numpy as np
from kernpack_cuda_emulator import counted

RANDOM = np.random.default_rng(5)
KERNELS_OF_CPU: Any = kernpack.load("kernpack_kernels")


def weights(rows: int) -> Iterator[tuple[str, Any, Any]]:
    """Of each format: its name, packed weights, and what they hold. Their columns aren't whole tiles of 64 where a format allows it."""
    from support.ggml_blocks import BLOCK_COLUMNS, FORMATS, random_blocks

    for form in (*FORMATS, "int4", "int8"):
        if form in BLOCK_COLUMNS:
            columns = 768 if BLOCK_COLUMNS[form] == 256 else 288
            given = (random_blocks(RANDOM, form, rows, columns),)
        else:
            columns = 288
            values = RANDOM.integers(0, 16 if form == "int4" else 256, (rows, columns)).astype(np.uint8)
            given = (values, *(RANDOM.normal(size=(rows, 3)).astype(np.float32) for _ in range(2)))
        packed = getattr(KERNELS_OF_CPU, f"pack_{form}")(*given)
        held = KERNELS_OF_CPU.packed_embedding(packed, np.arange(rows), columns=columns)
        yield form, packed, held.astype(np.float64)


def product(module: Any, x: Any, packed: Any) -> Any:
    given = (kernpack.from_dlpack(each).to(kernpack.device("cuda", 0)) for each in (x, packed))
    return np.from_dlpack(module.packed_linear(*given).to("cpu"))


def inputs(rows: int, columns: int) -> Any:
    return RANDOM.normal(size=(rows, columns)).astype(np.float16)


def main() -> None:
    tests, folder = map(Path, sys.argv[1:])
    sys.path.insert(0, str(tests))
    from support.pack_code import KERNELS, load_op

    source = KERNELS / "linear/cuda/packed_linear_op.cc"
    module = load_op(source, folder, "packed_linear_sm90", "packed_linear_mma", "packed_linear", "packed_embedding")
    with counted() as ran:
        for name, packed, held in weights(70):
            for rows in (40, 65):
                x = inputs(rows, held.shape[1])
                wide = x.astype(np.float64)
                error = np.abs(product(module, x, packed) - wide @ held.T).max()
                size = np.sqrt(np.square(wide) @ np.square(held).T).max()
                assert error < 8e-3 * size, f"{name}, {rows} rows: {error} of {size}"
    print(*sorted({kernel["name"] for kernel in ran}))
    # Of so many rows of a weight, blocks multiply 128 rows of x: the same bits.
    from support.ggml_blocks import random_blocks

    blocks, x = random_blocks(RANDOM, "q4_1", 8190, 64), inputs(33, 64)
    with counted() as ran:
        found = product(module, x, KERNELS_OF_CPU.pack_q4_1(blocks))
    np.testing.assert_array_equal(found[:, :64], product(module, x, KERNELS_OF_CPU.pack_q4_1(blocks[:64])))
    assert np.abs(found).max() > 1
    print(*(kernel["name"] for kernel in ran))


if __name__ == "__main__":
    main()
