"""One function as torch's operators, and everything torch asks of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd import forward_ad
from torch.autograd.graph import increment_version

from . import _spec, _values, _vmap
from ._binder import bind, forward_to, wants_gradient
from ._gradient import Gradient
from ._shapes import Rules

_SHORTCUT = """
try:
    _live = out is None and _grad_mode() and ({wants})
except AttributeError:
    _live = False
if _live and not _transforms() and not _exporting() and _forward_ad._current_level < 0:
    return _apply({values})
"""
_QUESTIONS = {
    "_grad_mode": torch.is_grad_enabled,
    "_transforms": torch._C._are_functorch_transforms_active,
    "_exporting": torch.compiler.is_exporting,
    "_forward_ad": forward_ad,
}


class Function:
    """A function of a module. `op` is what runs it; `ad` stands for it where autograd comes later than the call is written down:
    in graphs and exported programs."""

    def __init__(self, operators: Any, info: Any, typed: dict[str, Any], steps: Sequence[Any]) -> None:
        self.operators = operators
        self.info = info
        self.name: str = info.name
        self.spec = _spec.read(self.name, typed)
        self.rules = Rules(self.spec)
        packet = operators.packet(self.name)
        self.op = packet.default
        self.out = packet.out if self.spec.results else None
        self.ad = packet.ad
        self.has_gradient = bool(steps)
        self.run = forward_to(self.spec, self.op)  # positional, one value a parameter
        self.run_out = forward_to(self.spec, self.out, with_results=True) if self.out else None
        self.run_ad = forward_to(self.spec, self.ad)
        self.gradient = Gradient(self, steps)
        self.call: Callable[..., Any] = bind(self.spec, self._call, self._call_out)

    # -------------------------------------------------------------- calls

    def _call(self, *values: Any) -> Any:
        values = tuple(_values.prepare(self.spec, values))
        if forward_ad._current_level >= 0 and _values.has_tangent(self.spec, values):
            raise RuntimeError(
                f"{self.name}: an argument carries a tangent: forward mode (torch.func.jvp, jacfwd, forward_ad) is not for "
                "kernels, which declare reverse-mode gradients; use torch.func.vjp, jacrev or grad"
            )
        transformed = torch._C._are_functorch_transforms_active()
        if torch.compiler.is_exporting() and not transformed:
            return self.pick(self.outputs(self.run_ad(*values)))
        if torch.is_grad_enabled() and _values.requires_grad(self.spec, values):
            return self.pick(self.differentiate(values))
        return self.pick(self.outputs(self.run(*values)))

    def _call_out(self, out: Any, *values: Any) -> Any:
        if self.run_out is None:
            raise TypeError(f"{self.name}: out: expected no destination, because the function has no results")
        values = tuple(_values.prepare(self.spec, values))
        given = tuple(out) if isinstance(out, (tuple, list)) else (out,)
        if len(given) != len(self.spec.results):
            raise TypeError(f"{self.name}: out: expected {len(self.spec.results)} tensors, got {len(given)}")
        if torch.is_grad_enabled() and (
            _values.requires_grad(self.spec, values) or any(tensor.requires_grad for tensor in given)
        ):
            raise RuntimeError(self.no_destination())
        self.run_out(*values, *given)
        return self.pick(given)

    def differentiate(self, values: tuple[Any, ...]) -> tuple[torch.Tensor, ...]:
        """All results, of a call that autograd must see."""
        if not self.has_gradient:
            raise RuntimeError(self.no_gradient())
        return self.gradient.apply(values)

    def no_gradient(self) -> str:
        return (
            f"{self.name}: an argument requires a gradient, but {self.info.module_name} declares none for {self.name}: its "
            f"author adds KP_GRAD({self.name}, <backward op>), or nondiff(<parameter>) to the signature; or pass x.detach(), "
            "or call it under torch.no_grad()"
        )

    def no_destination(self) -> str:
        return f"{self.name}: out: destinations cannot take part in a gradient; leave out= away or use torch.no_grad()"

    def no_second_order(self) -> str:
        return (
            f"{self.name}: its result was differentiated, but {self.info.module_name} declares no gradient for {self.name}: its "
            f"author adds KP_GRAD({self.name}, <backward op>), or compute the first gradient without create_graph=True"
        )

    def outputs(self, raw: Any) -> tuple[Any, ...]:
        """What an operator returned, as a tuple of all results."""
        if isinstance(raw, torch.Tensor):
            return (raw,)
        return () if raw is None else tuple(raw)

    def pick(self, outputs: Sequence[Any]) -> Any:
        """What the caller sees: None, one tensor, or a tuple."""
        returned = self.spec.returned
        if len(returned) == 1:
            return outputs[returned[0]]
        return tuple(outputs[i] for i in returned) if returned else None

    # -------------------------------------------------------------- registration

    def shorten(self) -> None:
        """Takes the way from a plain autograd call to its node out of all loops. Needs the module's other functions."""
        node = self.gradient.node() if self.has_gradient else None
        if node is not None:
            self.call = bind(
                self.spec,
                self._call,
                self._call_out,
                _SHORTCUT.format(
                    wants=wants_gradient(self.spec), values=", ".join(param.name for param in self.spec.params)
                ),
                _apply=node,
                **_QUESTIONS,
            )

    def register(self, library: torch.library.Library) -> None:
        space = self.operators.namespace
        overloads = [("default", self.op), ("out", self.out), ("ad", self.ad)]
        for overload, op in overloads:
            if op is None:
                continue
            op.tags.extend(tag for tag in self._tags() if tag not in op.tags)
            name = f"{space}::{self.name}.{overload}" if overload != "default" else f"{space}::{self.name}"
            fake = self._fake_out if overload == "out" else self._fake
            torch.library.register_fake(name, fake, lib=library)
            mutated = self._mutated(with_results=overload == "out")
            if mutated:
                library.impl(name.partition("::")[2], _bumping(op, mutated), "ADInplaceOrView", with_keyset=True)
        torch.library.register_vmap(f"{space}::{self.name}", self._vmap(self.run), lib=library)
        torch.library.register_vmap(f"{space}::{self.name}.ad", self._vmap(self.run_ad), lib=library)
        library.impl(f"{self.name}.ad", self._autograd, "Autograd", with_keyset=True)

    def _tags(self) -> list[Any]:
        """What ffi/src/torch/register.cc says where torch's C functions can say it: from 2.12."""
        return [
            torch.Tag.pt2_compliant_tag,
            torch.Tag.needs_exact_strides,
            *([] if self.spec.graph_safe else [torch.Tag.cudagraph_unsafe]),
            *([] if self.spec.deterministic else [torch.Tag.nondeterministic_bitwise]),
        ]

    def _mutated(self, with_results: bool) -> list[str]:
        names = [param.name for param in self.spec.params if param.mutated]
        return names + [result.name for result in self.spec.results] if with_results else names

    def _positions(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        """One value a parameter. torch gives an operator's kernels what its caller wrote, without defaults."""
        values = list(args)
        for param in self.spec.params[len(args) :]:
            values.append(kwargs.get(param.name, param.default))
        return values

    def _fake(self, *args: Any, **kwargs: Any) -> Any:
        results = self.rules.results(self._positions(args, kwargs))
        return results[0] if len(results) == 1 else tuple(results) if results else None

    def _fake_out(self, *args: Any, **kwargs: Any) -> None:
        results = self.rules.results(self._positions(args, kwargs))
        for declared, result in zip(self.spec.results, results, strict=True):
            _values.check_destination(self.name, declared.name, kwargs[declared.name], result)

    def _autograd(self, keyset: Any, *args: Any, **kwargs: Any) -> Any:
        """`ad` above autograd: becomes the operator itself, below an autograd node where there is something to record."""
        values = tuple(self._positions(args, kwargs))
        if torch.is_grad_enabled() and _values.requires_grad(self.spec, values, at_any_level=False):
            if not self.has_gradient:
                raise RuntimeError(self.no_gradient())
            outputs = self.gradient.record(values)
            return outputs[0] if len(outputs) == 1 else outputs
        with torch._C._AutoDispatchBelowAutograd():
            # Inside torch.func's transforms this is one level, and the next may have something to record.
            return (self.run_ad if torch._C._are_functorch_transforms_active() else self.run)(*values)

    def _vmap(self, run: Callable[..., Any]) -> Callable[..., Any]:
        def rule(info: Any, in_dims: Any, *args: Any, **kwargs: Any) -> Any:
            dims = list(in_dims) + [None] * (len(self.spec.params) - len(in_dims))
            outputs, out_dims = _vmap.batched(self, run, info.batch_size, dims, self._positions(args, kwargs))
            if not outputs:
                return None, None
            return (outputs[0], out_dims[0]) if len(outputs) == 1 else (tuple(outputs), tuple(out_dims))

        return rule


def _bumping(op: Any, mutated: list[str]) -> Any:
    """The kernel that tells autograd what is written to, then lets the operator go on."""
    positions = {name: i for i, name in enumerate(argument.name for argument in op._schema.arguments)}

    def kernel(keyset: Any, *args: Any, **kwargs: Any) -> Any:
        for name in mutated:
            value = kwargs[name] if name in kwargs else args[positions[name]]
            if value is not None:
                increment_version(value)
        with torch._C._AutoDispatchBelowADInplaceOrView():
            return op.redispatch(keyset & torch._C._after_ADInplaceOrView_keyset, *args, **kwargs)

    return kernel
