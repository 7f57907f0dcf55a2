"""PyTorch's own operators on tensors of the emulated device. The kernels of torch's wheels are machine code, which the emulated device
can't run. So each operator of `aten` is computed on the CPU: its tensors are copied there, and results are copied back. Kernels of
Triton, of torch.compile and of other libraries aren't touched: they run as PTX."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from . import imports

# Operators of aten that launch no kernel: they allocate memory, or ask for what the host knows.
_NATIVE = (
    "empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided", "detach", "alias", "lift_fresh", "_unsafe_view",
    "_reshape_alias", "set_", "resize_", "record_stream", "is_pinned", "_pin_memory", "_local_scalar_dense", "is_same_size",
    "sym_size", "sym_stride", "sym_numel", "sym_storage_offset", "_nested_tensor_from_mask", "_has_compatible_shallow_copy_type",
)  # fmt: skip


class Copies:
    """The CPU's copies of one call's tensors."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._of: dict[int, tuple[Any, Any]] = {}  # by the copy's id: the copy, and the original
        self.device: Any = None  # of the first tensor on an emulated device

    def flat(self, tensor: Any) -> Any:
        """All elements between the first and the last, gaps included, as one row: such a copy launches no kernel."""
        span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
        return self._torch.as_strided(tensor, (span,), (1,), tensor.storage_offset())

    def has(self, copy: Any) -> bool:
        """Returns true if it is a copy of an argument."""
        return id(copy) in self._of

    def read(self, row: Any) -> Any:
        """A copy of a row on the device."""
        return row.cpu()

    def write(self, row: Any, values: Any) -> None:
        row.copy_(values)

    def resize(self, original: Any, copy: Any) -> Any:
        """Gives the original the copy's shape; a copy with the original's strides."""
        if original.shape != copy.shape:
            original.resize_(copy.shape)
        if original.stride() == copy.stride():
            return copy
        return self._torch.empty_strided(original.shape, original.stride(), dtype=copy.dtype).copy_(copy)

    def to_cpu(self, value: Any) -> Any:
        if isinstance(value, self._torch.Generator) and value.device.type == "cuda":
            return self._torch.Generator().manual_seed(value.initial_seed())
        if not isinstance(value, self._torch.Tensor) or value.device.type != "cuda":
            return value
        self.device = self.device or value.device
        for copy, original in self._of.values():
            if original is value:
                return copy
        if value.numel() == 0:
            copy = self._torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
        else:
            copy = self._torch.as_strided(self.read(self.flat(value)), value.shape, value.stride(), 0)
        self._of[id(copy)] = (copy, value)
        return copy

    def write_back(self, copy: Any) -> None:
        """The operator has changed the tensor of this copy."""
        found = self._of.get(id(copy))
        if found is None:
            return
        original = found[1]
        if (original.shape, original.stride()) != (copy.shape, copy.stride()):
            copy = self.resize(original, copy)
        if original.numel() != 0:
            self.write(self.flat(original), self.flat(copy))

    def to_device(self, value: Any, device: Any) -> Any:
        if not isinstance(value, self._torch.Tensor):
            return value
        if self.has(value):
            return self._of[id(value)][1]
        if value.device.type != "cpu" or device is None:
            return value
        made = self._torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=device)
        if value.numel() != 0:
            self.write(self.flat(made), self.flat(value))
        return made


def _changed(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments that the operator writes to."""
    found: list[Any] = []
    for i, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[i] if i < len(args) else kwargs.get(argument.name)
            found += value if isinstance(value, list | tuple) else [value]
    return found


def _make_mode(torch: Any) -> Any:
    from torch.utils import _pytree as tree
    from torch.utils._python_dispatch import TorchDispatchMode

    from .torch_capture import CapturedCopies as captures  # noqa: N813 - it is called as a function, and imports this module

    key = torch._C._TorchDispatchModeKey
    tracing = [getattr(key, name) for name in ("FAKE", "PROXY", "FUNCTIONAL") if hasattr(key, name)]

    def on_cuda(arguments: Any) -> bool:
        """Returns true if a tensor, or the device that is asked for, is one of CUDA's."""
        for leaf in tree.tree_leaves(arguments):
            device = leaf if isinstance(leaf, torch.device) else getattr(leaf, "device", None)
            if isinstance(device, torch.device) and device.type == "cuda":
                return True
        return False

    class OperatorsOnCpu(TorchDispatchMode):
        @classmethod
        def is_infra_mode(cls) -> bool:
            return True  # torch.compile compiles as without it

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            name = func._schema.name.removeprefix("aten::")
            # Not aten's, or of a tensor class, or traced: as without the mode.
            if "::" in name or types or name in _NATIVE or func.is_view:
                return func(*args, **kwargs)
            if any(torch._C._get_dispatch_mode(mode) is not None for mode in tracing):
                return func(*args, **kwargs)
            if not on_cuda((args, kwargs)):
                return func(
                    *args, **kwargs
                )  # without a call of CUDA: functions of the host that a graph runs come here, too
            captured = torch.cuda.is_current_stream_capturing()
            copies: Any = captures(torch) if captured else Copies(torch)
            on_cpu, cpu_kwargs = tree.tree_map(copies.to_cpu, (list(args), dict(kwargs)))
            target = kwargs.get("device")
            target = torch.device(target) if target is not None else copies.device
            if copies.device is None and (target is None or target.type != "cuda"):
                return func(*args, **kwargs)
            if cpu_kwargs.get("device") is not None:
                cpu_kwargs["device"] = torch.device("cpu")
            if cpu_kwargs.get("pin_memory"):
                cpu_kwargs["pin_memory"] = False
            try:
                result = func(*on_cpu, **cpu_kwargs)
            except NotImplementedError as error:
                raise NotImplementedError(
                    f"{func}: torch has this operator for GPUs alone, so that the emulated device, which computes torch's operators "
                    "on the CPU, can't run it"
                ) from error
            if captured:
                copies.compute(lambda: tree.tree_leaves(func(*on_cpu, **cpu_kwargs)))
            for copy in _changed(func, on_cpu, cpu_kwargs):
                copies.write_back(copy)
            return tree.tree_map(lambda value: copies.to_device(value, target), result)

    return OperatorsOnCpu()


def turn_on(torch: ModuleType) -> None:
    """For this thread, and for autograd's threads while it calls them."""
    # Operators that are one composite of others for a CPU are chosen in place of those that only GPUs have.
    torch.backends.cudnn.enabled = False
    for name in ("enable_flash_sdp", "enable_mem_efficient_sdp", "enable_cudnn_sdp"):
        getattr(torch.backends.cuda, name)(False)
    _print_from_cpu(torch)
    _make_mode(torch).__enter__()


def _print_from_cpu(torch: Any) -> None:
    """Modes are off while torch prints a tensor, so that a copy on the CPU is printed."""
    printed = torch._tensor_str._tensor_str

    def tensor_str(tensor: Any, indent: int) -> Any:
        return printed(
            Copies(torch).to_cpu(tensor) if type(tensor) in (torch.Tensor, torch.nn.Parameter) else tensor, indent
        )

    torch._tensor_str._tensor_str = tensor_str


def _turn_on_for_cuda(torch: Any) -> None:
    # The version alone: after a question for devices, forked processes couldn't use them any more.
    if torch.version.cuda is not None:
        turn_on(torch)


def watch() -> None:
    """Turns the operators on, or does so when torch is imported."""
    imports.after("torch", _turn_on_for_cuda)
