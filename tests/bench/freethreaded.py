"""The cost of a call without a GIL, beside an interpreter of the same source with one, and how calls of one function scale over threads
(`make freethreaded PARTS=bench`). Arguments: interpreter and PYTHONPATH of each, as <python>:<path>, the one without a GIL first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 5  # the interpreters take turns, so that both see the machine's noise

CHILD = r"""
import json, sys, threading, time
import kernpack, numpy as np
source = '''
void nothing() {}
int add(int a, int b, int c) { return a + b + c; }
void touch(kp::TensorView a, kp::TensorView b) {}
void twice(kp::TensorView x, kp::MutTensorView out) { out.data_ptr<float>()[0] = 2 * x.data_ptr<float>()[0]; }
int64_t sum(kp::TensorView x) {
  int64_t all = 0;
  for (int64_t i = 0; i < x.numel(); ++i) all = (all * 31 + x.data_ptr<int64_t>()[i]) ^ i;
  return all;
}
'''
k = kernpack.load_inline(source, {"nothing": None, "add": None, "touch": "(a: f32[N], b: f32[N]) -> ()",
    "twice": "(x: f32[N]) -> (out: f32[N])", "sum": None}, name="freethreaded_bench")
a, b = np.ones(16, np.float32), np.ones(16, np.float32)
tensor = kernpack.from_dlpack(np.ones(16, np.float32))

def lap(body, count):
    best = float("inf")
    for _ in range(300):  # short ones, of which some are undisturbed on a busy machine, too
        begin = time.perf_counter_ns()
        for _ in range(count):
            body()
        best = min(best, (time.perf_counter_ns() - begin) / count)
    return best

def per_call(name):
    namespace = {"f": getattr(k, name.split()[0]), "a": a, "b": b, "tensor": tensor}
    arguments = {"nothing": "", "add": "1, 2, 3", "touch": "a, b", "touch tensors": "tensor, tensor", "twice": "a"}[name]
    calls = "; ".join(f"f({arguments})" for _ in range(20))  # the loop's own cost is of no interest
    exec(f"def body(f=f, a=a, b=b, tensor=tensor):\n  {calls}", namespace)
    return lap(namespace["body"], 50) / 20

def per_second(threads, data):
    barrier = threading.Barrier(threads + 1)
    def run(x):
        f = k.sum
        barrier.wait()
        for _ in range(calls):
            f(x)
    calls = 400_000 // data.size // threads + 1
    all = [threading.Thread(target=run, args=(data.copy(),)) for _ in range(threads)]
    for thread in all: thread.start()
    barrier.wait()
    begin = time.perf_counter()
    for thread in all: thread.join()
    return calls * threads / (time.perf_counter() - begin)

small = np.arange(4)
print(json.dumps({
    "gil": kernpack.info()["gil"],
    "ns": {name: per_call(name) for name in ("nothing", "add", "touch", "touch tensors", "twice")},
    "calls per second": {f"{n} threads": per_second(n, small) for n in (1, 2, 8)},
}))
"""

NAMES = {
    "nothing": "f()",
    "add": "f(1, 2, 3)",
    "touch": "two NumPy arrays",
    "touch tensors": "two kernpack.Tensors",
    "twice": "a NumPy array, a new one as result",
}


def _measure(interpreter: str) -> dict[str, dict[str, float]]:
    python, _, path = interpreter.rpartition(":")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([path, str(ROOT / "sdk/author/python")])}
    done = subprocess.run([python, "-c", CHILD], env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{python}: {done.stderr}")
    measured: dict[str, dict[str, float]] = json.loads(done.stdout)
    return measured


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit("expected two interpreters, each as <python>:<PYTHONPATH>, the one without a GIL first")
    free, gil = sys.argv[1:]
    rounds = [(_measure(free), _measure(gil)) for _ in range(ROUNDS)]
    states = {(str(one["gil"]), str(other["gil"])) for one, other in rounds}
    if states != {("off", "on")}:
        raise SystemExit(f"expected the GIL off in the first interpreter and on in the second, got {states}")
    print(f"{'a call, ns':36}{'GIL':>10}{'free':>10}{'free / GIL':>12}")
    for name, shown in NAMES.items():
        one, other = (min(pair[i]["ns"][name] for pair in rounds) for i in (0, 1))
        print(f"{shown:36}{other:>10.1f}{one:>10.1f}{one / other:>12.2f}")
    print(f"\n{'calls of one function, a second':36}{'GIL':>10}{'free':>10}{'free / GIL':>12}")
    for name in rounds[0][0]["calls per second"]:
        one, other = (max(pair[i]["calls per second"][name] for pair in rounds) for i in (0, 1))
        print(f"{name:36}{other:>10.0f}{one:>10.0f}{one / other:>12.2f}")


if __name__ == "__main__":
    main()
