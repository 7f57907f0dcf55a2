"""Rare paths of the call core that are better written in Python. Called from C only; frameworks are looked up among the
modules already loaded, never imported."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

from kernpack._device_facts import (
    device_capabilities,
    device_properties,
    device_property,
    device_reset,
    device_scopes,
    device_sync,
    load_installed_backends,
    thread_dimensions,
)
from kernpack._jax_questions import watch_jax
from kernpack._numpy import (
    describe_array,
    numpy_dtype,
    numpy_empty,
    numpy_facts,
    numpy_from_tensor,
    numpy_is_masked,
    numpy_samples,
)
from kernpack._private import is_private_allowed, private_found, private_not_found
from kernpack._private.torch.facts import torch_is_importing, torch_key_bits, torch_samples, torch_word_is
from kernpack._producers import empty_like_producer, export_dlpack, hand_to_producer
from kernpack._suggest import did_you_mean
from kernpack._tensor import tensor_copy, tensor_repr, tensor_to
from kernpack._torch_questions import torch_has_mode, torch_has_tangent, torch_is_symbol, torch_is_traced, torch_refusal

__all__ = [
    "describe_array",
    "device_capabilities",
    "device_name",
    "device_properties",
    "device_property",
    "device_reset",
    "device_scopes",
    "device_sync",
    "dtype_name",
    "empty_like_producer",
    "export_dlpack",
    "hand_to_producer",
    "is_private_allowed",
    "jax_kind",
    "load_installed_backends",
    "not_a_tensor",
    "not_jax",
    "numpy_dtype",
    "numpy_empty",
    "numpy_facts",
    "numpy_from_tensor",
    "numpy_is_masked",
    "numpy_samples",
    "private_found",
    "private_not_found",
    "shown",
    "tensor_copy",
    "tensor_repr",
    "tensor_to",
    "thread_dimensions",
    "torch_has_mode",
    "torch_has_tangent",
    "torch_is_importing",
    "torch_is_symbol",
    "torch_is_traced",
    "torch_key_bits",
    "torch_refusal",
    "torch_samples",
    "torch_word_is",
    "unexpected_keyword",
    "watch_jax",
]


def dtype_name(spec: Any) -> str | None:
    """The name of a framework's dtype object; None when `spec` isn't a dtype."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(spec, torch.dtype):
        return str(spec).removeprefix("torch.")
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    dtype = spec if isinstance(spec, numpy.dtype) else _scalar_class_dtype(numpy, spec)
    return dtype.name if dtype is not None and dtype.isnative else None


def _scalar_class_dtype(numpy: Any, spec: Any) -> Any:
    """np.float32, ml_dtypes.bfloat16 and jnp.float32 are classes, or act like them."""
    if isinstance(spec, type) and (issubclass(spec, numpy.generic) or spec.__module__ == "ml_dtypes"):
        return numpy.dtype(spec)
    if callable(spec) and type(spec).__module__.startswith("jax."):
        dtype = getattr(spec, "dtype", None)
        return dtype if isinstance(dtype, numpy.dtype) else None
    return None


def device_name(spec: Any) -> str | None:
    """The name of a framework's device object; None when `spec` isn't a device."""
    kind = f"{type(spec).__module__.partition('.')[0]}.{type(spec).__name__}"
    if kind == "torch.device":
        return f"{spec.type}:{spec.index or 0}"
    if kind in ("jaxlib.Device", "jax.Device"):
        return f"{'cuda' if spec.platform == 'gpu' else spec.platform}:{spec.id}"
    if kind == "cupy.Device":
        return f"cuda:{spec.id}"
    return None


def jax_kind(value: Any) -> int:
    """0: not JAX's, 1: an array, 2: a tracer, 3: gives an array when asked. Brings in kernpack.jax, which registers JAX's path."""
    jax = sys.modules["jax"]
    if isinstance(value, getattr(getattr(jax, "core", None), "Tracer", ())):
        kind = 2
    elif isinstance(value, getattr(jax, "Array", ())):
        kind = 1
    else:
        kind = 3 if hasattr(type(value), "__jax_array__") else 0
    if kind and "kernpack.jax" not in sys.modules and importlib.util.find_spec("kernpack.jax") is not None:
        importlib.import_module("kernpack.jax")
    return kind


# Methods that convert objects of other libraries into tensors: the first one that the object's class has is used.
_CONVERSIONS = {
    "to_numpy": "pass its values, x.to_numpy()",  # pandas, polars, pyarrow, xarray
    "__cuda_array_interface__": "pass cupy.asarray(x)",  # numba
    "__array__": "pass np.asarray(x)",
    "__array_interface__": "pass np.asarray(x)",
    "__arrow_c_array__": "pass pyarrow.array(x).to_numpy()",
    "__arrow_c_stream__": "pass pyarrow.chunked_array(x).to_numpy()",
    "__dataframe__": "pass the values of a column as an array",
}


def not_a_tensor(value: Any) -> str:
    """Describes a passed object for an error: the name of its type, and how to convert it into a tensor."""
    kind = type(value)
    advice = next((text for name, text in _CONVERSIONS.items() if hasattr(kind, name)), "")
    return f"{kind.__name__}: {advice}" if advice else kind.__name__


def not_jax(value: Any) -> str:
    """Describes an object that was passed beside JAX arrays, such as a torch tensor, for an error."""
    kind = type(value)
    return f"{kind.__name__}: pass jax.dlpack.from_dlpack(x)" if hasattr(kind, "__dlpack__") else not_a_tensor(value)


_SHOWN = 80  # characters of a value in a message


def shown(value: Any) -> str:
    """A value in an error message: short whatever it is, and always printable."""
    if isinstance(value, int) and value.bit_length() > 4 * _SHOWN:
        return f"{'a negative int' if value < 0 else 'an int'} of {value.bit_length()} bits"
    text = str(value[:_SHOWN] if isinstance(value, str) else value).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 3 * _SHOWN else f"{text[:_SHOWN]}..."


def unexpected_keyword(name: str, names: tuple[str, ...]) -> str:
    """ "got an unexpected keyword argument 'epss' (did you mean 'eps'?)"."""
    hint = did_you_mean(name[:_SHOWN], [*names, "out"], " ({})")
    return f"got an unexpected keyword argument '{shown(name)}'{hint}"


def words_of_int(number: int) -> bytes:
    """Two's complement in words of 64 bits, the least significant first, as this machine stores them."""
    words = number.bit_length() // 64 + 1
    return number.to_bytes(words * 8, "little", signed=True)


def int_of_words(words: bytes) -> int:
    return int.from_bytes(words, "little", signed=True)
