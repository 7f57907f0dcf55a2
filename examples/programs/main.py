"""MiniLM as a Program over two devices: layer norms, softmax and GELU on OpenCL, all else on the CPU. The same embeddings as on the
CPU alone; the plan drawn (plan.svg), a run's timeline (run.json); and, with two OpenCL devices, both at once."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor

import kernpack
import numpy as np
from kernpack_compiler import program
from traced import generated_operations, page, trace

MOST_APART = 2e-6  # of unit vectors: the same embedding


def embeddings(executable, weights, batches):
    """Of all batches, and the seconds they took. Weights go to their devices once; a first run compiles the device's code."""
    placed = executable.place(weights, batches[0])["weights"]
    executable.run(placed, batches[0])
    start = time.perf_counter()
    rows = [executable.run(placed, batch) for batch in batches]
    seconds = time.perf_counter() - start
    return np.concatenate([row.to("cpu").numpy() for row in rows]), seconds


def at_once(plan, devices, weights, batches):
    """Runs the batches on all devices at once: each device computes a share of the batches, in its own thread."""
    shares = [batches[i :: len(devices)] for i in range(len(devices))]
    with ThreadPoolExecutor(len(devices)) as threads:
        jobs = [
            threads.submit(embeddings, plan.executable([device]), weights, share)
            for device, share in zip(devices, shares, strict=True)
        ]
        parts = [job.result() for job in jobs]
    order = np.argsort(np.concatenate([np.arange(i, len(batches), len(devices)) for i in range(len(devices))]))
    rows = np.concatenate([found.reshape(-1, len(batches[0]["mask"]), found.shape[-1]) for found, _ in parts])
    return rows[order].reshape(-1, rows.shape[-1]), max(seconds for _, seconds in parts)


def main():
    weights, batches = page()
    rows = generated_operations()
    alone = program.plan(trace(rows, "cpu", weights, batches[0]))
    split = program.plan(trace(rows, "opencl", weights, batches[0]))
    print(split.program)
    print(split.explain())
    print(f"drawn: {split.draw('plan.svg')}")

    runs = {"cpu": lambda: embeddings(alone.executable(), weights, batches)}
    devices = kernpack.devices("opencl")
    if devices:
        runs["cpu and opencl"] = lambda: embeddings(split.executable([devices[0]]), weights, batches)
        split.executable([devices[0]]).trace("run.json", weights, batches[0])
        print("timeline: run.json, for https://ui.perfetto.dev")
    else:
        print(f"no OpenCL device here: {kernpack.info()['devices']['opencl']}")
        print("Debian's pocl-opencl-icd makes any CPU one. The plan is made without; its run needs one.")
    if len(devices) > 1:
        runs["two devices"] = lambda: at_once(split, devices[:2], weights, batches)
    elif devices:
        print('one OpenCL device here; POCL_DEVICES="pthread basic" makes PoCL offer two')

    results = {name: run() for name, run in runs.items()}
    expected, _ = results["cpu"]
    print(
        f"\n{len(batches)} batches of {len(expected) // len(batches)} sentences\n{'where':<16} {'largest error':>14} {'seconds':>8}"
    )
    ok = True
    for name, (found, seconds) in results.items():
        error = float(np.abs(found - expected).max())
        ok = ok and error <= MOST_APART  # a NaN is not
        print(f"{name:<16} {error:>14.1e} {seconds:>8.2f}")
    if not ok:
        print(f"an embedding is further than {MOST_APART} from the CPU's", file=sys.stderr)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
