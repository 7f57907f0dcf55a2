"""`call.py MODULE OP:DTYPE...` in a process of its own: of each call a line of JSON, the result or the error.

FILE_LIMIT: bytes that a file may have from the first call on. UNTIL: the last op is called again and again until its result begins with
this number, for at most UNTIL_SECONDS (a minute), and its last result is one more line.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time

import kernpack
import numpy as np

ARGUMENTS = {"scale": (2.0,)}

module = kernpack.load(sys.argv[1])


def call(word: str) -> object:
    op, _, dtype = word.partition(":")
    try:
        x = kernpack.from_dlpack(np.arange(4).astype(dtype or "f4")).to("cuda")
        return np.from_dlpack(getattr(module, op)(x, *ARGUMENTS.get(op, ())).to("cpu")).tolist()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


if limit := int(os.environ.get("FILE_LIMIT", "0")):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
for word in sys.argv[2:]:
    print(json.dumps(call(word)), flush=True)
if first := float(os.environ.get("UNTIL", "0")):
    end = time.monotonic() + float(os.environ.get("UNTIL_SECONDS", "60"))
    result = call(sys.argv[-1])
    while isinstance(result, list) and result[0] != first and time.monotonic() < end:
        time.sleep(0.01)
        result = call(sys.argv[-1])
    print(json.dumps(result))
