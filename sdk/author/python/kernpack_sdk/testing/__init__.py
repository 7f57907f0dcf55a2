"""Tests of kernel modules, made from their contracts alone (docs/testing.md).

`kernpack test MODULE` runs them, and so does pytest with `kernpack_cases`. What only an author knows is said with `argument`,
`arguments` and `allow`. Importing this imports neither NumPy nor kernpack: pytest loads it wherever kernpack-sdk is installed.
"""

from typing import TYPE_CHECKING, Any

from kernpack_sdk.testing.inputs import allow, argument, arguments
from kernpack_sdk.testing.plugin import kernpack_cases

if TYPE_CHECKING:
    from kernpack_sdk.testing.values import Draw

__all__ = ["Draw", "allow", "argument", "arguments", "kernpack_cases"]


def __getattr__(name: str) -> Any:
    if name == "Draw":
        from kernpack_sdk.testing.values import Draw

        return Draw
    raise AttributeError(f"module 'kernpack_sdk.testing' has no attribute '{name}'")
