"""Errors about calls that are impossible in torch. They name the function, the argument, and the fix for the caller or the author."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from kernpack import _core
from kernpack._torch_questions import torch_refusal


def no_gradient(info: Any) -> RuntimeError:
    name = info.name
    return RuntimeError(
        f"{name}: an argument requires a gradient, but {info.module_name} declares none for {name}: its "
        f"author adds KP_GRAD({name}, <backward op>), or nondiff(<parameter>) to the signature; or pass x.detach(), "
        "or call it under torch.no_grad()"
    )


def nondiff(info: Any, parameter: str) -> RuntimeError:
    return RuntimeError(
        f"{info.name}: {parameter}: requires a gradient, but {info.module_name} declares that none flows to it "
        f"(nondiff({parameter})): pass {parameter}.detach(), or call {info.name} under torch.no_grad()"
    )


def no_destination(name: str) -> RuntimeError:
    return RuntimeError(f"{name}: out: destinations cannot take part in a gradient; omit out= or use torch.no_grad()")


def no_second_order(info: Any) -> RuntimeError:
    name = info.name
    return RuntimeError(
        f"{name}: its result was differentiated, but {info.module_name} declares no gradient for {name}: its "
        f"author adds KP_GRAD({name}, <backward op>), or compute the first gradient without create_graph=True"
    )


def no_tangent(info: Any) -> RuntimeError:
    name = info.name
    return RuntimeError(
        f"{name}: an argument carries a tangent, but {info.module_name} declares no forward mode for {name} "
        "(torch.func.jvp, jacfwd, hessian, forward_ad): its author adds "
        f"KP_JVP({name}, <tangent op>); or use reverse mode: torch.func.vjp, jacrev or grad"
    )


def nondiff_tangent(info: Any, parameter: str) -> RuntimeError:
    return RuntimeError(
        f"{info.name}: {parameter}: carries a tangent, but {info.module_name} declares that nothing flows from it "
        f"(nondiff({parameter})): pass {parameter}.detach()"
    )


def hidden_tangent(info: Any, result: str) -> RuntimeError:
    name = info.name
    return RuntimeError(
        f"{name}: its backward op takes the aux result {result}, whose tangent {info.module_name}'s KP_JVP({name}, ...) doesn't "
        f"give, so that forward mode over reverse mode (torch.func.hessian) isn't possible: its author adds t_{result}, or "
        "computes it in the backward op; or use reverse mode twice: torch.func.jacrev(torch.func.jacrev(f))"
    )


def raise_as_kernel_did(error: RuntimeError) -> None:
    """torch has no stable API for a C kernel to raise other types than ValueError and RuntimeError, so that any other kind begins the text
    (ffi/src/guests/torch/stubs.cc): raises what the kernel meant. Returns where the error is not a kernel's."""
    if type(error) is RuntimeError:
        kind, colon, text = str(error).partition(": ")
        raised = _core.error_class(kind) if colon else None
        if raised is not None:
            raise raised(text) from None


def strange_tensor(function: str, names: Sequence[str]) -> Callable[..., NoReturn]:
    """The kernel for tensors that no kernel takes, such as sparse ones: raises the TypeError that a direct call raises. names: of the
    operator's arguments."""
    known = tuple(names)

    def kernel(*args: Any, **kwargs: Any) -> NoReturn:
        refusal = torch_refusal(known, args, kwargs)
        raise TypeError(f"{function}: {refusal or 'expected ordinary dense tensors'}")

    return kernel


def raise_as_direct_call_does(error: RuntimeError, function: str, names: Sequence[str], values: Sequence[Any]) -> None:
    """An operator's kernel ended with this error: raises what the kernel meant (raise_as_kernel_did), or which argument is a tensor of a
    class that refuses to be given to this operator, such as a jagged one. Returns if neither is true."""
    raise_as_kernel_did(error)
    if isinstance(error, NotImplementedError) and (refusal := torch_refusal(tuple(names), tuple(values), {})):
        raise TypeError(f"{function}: {refusal}") from None
