"""jax.export of programs that call kernels: to bytes in one process, and back in another.

jax.export is imported when it is asked for: in some versions of JAX it needs packages that JAX itself does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _target

if TYPE_CHECKING:
    import jax.export


def export(
    jitted: Any,
    *,
    platforms: Sequence[str] | None = None,
    disabled_checks: Sequence[Any] = (),
) -> Callable[..., Any]:
    """As jax.export.export, which refuses custom calls that it does not know; it is told of ours.

    The program names its kernels by module, major version and function: to run it, load the same module (any build of that
    major version) and read it with `deserialize`.
    """
    import jax.export

    ours = jax.export.DisabledSafetyCheck.custom_call(_target.EXPORTED)
    return jax.export.export(jitted, platforms=platforms, disabled_checks=[*disabled_checks, ours])


def deserialize(data: bytes | bytearray) -> jax.export.Exported:
    """As jax.export.deserialize; XLA knows our calls afterwards. The modules that the program needs are loaded by the caller."""
    import jax.export

    _target.target_name()
    return jax.export.deserialize(bytearray(data))
