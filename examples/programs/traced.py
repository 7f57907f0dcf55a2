"""MiniLM as a Program: ../minilm/model.py run once on symbols, its layer norms, softmax and GELU placed on a device."""

import functools
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent
sys.path[:0] = [
    str(EXAMPLES / "minilm"),
    str(EXAMPLES / "codegen"),
]  # the model and its weights; the operations in the IR

import data  # noqa: E402
import kernpack  # noqa: E402
import kernpack_compiler  # noqa: E402
import ops  # noqa: E402
from arrays import Operators  # noqa: E402
from kernpack_compiler import program  # noqa: E402
from model import embed  # noqa: E402

BATCH = 8
SENTENCES = 16


def generated_operations():
    """ops.py for the CPU and for OpenCL, as one module: each call runs the code for the device that it is placed on."""
    generators = kernpack_compiler.list_generators()
    kinds = ["llvm" if "llvm" in generators else "c", "opencl"]
    folder = Path(tempfile.mkdtemp())
    files = [kernpack_compiler.build(ops.MODULE, kind).export_library(folder / f"{kind}.so") for kind in kinds]
    return kernpack.load(files)


class Placed:
    """The operations that the model calls: operations of rows on a device, all others from the hand-written wheel on the CPU."""

    def __init__(self, rows, hand_written, device):
        self._rows, self._hand_written, self._device = rows, hand_written, device

    def layer_norm(self, x, weight, bias, *, eps):
        return program.on_device(self._rows.layer_norm(x, weight, bias, eps), self._device)

    def softmax(self, x, keep):
        return program.on_device(self._rows.softmax(x, keep), self._device)

    def gelu(self, x):
        return program.on_device(self._rows.gelu(x), self._device)

    def __getattr__(self, name):
        function = getattr(self._hand_written, name)
        return lambda *arguments: program.on_device(function(*arguments), "cpu")


def trace(rows, device, weights, batch):
    """The Program embed(weights, inputs) for batches like this one."""
    operations = Placed(rows, kernpack.load("kernpack_kernels"), device)
    return program.trace(functools.partial(embed, operations), weights, batch, name="embed", operators=Operators())


def page():
    """The model's weights, and the first sentences of ../minilm/page.txt as its inputs, BATCH at a time."""
    sentences = (EXAMPLES / "minilm" / "page.txt").read_text(encoding="utf-8").splitlines()[:SENTENCES]
    return data.load_weights(), list(data.batches(data.tokenize(sentences), BATCH))
