"""patch(model): a model's norms, gated MLPs, GELU, rotary embedding and attention computed by the kernels; unpatch undoes it.

Only the way a module computes changes: its parameters, its state dict and its hooks stay. Each replacement is tried beside what
it replaces on a few numbers first, since classes of one name differ between models, and is left out where they disagree.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import torch

from kernpack_kernels.torch import huggingface, linears
from kernpack_kernels.torch.activations import gelu
from kernpack_kernels.torch.experts import experts
from kernpack_kernels.torch.gated import gated
from kernpack_kernels.torch.norms import group_norm, norm
from kernpack_kernels.torch.rules import OWN, Replacement, of_torch

_RULES = (norm, group_norm, gated, experts, gelu, of_torch)
_GUARD = "_kernpack_guard"  # on each module that computes otherwise


class _Guard:
    """A copy of a patched model is patched; what was pickled would find no code to compute with."""

    def __deepcopy__(self, memo):
        return self

    def __reduce_ex__(self, protocol):
        raise TypeError(
            "this model is patched, and a patched model can't be pickled: call kernpack_kernels.torch.unpatch(model) first and "
            "patch it again after loading, or save model.state_dict()"
        )


@dataclass(frozen=True)
class Row:
    what: str
    count: int
    by: str  # "": not replaced
    note: str


@dataclass(frozen=True)
class Patched:
    """The result of patch(): print it, or read `rows`."""

    rows: tuple[Row, ...]

    def __str__(self) -> str:
        cells = [("module", "count", "now", "")]
        cells += [(r.what, str(r.count), r.by or "as before", r.note) for r in self.rows]
        widths = [max(len(row[i]) for row in cells) for i in range(3)]
        lines = ("  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[3]]) for row in cells)
        return "\n".join(line.rstrip() for line in lines)


def patch(model: torch.nn.Module, linear: str | None = None) -> Patched:
    """Replaces the modules of `model` that the kernels can compute, in place, and reports what was replaced, what wasn't and why.

    `linear`: how linear layers compute. None: as before. "dense": by the kernel `linear`, with gradients. "int8", "int4": where no
    gradients are needed, with a copy of the weight rounded to 8 or 4 bits, which has a scale for each 32 columns.

    A patched model is patched again from the start. Don't pickle a patched model: unpatch it, or save its state dict.
    """
    _check("patch", model)
    if linear is not None and linear not in ("dense", *linears.KINDS):
        raise ValueError(f'patch: linear: expected None, "dense", "int8" or "int4", got {linear!r}')
    _undo(model)
    found: Counter[tuple[str, str, str]] = Counter()
    for module in model.modules():
        replacement = _replace(module, linear)
        if replacement is not None:
            found[type(module).__name__, replacement.by, replacement.note] += 1
    for name, by, note, count in huggingface.patch(model, _set):
        found[name, by, note] += count
    return Patched(tuple(Row(name, count, by, note) for (name, by, note), count in found.items()))


def unpatch(model: torch.nn.Module) -> None:
    """Undoes patch(model). ValueError if the model isn't patched."""
    _check("unpatch", model)
    if not _undo(model):
        raise ValueError(f"unpatch: this {type(model).__name__} isn't patched: pass the model that patch() was given")


def _check(who: str, model: object) -> None:
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"{who}: model: expected a torch.nn.Module, got {type(model).__name__}")


def _replace(module: torch.nn.Module, linear: str | None) -> Replacement | None:
    replacement = next((found for rule in _RULES if (found := rule(module)) is not None), None)
    if replacement is None and linear is not None:
        replacement = linears.rule(module, linear)
    if replacement is not None and replacement.forward is not None:
        if "forward" in module.__dict__:
            return Replacement(None, "", "its forward was replaced by other code before")
        _set(module, replacement.forward, replacement.state)
    return replacement


def _set(module: torch.nn.Module, forward, state) -> None:
    """A method of a function at module level, so that a deep copy of the model calls the copy."""
    setattr(module, _GUARD, _Guard())
    setattr(module, OWN, state)
    module.forward = forward.__get__(module)


def _undo(model: torch.nn.Module) -> bool:
    undone = huggingface.unpatch(model)
    for module in model.modules():
        module.__dict__.pop(_GUARD, None)
        if OWN in module.__dict__:
            del module.__dict__[OWN], module.__dict__["forward"]
            undone = True
    return undone
