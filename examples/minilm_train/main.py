"""Thirty steps, or `--steps N`, of a contrastive loss on sentence pairs, starting from MiniLM's weights: gradients through the
kernels' declared backwards against a framework's own. Prints the curves, writes loss.png, and fails where they part."""

import argparse
import itertools
import sys

import inputs
import jax_step
import matplotlib
import torch_step
from tqdm import tqdm

matplotlib.use("Agg")
from matplotlib import pyplot

RELATIVE = 1e-4
REFERENCE = "pure PyTorch"
TRAINERS = {REFERENCE: torch_step.reference, "PyTorch": torch_step.ours, "JAX": jax_step.ours}


def curve(name, trainer, weights, batches, count):
    steps = itertools.islice(trainer(weights, batches), count)
    return list(tqdm(steps, desc=f"{name:>12}", total=count, unit="step"))


def plot(curves):
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for (name, losses), style in zip(curves.items(), itertools.cycle(("-", "--", ":")), strict=False):
        axes.plot(losses, style, label=name)
    axes.set(xlabel="step", ylabel="contrastive loss", title="MiniLM, 8 pairs a step")
    axes.legend()
    figure.savefig("loss.png", dpi=120, bbox_inches="tight")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=30, help="of each framework")
    count = parser.parse_args().steps
    if count < 1:
        parser.error(f"--steps: expected 1 or more, got {count}")
    weights, batches = inputs.weights(), inputs.batches()
    curves = {name: curve(name, trainer, weights, batches, count) for name, trainer in TRAINERS.items()}
    plot(curves)
    expected, ok = curves[REFERENCE], True
    print(f"{'framework':<12} {'first':>10} {'last':>10} {'largest difference':>20}")
    for name, losses in curves.items():
        difference = max(abs(a - e) / abs(e) for a, e in zip(losses, expected, strict=True))
        ok = ok and bool(difference <= RELATIVE)  # a NaN is not
        print(f"{name:<12} {losses[0]:>10.6f} {losses[-1]:>10.6f} {difference:>20.1e}")
    if not ok:
        print(f"a curve is further than {RELATIVE} from {REFERENCE}", file=sys.stderr)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
