"""The functions of a module, read from the file, are those that the loaded module has."""

from __future__ import annotations

from pathlib import Path

import kernpack
import pytest
from kernpack_sdk import table
from kernpack_sdk.audit import Image, tables


def test_what_is_read_from_the_file_is_what_is_loaded() -> None:
    path = Path(kernpack.load("kernpack_kernels").path)
    loaded = table.read(path)
    with Image(path) as image:
        (module,) = tables.modules(image)
    found = [table.Function(v.name, v.target, v.contract, v.doc, v.cxx_types) for v in module.variants]
    assert found == loaded
    assert len(found) > 79
    assert any(len(each.doc or "") > 200 for each in found)


def test_the_table_of_a_file_that_is_named_without_its_folder(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(plain.parent)
    assert [function.name for function in table.read(Path(plain.name))] == ["copy"]
