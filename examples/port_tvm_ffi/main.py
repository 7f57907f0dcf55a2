"""The same calls before the port, by apache-tvm-ffi, and after it. Both modules then run under apache-tvm-ffi."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import kernpack
import numpy as np

HERE = Path(__file__).parent
X = np.random.default_rng(0).standard_normal((3, 5), dtype=np.float32)


def before(folder: str):
    import tvm_ffi
    from tvm_ffi import libinfo

    library = Path(libinfo.find_libtvm_ffi())
    headers = {libinfo.find_include_path(), libinfo.find_dlpack_include_path()}
    options = ["-std=c++17", "-O2", "-shared", "-fPIC", *(f"-I{path}" for path in sorted(headers))]
    link = [str(library), f"-Wl,-rpath,{library.parent}"]
    subprocess.run(["g++", *options, HERE / "before.cc", *link, "-o", f"{folder}/before.so"], check=True)
    return tvm_ffi.load_module(f"{folder}/before.so")


def by_position(module) -> tuple[np.ndarray, ...]:
    """As callers of before.cc do: they allocate the results and pass every argument."""
    q, scale, x = np.empty(X.shape, np.int8), np.empty(3, np.float32), np.empty_like(X)
    module.quantize(X, 100, q, scale)
    module.dequantize(q, scale, x)
    return q, scale, x


def lines(name: str) -> int:
    return sum(bool(line.strip()) for line in (HERE / name).read_text().splitlines())


def main() -> None:
    k = kernpack.load(HERE / "after.cc")
    q, scale = k.quantize(X, largest=100)  # results are allocated
    after = (q, scale, k.dequantize(q, scale))
    print("error of quantizing:", round(float(np.abs(after[2] - X).max()), 3))
    print("lines:", lines("before.cc"), "before,", lines("after.cc"), "after")
    try:
        import tvm_ffi
    except ImportError:
        print("skipped: the comparison needs apache-tvm-ffi (pip install apache-tvm-ffi)")
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, module in (("before", before(folder)), ("after", tvm_ffi.load_module(k.path))):
            same = all(np.array_equal(a, b) for a, b in zip(after, by_position(module), strict=True))
            print(f"{name}, under apache-tvm-ffi: the same results: {same}")


if __name__ == "__main__":
    main()
