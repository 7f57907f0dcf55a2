"""The kernels as PyTorch knows such things: functions, modules, and `patch(model)`, which puts them into a model that exists."""

from kernpack_kernels.torch import functional, nn
from kernpack_kernels.torch.patching import Patched, patch, unpatch

__all__ = ["Patched", "functional", "nn", "patch", "unpatch"]
