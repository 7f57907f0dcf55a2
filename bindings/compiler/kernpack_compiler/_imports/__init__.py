"""Kernels that other compilers made, as functions of a Kernpack module."""

from kernpack_compiler._imports._configs import config_cases
from kernpack_compiler._imports._function import ImportedFunction, import_kernel
from kernpack_compiler._imports._module import ImportedModule, build_imported
from kernpack_compiler._imports._tilelang import import_tilelang
from kernpack_compiler._imports._triton import import_triton

__all__ = [
    "ImportedFunction",
    "ImportedModule",
    "build_imported",
    "config_cases",
    "import_kernel",
    "import_tilelang",
    "import_triton",
]
