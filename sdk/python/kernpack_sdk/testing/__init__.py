"""Tests of kernel modules, made from their contracts alone (docs/testing.md).

`kernpack test MODULE` runs them, and so does pytest with `kernpack_cases`. What only an author knows is said with `argument`,
`arguments` and `allow`.
"""

from kernpack_sdk.testing.inputs import allow, argument, arguments
from kernpack_sdk.testing.plugin import kernpack_cases
from kernpack_sdk.testing.values import Draw

__all__ = ["Draw", "allow", "argument", "arguments", "kernpack_cases"]
