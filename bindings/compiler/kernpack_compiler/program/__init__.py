"""Programs over several devices: traced from Python, planned, run.

from kernpack_compiler import program

@program.define(program.Spec((8, 384), "f32"))
def block(x):
    return program.on_device(k.gelu(x), "opencl")

plan = program.plan(block)
print(plan.explain())
y = plan.run(x)
"""

from kernpack_compiler.program._calls import call, cond
from kernpack_compiler.program._function import ProgramFunction
from kernpack_compiler.program._functions import Foreign, foreign
from kernpack_compiler.program._placement import device_copy, on_device
from kernpack_compiler.program._plan import Plan, plan
from kernpack_compiler.program._program import Program
from kernpack_compiler.program._run import Executable
from kernpack_compiler.program._spec import Spec
from kernpack_compiler.program._symbol import Symbol, TraceError
from kernpack_compiler.program._trace import define, trace

__all__ = [
    "Executable",
    "Foreign",
    "Plan",
    "Program",
    "ProgramFunction",
    "Spec",
    "Symbol",
    "TraceError",
    "call",
    "cond",
    "define",
    "device_copy",
    "foreign",
    "on_device",
    "plan",
    "trace",
]

for _name in __all__:
    globals()[_name].__module__ = __name__  # what pickles and help() say
del _name
