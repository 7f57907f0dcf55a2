"""Attention for sm_90 of the pack on the emulated device against float64: `attention_sm90.py TESTS FOLDER`.

FOLDER has attention_sm90.fatbin."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import kernpack
import numpy as np
from kernpack_cuda_emulator import counted

# batch, queries, heads, keys, groups, width: blocks are 128 rows by 128 keys, in two stages.
_SHAPES = ((1, 65, 1, 1, 1, 64), (2, 43, 6, 129, 2, 80), (1, 129, 1, 600, 1, 128), (1, 70, 2, 40, 2, 64))


def expected(q: Any, k: Any, v: Any, causal: bool, lengths: Any) -> Any:
    heads, queries, keys = q.shape[2], q.shape[1], k.shape[1]
    k, v = (np.repeat(np.nan_to_num(x), heads // x.shape[2], 2) for x in (k, v))
    scores = np.einsum("bshd,blhd->bhsl", q, k) * q.shape[3] ** -0.5
    key, query = np.arange(keys), np.arange(queries)[:, None]
    count = np.reshape(lengths, (-1, 1, 1, 1))
    seen = (key < count) & ((key <= query + count - queries) | (not causal))
    weights = np.where(seen, np.exp(scores), 0)
    total = weights.sum(-1, keepdims=True)
    return np.einsum("bhsl,blhd->bshd", weights / np.where(total == 0, 1, total), v)


def main() -> None:
    tests, folder = map(Path, sys.argv[1:])
    sys.path.insert(0, str(tests))
    from support.pack_code import KERNELS, load_op

    source = KERNELS / "attention/cuda/attention_op.cc"
    module = load_op(source, folder, "attention_sm90", "attention_mma", "attention_rows")
    device, random = kernpack.device("cuda", 0), np.random.default_rng(3)
    calls = 0
    for batch, queries, heads, keys, groups, width in _SHAPES:
        sizes = ((batch, queries, heads, width), *[(batch, keys, groups, width)] * 2)
        q, k, v = (random.standard_normal(size).astype(np.float16) for size in sizes)
        lengths = np.array([max(keys - 5, 1), keys][:batch], np.int32)
        k[0, lengths[0] :] = v[0, lengths[0] :] = np.nan
        given = [kernpack.from_dlpack(x).to(device) for x in (q, k, v, lengths)]
        for causal in (False, True):
            found: Any = np.from_dlpack(module.attention(*given, causal=causal).to("cpu"))
            wide = [x.astype(np.float64) for x in (q, k, v)]
            exact: Any = expected(wide[0], wide[1], wide[2], causal, lengths)
            np.testing.assert_allclose(found, exact, rtol=0, atol=8e-3)
            calls += 1
    with counted() as ran:
        module.attention(*given).to("cpu")
    print(calls, *(kernel["name"] for kernel in ran))


if __name__ == "__main__":
    main()
