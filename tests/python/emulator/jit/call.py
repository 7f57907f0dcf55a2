"""`call.py MODULE OP:DTYPE...` in a process of its own: of each call a line of JSON, the result or the error."""

from __future__ import annotations

import json
import sys

import kernpack
import numpy as np

ARGUMENTS = {"scale": (2.0,)}

module = kernpack.load(sys.argv[1])
for word in sys.argv[2:]:
    op, _, dtype = word.partition(":")
    try:
        x = kernpack.from_dlpack(np.arange(4).astype(dtype or "f4")).to("cuda")
        result = np.from_dlpack(getattr(module, op)(x, *ARGUMENTS.get(op, ())).to("cpu")).tolist()
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    print(json.dumps(result), flush=True)
