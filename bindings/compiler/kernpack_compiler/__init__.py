"""Targets, virtual devices and compilation configurations, what code is compiled for and where a plan puts it; the IR, and
kernels in plain Python."""

import copyreg as _copyreg

import kernpack as _kernpack  # the one host of the process

from ._version import __version__  # before the extension, which needs the host it was built for

if _kernpack.__version__ != __version__:  # pip sees to that; a folder on PYTHONPATH or `pip install --no-deps` may not
    raise ImportError(
        f"kernpack-compiler {__version__} needs kernpack {__version__}, this is {_kernpack.__version__}: "
        "pip install -U kernpack kernpack-compiler"
    )

from . import _nvrtc, ir, lang
from ._build import BuiltModule, build, export_library, register_generator, remove_generator
from ._imports import (
    ImportedFunction,
    ImportedModule,
    build_imported,
    config_cases,
    import_kernel,
    import_tilelang,
    import_triton,
)
from ._native import (
    BestMatch,
    CompilationConfig,
    Target,
    TargetKind,
    TargetMatch,
    VirtualDevice,
    add_tag,
    add_target_kind,
    cpu_features,
    cpu_models,
    list_generators,
    list_tags,
    match,
    pick_best,
    supports,
    tag_definition,
)
from ._wheel import export_wheel
from .lang._kernel import Kernel, kernel
from .lang._source import KernelError

__all__ = [
    "BestMatch",
    "BuiltModule",
    "CompilationConfig",
    "ImportedFunction",
    "ImportedModule",
    "Kernel",
    "KernelError",
    "Target",
    "TargetKind",
    "TargetMatch",
    "VirtualDevice",
    "add_tag",
    "add_target_kind",
    "build",
    "build_imported",
    "config_cases",
    "cpu_features",
    "cpu_models",
    "export_library",
    "export_wheel",
    "import_kernel",
    "import_tilelang",
    "import_triton",
    "ir",
    "kernel",
    "lang",
    "list_generators",
    "list_tags",
    "match",
    "pick_best",
    "register_generator",
    "remove_generator",
    "supports",
    "tag_definition",
]


def _kind(name: str) -> TargetKind:
    return TargetKind.get(name)


_kernpack.register_func("kernpack.find_nvrtc", _nvrtc.find, replace=True)
_copyreg.pickle(TargetKind, lambda kind: (_kind, (kind.name,)))
for _name in __all__:
    if _name not in ("ir", "lang"):
        globals()[_name].__module__ = __name__  # what pickles and help() say
del _name
