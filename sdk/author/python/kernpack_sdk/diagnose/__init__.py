"""Explains a compiler's output to an author of kernels: contracts that don't parse, C++ functions that don't fit them, lost brackets,
misspelt names, missing headers.

The compiler finds each of them, some deep in templates and macros; the few facts among its lines are picked out and said in one line
each, with the file and the line, and with the place in a contract marked.
"""

from .blocks import SHOW_ALL
from .names import nearest
from .report import lifted, with_diagnosis
from .sources import add_source

__all__ = ["SHOW_ALL", "add_source", "lifted", "nearest", "with_diagnosis"]
