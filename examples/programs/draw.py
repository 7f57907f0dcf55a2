"""Draws the plan of MiniLM over the CPU and OpenCL: python draw.py plan.svg. It needs no OpenCL device."""

import sys

from kernpack_compiler import program
from traced import generated_operations, page, trace

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python draw.py FILE.svg")
    weights, batches = page()
    planned = program.plan(trace(generated_operations(), "opencl", weights, batches[0]))
    print(f"{planned.draw(sys.argv[1])}: {planned!r}")
