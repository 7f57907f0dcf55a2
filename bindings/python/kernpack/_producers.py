"""Arrays of frameworks that speak only __dlpack__: how to take one, and how to give one back."""

from __future__ import annotations

import sys
from typing import Any

from kernpack._core import Device, Tensor, dtype_word

_STREAM_DEVICES = {2: 1, 13: 1, 10: 0}  # CUDA, CUDA managed, ROCm: DLPack's number of the default stream
_MAX_VERSION = (1, 3)


def export_dlpack(
    value: Any, function: str, argument: str, has_stream: bool, stream: int
) -> tuple[Any, int, int, int | None]:
    """(capsule, device type, device id, the stream its data is ready on or None)."""
    who = f"{function}: {argument}"
    kind, index = _get_dlpack_device(value, who)
    arguments: dict[str, Any] = {}
    used: int | None = None
    if kind in _STREAM_DEVICES:
        used = stream if has_stream else _producer_stream(value)
        arguments["stream"] = used or _STREAM_DEVICES[kind]
    try:
        try:
            capsule = value.__dlpack__(max_version=_MAX_VERSION, **arguments)
        except TypeError:  # producers of before DLPack 1.0 know no max_version
            capsule = value.__dlpack__(**arguments)
    except RecursionError:  # a producer that calls kernels on itself: one message, not one a level
        raise
    except Exception as error:
        raise BufferError(
            f"{who}: __dlpack__ of {type(value).__name__} failed: {type(error).__name__}: {_short(error)}"
        ) from error
    if type(capsule).__name__ != "PyCapsule":
        raise BufferError(
            f"{who}: expected a DLPack capsule from __dlpack__ of {type(value).__name__}, got {type(capsule).__name__}"
        )
    return capsule, kind, index, used


def _short(error: Exception) -> str:
    text = str(error)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _get_dlpack_device(value: Any, who: str) -> tuple[int, int]:
    try:
        kind, index = value.__dlpack_device__()
        for number in (int(kind), int(index)):
            number.to_bytes(4, "little", signed=True)  # OverflowError: no int32
        return int(kind), int(index)
    except Exception as error:
        raise BufferError(
            f"{who}: __dlpack_device__ of {type(value).__name__} returned no (type, index): {type(error).__name__}: {_short(error)}"
        ) from error


def _framework(array_type: type) -> Any:
    return sys.modules.get(array_type.__module__.partition(".")[0])


def _producer_stream(value: Any) -> int:
    """CuPy's current stream, and of those that spell it alike; 0: the default stream."""
    cuda = getattr(_framework(type(value)), "cuda", None)
    current = getattr(cuda, "get_current_stream", None)
    return int(current().ptr) if current is not None else 0


def empty_like_producer(array_type: type, shape: tuple[int, ...], dtype: str, device_type: int, device_id: int) -> Any:
    """An uninitialised array of the producer's framework, or None when it has no empty()."""
    framework = _framework(array_type)
    empty = getattr(framework, "empty", None)
    if empty is None or not hasattr(framework, "from_dlpack"):
        if device_type != 1:
            raise TypeError(
                f"cannot allocate a result for {array_type.__name__} on {Device((device_type, device_id))}: its module has no "
                "empty(); pass out="
            )
        return None
    name = dtype_word(dtype)
    return empty(shape, dtype=getattr(framework, name, name))


def hand_to_producer(array_type: type, array: Any) -> Any:
    """A finished result as the framework's own array; a kernpack.Tensor where it cannot take one."""
    if not isinstance(array, Tensor):
        return array
    from_dlpack = getattr(_framework(array_type), "from_dlpack", None)
    return array if from_dlpack is None else from_dlpack(array)
