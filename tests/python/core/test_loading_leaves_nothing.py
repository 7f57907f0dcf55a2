"""Loading and unpickling one module again and again: nothing grows. KERNPACK_LOADS says how often; `make flips` has 60,000."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import gc, os, pickle, sys
import kernpack
from kernpack import _imports

def memory():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def rounds(count):
    for _ in range(count):
        kernpack.load(path).fail
        pickle.loads(text)
        pickle.loads(text_of_function)

module = kernpack.load_inline("void fail(int n) { KP_CHECK(n < 3, ValueError) << n; }", ["fail"])
path, text, text_of_function = module.path, pickle.dumps(module), pickle.dumps(module.fail)
rounds(1000)
before, files, blocks = memory(), len(os.listdir("/proc/self/fd")), sys.getallocatedblocks()
rounds(int(os.environ.get("KERNPACK_LOADS", "2000")))
assert "torch" not in sys.modules
grown = memory() - before
print(grown, sys.getallocatedblocks() - blocks, len(os.listdir("/proc/self/fd")) - files, len(_imports._waiting["torch"]))
"""


def test_loads_and_pickles_leave_nothing_behind() -> None:
    ran = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    grown, blocks, opened, waiting = map(int, ran.stdout.split())
    assert opened == 0
    assert waiting == 1
    assert blocks < 500, "less than one object for each four rounds"
    assert grown < 1 << 22, "allocators take memory in steps of up to a megabyte"
