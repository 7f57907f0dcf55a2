"""The emulated CUDA device's library, which .cu sources are linked to where KERNPACK_EMULATOR is set: it has the runtime library too."""

from __future__ import annotations

import os
from pathlib import Path

from kernpack._system import library_file

_NAME = library_file("kernpack_cuda_emulator")


def library(who: str) -> Path | None:
    """None where no device is emulated. The same file that the CUDA backend opens (DriverPath in ffi/backends/cuda/driver.cc)."""
    if not os.environ.get("KERNPACK_EMULATOR"):
        return None
    given, here = os.environ.get("KERNPACK_CUDA_DRIVER"), Path(__file__).parent
    places = [Path(given)] if given else [here / _NAME, here.parent / "kernpack_cuda_emulator" / _NAME]
    for place in places:
        if place.is_file():
            return place.resolve()
    raise RuntimeError(
        f"{who}: KERNPACK_EMULATOR is set, but the emulated device's library isn't there: looked for "
        f"{' and '.join(map(str, places))}; pip install kernpack-cuda-emulator, or unset KERNPACK_EMULATOR"
    )


def link_flags(who: str) -> list[str]:
    """nvcc's, in place of libcudart, which calls the system's driver only."""
    found = library(who)
    return [] if found is None else ["-cudart", "none", str(found), "-Xlinker", f"-rpath,{found.parent}"]
