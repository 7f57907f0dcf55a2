"""Targets, virtual devices and compilation configurations, what code is compiled for and where a plan puts it; the IR."""

import copyreg as _copyreg

import kernpack as _kernpack  # the one host of the process

from . import ir
from ._native import (
    BestMatch,
    CompilationConfig,
    Target,
    TargetKind,
    TargetMatch,
    VirtualDevice,
    add_tag,
    cpu_features,
    cpu_models,
    list_tags,
    match,
    pick_best,
    supports,
    tag_definition,
)

__version__ = _kernpack.__version__

__all__ = [
    "BestMatch",
    "CompilationConfig",
    "Target",
    "TargetKind",
    "TargetMatch",
    "VirtualDevice",
    "add_tag",
    "cpu_features",
    "cpu_models",
    "ir",
    "list_tags",
    "match",
    "pick_best",
    "supports",
    "tag_definition",
]


def _kind(name: str) -> TargetKind:
    return TargetKind.get(name)


_copyreg.pickle(TargetKind, lambda kind: (_kind, (kind.name,)))
for _name in __all__:
    if _name != "ir":
        globals()[_name].__module__ = __name__  # what pickles and help() say
del _name
