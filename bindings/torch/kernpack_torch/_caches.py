"""torch's compile caches on disk know an operator by its name alone. After its contract changed, with a new version of a wheel or in
an author's day, they would give back a program that reads results of the old dtype and shape: wrong values, silently. So the
contracts of the operators that a process has are a part of the key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import torch
from kernpack import _core

_contracts: dict[str, str] = {}  # by namespace: a hash of its contracts
_ours = ""
# How operators are put into programs: a program that another version made may call an overload whose schema has changed
# since. Between versions, another text where that changes.
_LOWERED = f"{_core.version}: overloads for shared memory take what is shared as a list"


def key_by(namespace: str, contracts: Iterable[tuple[str, str]]) -> None:
    """Puts a module's contracts, (function, text), into the key. A key that the user set stays in front."""
    global _ours
    config = torch.compiler.config
    told = hashlib.sha256()
    for name, text in sorted(contracts):
        told.update(f"{name}\0{text}\0".encode())
    _contracts[namespace] = told.hexdigest()
    all_of_them = hashlib.sha256("\0".join([_LOWERED, *(f"{n}\0{d}" for n, d in sorted(_contracts.items()))]).encode())
    users = config.cache_key_tag.removesuffix(_ours)
    _ours = f"kernpack:{all_of_them.hexdigest()[:16]}"
    config.cache_key_tag = users + _ours
