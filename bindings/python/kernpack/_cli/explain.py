"""`kernpack explain NAME.op [arguments]`: which code a call would run, and what the call would check, allocate and give."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kernpack._cli.argument import NoDevice, parse, parse_device
from kernpack._cli.look import Failure, Wrong
from kernpack._domain import Tensor
from kernpack._suggest import did_you_mean

if TYPE_CHECKING:
    from kernpack._contract import Contract, Parameter
    from kernpack._core import Device
    from kernpack._module import FunctionInfo, Module

_EPILOG = """\
Arguments are written as the contract's types: f32[4,8], f32[4,8]{1,4} with strides in elements, f32[8]@cuda:0, [f32[2],f32[3]],
numbers, True, False, None, "text", a dtype (bf16); name=... for keywords. Nothing is run.
"""


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "function", metavar="NAME.op", help="an installed package, or the path of a module, then the function"
    )
    parser.add_argument("arguments", nargs="*", metavar="ARGUMENT", help="the arguments of the call: f32[4,8] eps=1e-5")
    parser.add_argument(
        "--device", default="cpu", help="the device of tensors without @: cuda:0, opencl, cpu (the default)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.epilog = _EPILOG
    parser.set_defaults(run=run, takes_later=lambda options, words: options.arguments.extend(words))


def run(options: argparse.Namespace) -> int:
    try:
        device = parse_device(options.device)
    except NoDevice as error:
        raise Failure(str(error)) from None
    except ValueError as error:
        raise Wrong(f"--device: {error}") from None
    try:
        module, info = _find(options.function, options.arguments)
        facts = _facts(module, info)
        if options.arguments or not (info.typed or {"params": [1]})["params"]:
            facts["call"] = _call(info, options.arguments, device)
    except (ImportError, OSError, ValueError, TypeError) as error:
        raise Failure(str(error).removeprefix("kernpack.load: ")) from None
    if options.json:
        print(json.dumps(facts, indent=2))
    else:
        print("\n".join(_text(facts)))
    return int("refused" in facts.get("call", {}))


def _find(name: str, arguments: Sequence[str]) -> tuple[Module, FunctionInfo]:
    import kernpack

    source, dot, function = name.rpartition(".")
    if not dot or not source or not function.isidentifier():
        hint = f"; did you mean '{name}.{arguments[0]}'?" if arguments and arguments[0].isidentifier() else ""
        raise Wrong(f"expected NAME.op, as in kernpack_kernels.softmax or ./my.so.op, got '{name}'{hint}")
    module = kernpack.load(source)
    if function not in module.functions:
        names = list(module.functions)
        hint = did_you_mean(function, names) or f"; it has {_listed(names)}"
        raise ValueError(f"'{source}' has no function '{function}'{hint}")
    return module, module.functions[function]


def _listed(names: Sequence[str], most: int = 30) -> str:
    shown = ", ".join(sorted(names)[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown


def _facts(module: Module, info: FunctionInfo) -> dict[str, Any]:
    from kernpack import _packs
    from kernpack._info import module_files, module_libraries

    return {
        "function": f"{module.name}.{info.name}",
        "version": module.version,
        "contract": info.text,
        "cxx_types": info.cxx_types,
        "doc": info.doc,
        "backward": [backward for forward, backward in module._gradients if forward == info.name],
        "tangent": [tangent for forward, tangent in module._jvps if forward == info.name],
        "variants": info.variants,
        "libraries": module_libraries(module),
        "packs": _packs.states(module_files(module)),
        **_compiled_here(info),
    }


def _compiled_here(info: FunctionInfo) -> dict[str, Any]:
    """The CUDA sources in the files of the function's implementations, and the NVRTC that would compile them."""
    from kernpack import _jit

    files = dict.fromkeys(variant["module_path"] for variant in info.variants)
    found = [source for file in files for source in _jit.facts(file)]
    if not found:
        return {"cuda_sources": [], "nvrtc": None}
    try:
        return {"cuda_sources": found, "nvrtc": _jit.compiler()}
    except RuntimeError as error:
        return {"cuda_sources": found, "nvrtc": None, "no_nvrtc": str(error)}


def _call(info: FunctionInfo, words: Sequence[str], device: Device) -> dict[str, Any]:
    from kernpack import _contract
    from kernpack._solve import Solution

    contract = _contract.of(info)
    if contract is None:
        raise ValueError(f"{info.name} has no contract, so nothing is known about a call before it runs")
    values, converted = _bound(contract, words, device)
    try:
        solution = Solution(contract, values)
        results = [(result.name, *solution.result(i), result.aux) for i, result in enumerate(contract.results)]
        workspace = solution.workspace()
    except (TypeError, ValueError) as error:
        return {"refused": str(error)}
    return {
        "device": solution.device or "cpu",
        "converted": converted,
        "copied": [
            {"name": name, "bytes": _bytes(tensor.shape, tensor.dtype)}
            for parameter, value in zip(contract.parameters, values, strict=True)
            if parameter.compact
            for name, tensor in _tensors(parameter.name, value)
            if tensor.strides is not None
        ],
        "results": [
            {
                "name": name,
                "dtype": dtype,
                "shape": list(shape),
                "bytes": _bytes(shape, dtype),
                "saved_for_backward": aux,
            }
            for name, shape, dtype, aux in results
        ],
        "workspace_bytes": workspace,
        "written": [parameter.name for parameter in contract.parameters if parameter.mutated],
    }


