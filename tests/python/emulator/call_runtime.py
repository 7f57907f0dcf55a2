"""Calls ops of runtime.cu: `call_runtime.py OP...`; a line of JSON for each, its results on both devices or its error."""

import json
import sys
from pathlib import Path

import kernpack
import numpy as np

K = kernpack.load(Path(__file__).with_name("runtime.cu"))
X = np.arange(10, dtype=np.float32)


def called(op: str, device: object) -> list[float] | str:
    try:
        out = K.functions[op](kernpack.from_dlpack(X).to(device)).to("cpu")
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return np.from_dlpack(out).tolist()


for op in sys.argv[1:]:
    print(json.dumps([called(op, device) for device in kernpack.devices("cuda")]))
