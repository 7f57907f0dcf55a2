"""Compiled modules, kept on disk until one of their inputs changes.

An entry is found by its request (request.py): source, command, environment, compiler, machine. It holds while every file
that was read has the same content and none has appeared where one was looked for (record.py). The tools list what they
read (rules.py, assembler.py, linker.py), the preprocessor what it looks for (lookups.py). So nothing that determines the
content is left out of the key, and looking costs milliseconds.
"""

from kernpack_sdk.cache.build import compiled
from kernpack_sdk.cache.compiler import Compiler
from kernpack_sdk.cache.request import Request

__all__ = ["Compiler", "Request", "compiled"]
