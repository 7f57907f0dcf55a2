"""The emulated CUDA device. Kernpack opens its library where KERNPACK_EMULATOR asks for it; nothing has to be imported.

`counted()` tells what kernels do, `captured()` keeps calls as a graph, and `survey()` tells which instructions a file has.
`python -m kernpack_cuda_emulator counts FILE` prints what KERNPACK_EMULATOR_COUNTS=FILE wrote, and `... code FILE` what `survey()`
finds.
"""

from ._library import LIBRARY
from ._version import __version__
from .counts import CountsError, Estimate, counted, estimate, read
from .devices import DEVICES, Device
from .graphs import Graph, GraphError, captured
from .survey import Code, Refusal, SurveyError, survey

__all__ = [
    "DEVICES",
    "LIBRARY",
    "Code",
    "CountsError",
    "Device",
    "Estimate",
    "Graph",
    "GraphError",
    "Refusal",
    "SurveyError",
    "__version__",
    "captured",
    "counted",
    "estimate",
    "read",
    "survey",
]
