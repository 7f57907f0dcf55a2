"""The kernels on two machines: `record FILE` makes calls of every function and keeps them with their results, `replay FILE` makes the
same calls elsewhere and compares. Needs NumPy alone."""

import pickle
import sys
from pathlib import Path

import kernpack
from kernpack_sdk.testing import compare, inputs
from kernpack_sdk.testing.bench import Bench, Options
from kernpack_sdk.testing.case import Call, Op
from kernpack_sdk.testing.checks.repeat import bound_of
from kernpack_sdk.testing.frameworks import NUMPY, names_of

INPUTS = Path(__file__).parents[1] / "kernpack_inputs.py"
OF_EACH = 12


def record(module, path):
    given, recorded = inputs.read(INPUTS), []
    for name in sorted(module.functions):
        bench = Bench(Op.of(module, name), Options(), given)
        recorded += [(name, call.values, NUMPY.call(call).arrays) for call in bench.few(OF_EACH)]
    path.write_bytes(pickle.dumps(recorded))
    return f"{len(recorded)} calls of {len({name for name, *_ in recorded})} functions"


def replay(module, path):
    recorded, found = pickle.loads(path.read_bytes()), []
    for name, values, expected in recorded:
        call = Call(Op.of(module, name), values, "recorded")
        outcome = NUMPY.call(call)
        if outcome.error is not None:
            found.append(f"{call.text()}: {outcome.refusal}")
            continue
        differs = compare.difference(
            names_of(call, outcome), expected, outcome.arrays, exact=False, bound=2 * bound_of(call)
        )
        if differs:
            found.append(f"{call.text()}: {differs} (there, here)")
    if found:
        sys.exit("\n".join([*found, f"{len(found)} of {len(recorded)} calls gave other results"]))
    return f"{len(recorded)} calls gave the results that were recorded, but for rounding"


if __name__ == "__main__":
    print({"record": record, "replay": replay}[sys.argv[1]](kernpack.load("kernpack_kernels"), Path(sys.argv[2])))
