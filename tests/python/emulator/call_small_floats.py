"""Calls each op of small_floats.cu on both emulated devices; a line of JSON with what differs from NumPy and ml_dtypes."""

import json
from pathlib import Path

import kernpack
import ml_dtypes
import numpy as np

K = kernpack.load(Path(__file__).with_name("small_floats.cu"))
TYPES = {
    "half": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}


def _bits(values: np.ndarray) -> np.ndarray:
    return values.view(f"u{values.itemsize}").astype(np.int32)


def _differ(got: np.ndarray, expected: np.ndarray) -> int:
    """Of T's values, where a NaN is like any other."""
    got = got.astype(f"u{expected.itemsize}").view(expected.dtype)
    both = np.isnan(got.astype(np.float32)) & np.isnan(expected.astype(np.float32))
    return int(np.sum((_bits(got) != _bits(expected)) & ~both))


def _call(op: str, bits: np.ndarray, device: object) -> list[np.ndarray]:
    results = K.functions[op](kernpack.from_dlpack(bits).to(device))
    return [np.from_dlpack(each.to("cpu")) for each in (results if isinstance(results, tuple) else (results,))]


def _wrong(name: str, device: object) -> dict[str, int]:
    dtype = np.dtype(TYPES[name])
    bits = np.arange(1 << 8 * dtype.itemsize, dtype=np.int32)
    # Once in order, so that neighbours meet; once shuffled.
    bits = np.concatenate([bits, np.random.default_rng(0).permutation(bits)])
    x = bits.astype(f"u{dtype.itemsize}").view(dtype)
    following = np.roll(x, -1)
    wide, out = _call(name, bits, device)
    with np.errstate(all="ignore"):
        exact = x.astype(np.float32)
        largest = np.full_like(x, ml_dtypes.finfo(dtype).max)
        expected = [x, x + following, x * following, x / np.asarray(2, dtype), np.abs(x)]
        expected.append(np.where(exact < following.astype(np.float32), largest, -x))
    number = ~np.isnan(exact)
    found = {"float": int(np.sum((wide != exact) & number) + np.sum(~np.isnan(wide[~number])))}
    names = ["back", "sum", "product", "compound", "abs", "limits"]
    found |= {what: _differ(row, values) for what, row, values in zip(names, out, expected, strict=False)}
    classes = np.isnan(exact) + 2 * np.isinf(exact) + 4 * np.isfinite(exact) + 8 * np.signbit(exact)
    found["classes"] = int(np.sum(out[6] != classes))
    if f"{name}_interop" in K.functions:
        found["interop"] = int(np.sum(_call(f"{name}_interop", bits, device)[0] != bits))
    return found


for device in kernpack.devices("cuda"):
    print(json.dumps({name: _wrong(name, device) for name in TYPES}))
