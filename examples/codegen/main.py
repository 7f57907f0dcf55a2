"""MiniLM with generated kernels: ops.py built for every kind of target there is, exported into one wheel, run in NumPy, PyTorch and JAX
on the real weights, and held against the hand-written kernels."""

import sys
import tempfile
from pathlib import Path

import kernpack
import numpy as np
import speed
from embeddings import embeddings
from providers import HAND_WRITTEN, providers

MOST_APART = 2e-6  # of unit vectors: the same embedding
MOST_APART_ON_OPENCL = 1e-5  # of an operation's results


def embeddings_apart(operations):
    """Prints, for each framework and provider, how far its embeddings are from those of the hand-written kernels; the most."""
    most = 0.0
    for framework, found in embeddings(operations):
        for name, rows in found.items():
            apart = float(np.abs(rows - found[HAND_WRITTEN]).max())
            most = max(most, apart)
            print(f"{framework:<9} {name:<22} {apart:>10.1e}", flush=True)
    return most


def opencl_apart(wheel, reference):
    """How far the wheel's OpenCL code on the first device is from the CPU's; None where there is no device or no such code."""
    present = [device for device in kernpack.devices() if device.type == "opencl"]
    if not present or "opencl" not in {variant.split()[0] for variant in wheel.functions["gelu"].targets if variant}:
        return None
    most = 0.0
    for name, arguments in speed.cases().items():
        moved = [kernpack.from_dlpack(argument).to(present[0]) for argument in arguments]
        found = speed.call(wheel, name, moved).to("cpu").numpy()
        most = max(most, float(np.abs(found - speed.call(reference, name, arguments)).max()))
    return most


def main():
    with tempfile.TemporaryDirectory() as folder:
        operations, wheel = providers(Path(folder))
        print("\nhow far embeddings are from those with hand-written kernels:")
        most = embeddings_apart(operations)
        on_opencl = opencl_apart(wheel, operations[HAND_WRITTEN])
        print(f"operations on OpenCL: {'no device here' if on_opencl is None else f'{on_opencl:.1e} from the CPU'}")
        print(f"\n{speed.table(operations)}")
    return 0 if most <= MOST_APART and (on_opencl or 0.0) <= MOST_APART_ON_OPENCL else 1


if __name__ == "__main__":
    sys.exit(main())