def _tensors(name: str, value: Any) -> list[tuple[str, Tensor]]:
    """The tensors of an argument, as error messages call them."""
    if isinstance(value, list):
        return [(f"{name}[{i}]", item) for i, item in enumerate(value) if isinstance(item, Tensor)]
    return [(name, value)] if isinstance(value, Tensor) else []


def _bytes(shape: Sequence[int], dtype: str) -> int:
    from kernpack._core import DType

    return math.prod(shape) * DType(dtype).itemsize


def _bound(contract: Contract, words: Sequence[str], device: Device) -> tuple[list[Any], list[str]]:
    """One value for each parameter, and what was converted on the way."""
    parameters = {parameter.name: parameter for parameter in contract.parameters}
    places = [parameter.name for parameter in contract.parameters if not parameter.keyword_only]
    given: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not (equals and name.isidentifier()):
            if not places:
                raise TypeError(
                    f"{contract.name}: takes {contract.num_positional} positional arguments, got one more: {word}"
                )
            name, text = places[0], word
        if name not in parameters:
            raise TypeError(f"{contract.name}: no parameter '{name}'{did_you_mean(name, parameters)}")
        if name in given:
            raise TypeError(f"{contract.name}: {name} is given twice")
        places = [place for place in places if place != name]
        try:
            given[name] = parse(text, device)
        except NoDevice:
            raise
        except ValueError as error:
            raise Wrong(str(error)) from None
    converted = [
        f"{name}: int -> float"
        for name, value in given.items()
        if parameters[name].kind == "float" and type(value) is int
    ]
    return [_value(contract, parameter, given) for parameter in contract.parameters], converted


def _value(contract: Contract, parameter: Parameter, given: dict[str, Any]) -> Any:
    if parameter.name in given:
        return given[parameter.name]
    if not parameter.has_default:
        raise TypeError(
            f"{contract.name}: missing argument '{parameter.name}'; write it as in the contract: f32[4,8], 3, ..."
        )
    if parameter.kind == "dtype" and parameter.default is not None:
        return parse(parameter.default)
    return parameter.default


def _text(facts: dict[str, Any]) -> list[str]:
    contract = facts["contract"] or facts["cxx_types"] or "(without a contract)"
    lines = [f"{facts['function']} {facts['version']}", f"  {contract}"]
    lines += [f"  {facts['doc']}"] if facts["doc"] else []
    for what in ("backward", "tangent"):
        lines.append(f"{what}: {', '.join(facts[what]) or 'none: its author can add ' + _MACRO[what]}")
    lines += [f"needs {library}: found at {path}" for library, path in facts["libraries"].items()]
    lines += [
        f"machine code for {pack['architecture']} is in {pack['wheel']}: {pack['state']}" for pack in facts["packs"]
    ]
    elsewhere = facts.get("call", {}).get("device", "cpu") != "cpu"
    lines.append("variants, as chosen for the CPU:" if elsewhere else "variants:")
    for variant in facts["variants"]:
        mark = "runs   " if variant["chosen"] else "not run"
        lines.append(f"  {mark}  {variant['target'] or 'baseline'}: {variant['reason']} ({variant['module_path']})")
    if facts["cuda_sources"]:
        from kernpack import _jit

        lines += _jit.lines(facts["cuda_sources"])
        missing = facts.get("no_nvrtc", "").partition("\n")[0]
        lines.append(
            f"compiled when first used, by NVRTC {facts['nvrtc']}"
            if facts["nvrtc"]
            else f"to compile, it needs {missing}"
        )
    return [*lines, *_call_text(facts["call"])] if "call" in facts else lines


_MACRO = {"backward": "KP_GRAD", "tangent": "KP_JVP"}


def _call_text(call: dict[str, Any]) -> list[str]:
    if "refused" in call:
        return ["the call would be refused:", *(f"  {line}" for line in call["refused"].splitlines())]
    lent = "some arguments are copied first:" if call["copied"] else "arguments are passed without a copy"
    lines = [f"the call runs on {call['device']}; {lent}"]
    lines += [f"  copies {copy['name']} into row-major memory: {copy['bytes']} bytes" for copy in call["copied"]]
    lines += [f"  converted: {text}" for text in call["converted"]]
    lines += [f"  written in place: {name}" for name in call["written"]]
    for result in call["results"]:
        shape = ", ".join(map(str, result["shape"]))
        saved = ", saved for the backward" if result["saved_for_backward"] else ""
        lines.append(f"  allocates {result['name']}: {result['dtype']}[{shape}], {result['bytes']} bytes{saved}")
    if call["workspace_bytes"] is not None:
        lines.append(f"  workspace: {call['workspace_bytes']} bytes, given back when the call returns")
    return lines
