"""Running a plan on arrays of any framework."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import kernpack
from kernpack import _core
from kernpack._producers import hand_to_producer
from kernpack._row_major import is_row_major

from kernpack_compiler._native import program as _native
from kernpack_compiler.program._function import ProgramFunction
from kernpack_compiler.program._plan import Plan


class Executable:
    """A plan on devices. It keeps the functions, streams and memory between runs. Any thread may run it."""

    def __init__(self, plan: Plan, devices: Sequence[Any]) -> None:
        if isinstance(devices, (str, kernpack.Device)):
            raise TypeError(f"program: devices: expected a list of devices, got {devices!r}; put it in brackets")
        self.plan = plan
        self.devices = [kernpack.device(device) for device in devices]
        self._native = _native.Executable(plan.native, plan.program.functions.table, self.devices)
        self._function = _core.object_of(self._native.function(None))
        main = plan.native.programs[-1]
        self._places = [self._real(main.values[value][2]) for value in main.params]

    def run(self, *arguments: Any, **named: Any) -> Any:
        """Runs the program. Arguments are nested as those of the traced function, results as it returned them.

        Arguments are arrays of NumPy, torch, JAX or anything with DLPack, and kernpack.Tensors. Those that the plan needs on
        another device are copied there first, so keep constant ones as kernpack.Tensors on that device (see place()). Results
        have the type of the first array; if its framework can't use their device, they are on the CPU.

        TypeError or ValueError for arguments that don't fit, with the parameter; errors of a call, with the call.
        KeyboardInterrupt between two steps ends the run.
        """
        return self._run(self._function, arguments, named)

    def trace(self, file: str | os.PathLike[str], *arguments: Any, **named: Any) -> Any:
        """Like run(*arguments), and writes a timeline of the steps, for https://ui.perfetto.dev."""
        trace = _native.Trace()
        results = self._run(_core.object_of(self._native.function(trace)), arguments, named)
        Path(file).write_text(trace.json(), encoding="utf-8")
        return results

    def place(self, *arguments: Any, **named: Any) -> dict[str, Any]:
        """The arguments as kernpack.Tensors on the devices of the plan, by parameter of the traced function: run(**placed)."""
        tensors = [self._placed(value, index) for index, (_, value) in enumerate(self._flat(arguments, named))]
        return self.plan.program.nest(tensors)

    def as_module(self, name: str) -> ProgramFunction:
        """A module whose only function is the program, with its name: an operator of torch and JAX like any kernel.

        ValueError if no contract can express the program's parameters and results, or the name isn't a valid module name.
        The module is never freed; a process can have 1024 such functions.
        """
        return ProgramFunction(self._native, name)

    @property
    def peak(self) -> int:
        """The highest number of bytes of the plan's buffers in the runs so far."""
        return self._native.buffers[1]

    def _flat(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> list[tuple[str, Any]]:
        return self.plan.program.flatten(arguments, named)

    def _run(self, function: kernpack.Object, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        given = self._flat(arguments, named)
        results = function(*(self._placed(value, index) for index, (_, value) in enumerate(given)))
        like = next((value for _, value in given), None)
        return self.plan.program.unflatten([_convert_like(like, result) for result in results])

    def _placed(self, value: Any, index: int) -> Any:
        name = self.plan.program.params[index][0]
        try:
            tensor = value if isinstance(value, kernpack.Tensor) else _core.as_tensor(value)
        except TypeError as error:
            raise TypeError(f"{self.plan.program.name}: {name}: {error}") from None
        if tensor.device != self._places[index] or not is_row_major(tensor.shape, tensor.strides):
            return kernpack.empty(tensor.shape, tensor.dtype, self._places[index]).copy_(tensor)
        return tensor

    def _real(self, virtual: str) -> kernpack.Device:
        """The device that a virtual one such as "opencl:1" is, as the executable maps them."""
        place = kernpack.device(virtual.partition(" ")[0])
        given = [device for device in self.devices if device.type == place.type]
        return given[place.index] if place.index < len(given) else place

    def __repr__(self) -> str:
        where = ", ".join(map(str, self.devices)) or "the devices of the plan's numbers"
        return f"<Executable {self.plan.program.name} on {where}>"


def _convert_like(like: Any, result: kernpack.Tensor) -> Any:
    """The result as an array of the framework of `like`."""
    if like is None or isinstance(like, kernpack.Tensor):
        return result
    numpy, jax = sys.modules.get("numpy"), sys.modules.get("jax")
    if numpy is not None and isinstance(like, numpy.ndarray):
        return result.to("cpu").numpy()
    here = result.to("cpu") if result.device.type == "opencl" else result  # whose handles no other framework can read
    if here.read_only:  # memory of an argument, which no other framework's arrays would know
        here = kernpack.empty(here.shape, here.dtype, here.device).copy_(here)
    if jax is not None and isinstance(like, jax.Array):
        return jax.dlpack.from_dlpack(here)
    return hand_to_producer(type(like), here)
