"""Where a Python package has put NVRTC, which the generator of kind `cuda` compiles with."""

import importlib.util
from pathlib import Path


def find() -> str:
    """The path of libnvrtc.so.* of an installed wheel (nvidia-cuda-nvrtc, nvidia-cuda-nvrtc-cu12), the newest; "" where there is none."""
    spec = importlib.util.find_spec("nvidia")
    found = [
        library
        for folder in (spec.submodule_search_locations or () if spec else ())
        for library in Path(folder).glob("*/lib/libnvrtc.so.*")
        if "alt" not in library.name
    ]
    return str(max(found, key=lambda library: int(library.name.rsplit(".", 1)[-1]))) if found else ""
