"""Embeds the page of ../minilm once on the CPU and once on every OpenCL and CUDA device: its layer norms, softmax and GELU run there,
from device code inside a kernel module; products, look-ups and pooling on the host. Compares the embeddings and writes devices.png."""

import sys
import time
from functools import partial
from pathlib import Path

import kernpack
import matplotlib
import numpy as np
from operations import OnDevice, Timed
from tqdm import tqdm

HERE = Path(__file__).resolve().parent
MINILM = HERE.parent / "minilm"
sys.path.insert(0, str(MINILM))  # the model, its weights and the page are that example's
matplotlib.use("Agg")

import data  # noqa: E402
from matplotlib import pyplot  # noqa: E402
from model import embed  # noqa: E402

BATCH = 8
LEAST_COSINE = 0.99999


def run(name, operations, weights, batches, count):
    """Embeddings of the page and the seconds they took. The first batch runs once before: it compiles the device's code."""
    embedder = partial(embed, operations, weights)
    embedder(batches[0])
    operations.seconds = dict.fromkeys(operations.seconds, 0.0)
    start = time.perf_counter()
    rows = [embedder(batch) for batch in tqdm(batches, desc=f"{name:>10}", unit="batch")]
    return np.concatenate(rows)[:count], time.perf_counter() - start


def plot(timings, file):
    """A bar a device: seconds in each of the operations, copies included, and in everything else on the host."""
    figure, axes = pyplot.subplots(figsize=(7, 1.2 + 0.7 * len(timings)))
    left = np.zeros(len(timings))
    for part in next(iter(timings.values())):
        widths = np.array([seconds[part] * 1e3 for seconds in timings.values()])
        axes.barh(list(timings), widths, left=left, label=part)
        left += widths
    axes.invert_yaxis()
    axes.set(xlabel="milliseconds for the page", title="MiniLM by device")
    axes.legend()
    figure.savefig(file, dpi=120, bbox_inches="tight")


def main():
    sentences = (MINILM / "page.txt").read_text(encoding="utf-8").splitlines()
    token_ids = data.tokenize(sentences)
    batches = list(data.batches(token_ids, BATCH))
    weights = data.load_weights()
    kernels = kernpack.load("kernpack_kernels")
    candidates = {"cpu": Timed(kernels)}
    rows = kernpack.load("device_rows")
    for device in [*kernpack.devices("opencl"), *kernpack.devices("cuda")]:
        if device.type not in rows.functions["gelu"].targets:
            print(f"{device}: the wheel was built without nvcc and has no code for it")
            continue
        candidates[str(device)] = OnDevice(kernels, rows, device)
    if len(candidates) == 1:
        print("There is no device here that the wheel has code for (kernpack.info() tells why): the CPU alone.")

    timings, lines, expected, ok = {}, [], None, True
    for name, operations in candidates.items():
        found, seconds = run(name, operations, weights, batches, len(sentences))
        timings[name] = {**operations.seconds, "host": seconds - sum(operations.seconds.values())}
        expected = found if expected is None else expected
        cosine = ((found * expected).sum(-1) / np.linalg.norm(found, axis=-1) / np.linalg.norm(expected, axis=-1)).min()
        ok = ok and bool(cosine >= LEAST_COSINE)  # a NaN is not
        label = kernpack.device(name).device_name or ""
        lines.append(
            f"{name:<10} {np.abs(found - expected).max():>14.1e} {cosine:>12.8f} {seconds * 1e3:>7.0f} ms  {label}"
        )

    print(f"\n{'device':<10} {'difference':>14} {'cosine':>12} {'page':>10}  name")
    print("\n".join(lines))
    plot(timings, "devices.png")
    print("wrote devices.png")
    if not ok:
        print(f"an embedding is further than cosine {LEAST_COSINE} from the CPU's", file=sys.stderr)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
