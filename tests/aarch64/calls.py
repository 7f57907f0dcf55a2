"""The kernels on two machines: `record FILE` makes calls of every function and keeps them with their results,
`replay FILE` makes the same calls elsewhere and compares; `replay FILE OP` those of one function. Needs NumPy alone."""

import pickle
import sys
from pathlib import Path

import kernpack
from kernpack_sdk.testing import compare, inputs
from kernpack_sdk.testing.bench import Bench, Options
from kernpack_sdk.testing.case import Call, Op
from kernpack_sdk.testing.checks.repeat import error_bound
from kernpack_sdk.testing.frameworks import NUMPY, list_names
from kernpack_sdk.testing.generate import Wish

INPUTS = Path(__file__).parents[1] / "kernpack_inputs.py"
OF_EACH = 12
# Every format of weights, computed in every way.
OF_SOME = {"packed_linear": 150}


def record(module, path):
    given, recorded = inputs.read(INPUTS), []
    for name in sorted(module.functions):
        bench = Bench(Op.of(module, name), Options(), given)
        wanted = OF_SOME.get(name, OF_EACH)
        calls = bench.few(wanted)
        while len(calls) < wanted and len(calls) >= OF_EACH and (more := bench.accepted(Wish("more of them"))):
            calls.append(more)
        recorded += [(name, call.values, NUMPY.call(call).arrays) for call in calls]
    path.write_bytes(pickle.dumps(recorded))
    return f"{len(recorded)} calls of {len({name for name, *_ in recorded})} functions"


def replay(module, path, only=None):
    recorded, found = pickle.loads(path.read_bytes()), []
    recorded = [each for each in recorded if only in (None, each[0])]
    for name, values, expected in recorded:
        call = Call(Op.of(module, name), values, "recorded")
        outcome = NUMPY.call(call)
        if outcome.error is not None:
            found.append(f"{call.text()}: {outcome.refusal}")
            continue
        differs = compare.difference(
            list_names(call, outcome), expected, outcome.arrays, exact=False, bound=2 * error_bound(call)
        )
        if differs:
            found.append(f"{call.text()}: {differs} (there, here)")
    if found:
        sys.exit("\n".join([*found, f"{len(found)} of {len(recorded)} calls gave other results"]))
    said = f"{len(recorded)} calls gave the results that were recorded, but for rounding"
    return said if only is None else f"{only}, of {chosen(module, only)}: {said}"


def chosen(module, name):
    """The target of the variant that runs here."""
    return next(each["target"] or "the baseline" for each in module.functions[name].variants if each["chosen"])


if __name__ == "__main__":
    what, file, *names = sys.argv[1:]
    print({"record": record, "replay": replay}[what](kernpack.load("kernpack_kernels"), Path(file), *names))
