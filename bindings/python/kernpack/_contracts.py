"""Contracts for the functions of a module that has none: from a TOML file or a dict to what the host reads."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from kernpack._suggest import did_you_mean

_KEYS = ("contract", "calls", "args", "grad", "jvp", "doc")
_NAME = re.compile(r"[a-z_][a-z0-9_]*")


class ReadContracts(str):
    """Contracts as the host reads them."""

    __slots__ = ()


def read_contracts(contracts: object) -> ReadContracts:
    """`contracts` of kernpack.load: the path of a TOML file, or a dict of what such a file says."""
    if isinstance(contracts, ReadContracts):  # a pickled module's
        return contracts
    text = None
    where = "contracts"
    if isinstance(contracts, (str, os.PathLike)):
        where = os.path.basename(os.fspath(contracts))
        text = _content(contracts)
        contracts = _parsed(text, where)
    if not isinstance(contracts, Mapping):
        raise TypeError(
            "kernpack.load: contracts: expected the path of a TOML file or a dict of names and contracts, got "
            f"{type(contracts).__name__}"
        )
    if not contracts:
        raise ValueError(f"kernpack.load: {where}: expected at least one contract, got none")
    rows = [_row(name, value, _place(where, text, name)) for name, value in contracts.items()]
    return ReadContracts(json.dumps(rows))


def _content(path: str | os.PathLike[str]) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise ValueError(f"kernpack.load: contracts: expected a TOML file, got '{os.fspath(path)}': {error}") from error
    except OSError as error:
        raise type(error)(
            error.errno, f"kernpack.load: contracts: cannot read the file: {error.strerror}", os.fspath(path)
        ) from None


def _parsed(text: str, where: str) -> dict[str, Any]:
    import tomllib  # only for those who have such a file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"kernpack.load: {where}: expected TOML: {error}") from error


def _place(where: str, text: str | None, name: object) -> str:
    """ "ops.toml, line 3": where the function's name is, since a parsed file doesn't tell."""
    named = re.compile(rf"\s*(\[\s*)?(['\"]?){re.escape(str(name))}\2\s*[\]=.]")
    for number, line in enumerate((text or "").splitlines(), 1):
        if named.match(line):
            return f"{where}, line {number}"
    return where


def _row(name: object, value: object, place: str) -> dict[str, Any]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"kernpack.load: {place}: expected function names of lower-case letters, digits and '_', got {name!r}"
        )
    begin = f"kernpack.load: {place}: {name}: "
    fields = {"contract": value} if isinstance(value, str) else value
    if not isinstance(fields, Mapping):
        raise TypeError(f"{begin}expected a contract or a table with one, got {type(value).__name__}")
    for key in fields:
        if key not in _KEYS:
            hint = did_you_mean(str(key), _KEYS) or f"; there are {', '.join(_KEYS)}"
            raise ValueError(f"{begin}no key '{key}'{hint}")
    for key in ("contract", "calls", "doc"):
        if not isinstance(fields.get(key, ""), str):
            raise TypeError(f"{begin}{key}: expected a string, got {type(fields[key]).__name__}")
    if not fields.get("contract"):
        raise ValueError(f'{begin}expected contract = "(...) -> (...)", got none')
    row: dict[str, Any] = {"name": name, "at": place, **{key: fields[key] for key in _KEYS if key in fields}}
    for key in ("grad", "jvp"):
        if key in row:
            row[key] = _names(row[key], f"{begin}{key}: ")
    if "args" in row:
        row["args"] = _arguments(row["args"], f"{begin}args: ")
    return row


def _names(value: object, begin: str) -> list[str]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not all(isinstance(one, str) and _NAME.fullmatch(one) for one in names):
        raise ValueError(f"{begin}expected the name of a function of this module or a list of them, got {value!r}")
    return list(names)


def _arguments(value: object, begin: str) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{begin}expected a list of what the function takes, got {type(value).__name__}")
    for one in value:
        if not isinstance(one, (str, int, float, type(None))):
            raise TypeError(f"{begin}expected names and numbers, got {type(one).__name__}")
        if isinstance(one, int) and not -(2**63) <= one < 2**63:
            raise OverflowError(f"{begin}expected integers of 64 bits, got {one}")
    return [None if one == "None" else one for one in value]  # TOML has no null
