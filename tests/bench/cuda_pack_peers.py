"""Peers that tests/bench/cuda_pack.py times beside our kernels and torch's, if they are installed: Liger's kernels in Triton, FlashInfer's.

Each function here takes a case's numbers and gives the call of each peer by its name. Liger's cross-entropy isn't among them: it waits
for the device, so no CUDA graph captures it."""

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch

Calls = Mapping[str, Callable[..., object]]
NONE: Calls = MappingProxyType({})
COLUMNS = ("liger", "flashinfer")
_MODULES = {"liger": "liger_kernel.transformers.functional", "flashinfer": "flashinfer"}
_WORKSPACE = 256 << 20  # bytes, as FlashInfer's documentation advises


def _find() -> dict[str, object]:
    """The peers' modules by name. Says why one isn't there."""
    found = {}
    for name, module in _MODULES.items():
        try:
            found[name] = importlib.import_module(module)
        except Exception as error:
            print(f"{name}: not beside: {type(error).__name__}: {error}")
    return found


FOUND = _find()


def _those(**calls: Callable[[object], Callable[..., object]]) -> Calls:
    made = {}
    for name, make in calls.items():
        if name in FOUND:
            try:
                made[name] = make(FOUND[name])
            except Exception as error:
                print(f"{name}: not beside: {type(error).__name__}: {error}")
    return made


def rms_norm() -> Calls:
    return _those(
        liger=lambda its: lambda x, w: its.liger_rms_norm(x, w, 1e-6, in_place=False),
        flashinfer=lambda its: lambda x, w: its.rmsnorm(x, w, 1e-6),
    )


def layer_norm() -> Calls:
    return _those(liger=lambda its: lambda x, w, b: its.liger_layer_norm(x, w, b, 1e-5))


def add_rms_norm() -> Calls:
    """FlashInfer's writes over its inputs."""
    return _those(
        liger=lambda its: lambda x, r, w: its.liger_fused_add_rms_norm(x, r, w, 1e-6, in_place=False),
        flashinfer=lambda its: lambda x, r, w: its.fused_add_rmsnorm(x, r, w, 1e-6),
    )


def softmax() -> Calls:
    return _those(liger=lambda its: its.liger_softmax)


def swiglu() -> Calls:
    return _those(liger=lambda its: its.liger_swiglu)


def sample(temperature: float, top_p: float) -> Calls:
    return _those(
        flashinfer=lambda its: (
            lambda x: its.sampling.top_p_sampling_from_probs(torch.softmax(x.float() / temperature, -1), top_p)
        )
    )


def paged_attention(q: torch.Tensor, pages: list[torch.Tensor], table: torch.Tensor, lengths: torch.Tensor) -> Calls:
    """One position of each sequence, beside pages of 16 positions, all of them full."""

    def make(its) -> Callable[..., object]:
        batch, count = table.shape
        wrapper = its.BatchDecodeWithPagedKVCacheWrapper(
            torch.empty(_WORKSPACE, dtype=torch.uint8, device="cuda"), "NHD"
        )
        starts = torch.arange(batch + 1, dtype=torch.int32, device="cuda") * count
        of_last = (lengths - 1) % 16 + 1
        heads, groups, width = q.shape[2], pages[0].shape[2], q.shape[3]
        wrapper.plan(
            starts, table.reshape(-1), of_last, heads, groups, width, 16, q_data_type=q.dtype, kv_data_type=q.dtype
        )
        return lambda q: wrapper.run(q[:, 0], tuple(pages))

    return _those(flashinfer=make)
