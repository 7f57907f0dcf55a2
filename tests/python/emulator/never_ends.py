"""Run by test_emulated.py, which interrupts it: a kernel that takes days. Prints what handled the signal, then the error."""

import signal

import kernpack
import kernpack_compiler as kc
import numpy as np

TEXT = """module "days" func days(x: f32[N], n: i64) -> (o: f32[N]) {
  parallel i in 0..N {
    o[i] = x[i]
    for j in 0..n { o[i] = o[i] * 0.5 + 1.0 }
  }
}"""

signal.signal(signal.SIGINT, lambda *_: print("handled", flush=True))
days = kc.build(TEXT, "cuda -arch=compute_80").days
x = kernpack.from_dlpack(np.ones(64, np.float32)).to(kernpack.device("cuda", 0))
result = days(x, n=10**15)
print("launched", flush=True)
try:
    result.to("cpu")
except RuntimeError as error:
    print(error, flush=True)
