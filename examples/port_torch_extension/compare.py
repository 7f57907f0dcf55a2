"""segment_csr of torch-scatter 2.1.2 before, and after the port: lines, results and gradients.

python compare.py [torch_scatter-2.1.2.tar.gz]: without the file, pip downloads it. Its C++ files are compiled against libtorch, which
takes minutes.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import kernpack
import torch

HERE = Path(__file__).parent
RELEASE = "torch_scatter-2.1.2"
# Files for CPU tensors, sums, means, minima and maxima; segment_csr.cpp is the binding.
BEFORE = {
    "binding, shapes and gradients": ["csrc/segment_csr.cpp", "csrc/utils.h", "csrc/macros.h", "torch_scatter/segment_csr.py"],
    "kernels": ["csrc/cpu/segment_csr_cpu.cpp", "csrc/cpu/segment_csr_cpu.h", "csrc/cpu/reducer.h", "csrc/cpu/index_info.h", "csrc/cpu/utils.h"],
}  # fmt: skip


def lines(file: Path) -> int:
    """That aren't blank."""
    return sum(bool(line.strip()) for line in file.read_text().splitlines())


def sources(folder: Path) -> Path:
    archive = Path(sys.argv[1]) if len(sys.argv) > 1 else folder / f"{RELEASE}.tar.gz"
    if not archive.is_file():
        pip = ["pip", "download", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "-d", str(folder)]
        subprocess.run([sys.executable, "-m", *pip, "torch-scatter==2.1.2"], check=True)
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    return folder / RELEASE


def build(tree: Path, folder: Path) -> None:
    """torch.ops.torch_scatter, of the two files alone."""
    from torch.utils import cpp_extension

    files = [str(tree / "csrc" / name) for name in ("segment_csr.cpp", "cpu/segment_csr_cpu.cpp")]
    cpp_extension.load("torch_scatter_before", files, build_directory=str(folder), is_python_module=False)


def run(op, src, indptr):
    """The results, and the gradient of their sum weighted by their places."""
    src = src.clone().requires_grad_()
    results = op(src, indptr)
    out = results[0] if isinstance(results, tuple) else results
    (out * torch.arange(out.numel(), dtype=out.dtype).reshape(out.shape)).sum().backward()
    return (*(results if isinstance(results, tuple) else (results,)), src.grad)


def main() -> None:
    k = kernpack.load(HERE / "segment_csr.cc")
    with tempfile.TemporaryDirectory() as name:
        tree = sources(Path(name))
        for what, files in BEFORE.items():
            print(f"before, {what}: {sum(lines(tree / file) for file in files)} lines")
        print(f"after: {lines(HERE / 'segment_csr.cc')} lines")
        build(tree, Path(name))
        for shape, dtype in (((6,), torch.float32), ((6, 3), torch.float64), ((6, 2, 2), torch.float32)):
            src, indptr = torch.randn(shape, dtype=dtype), torch.tensor([0, 2, 2, 5, 6])
            for reduce in ("sum", "mean", "min", "max"):
                op = f"segment_{reduce}_csr"
                theirs = getattr(torch.ops.torch_scatter, op)
                before = run(lambda x, p, op=theirs: op(x, p, None), src, indptr)
                for a, b in zip(before, run(getattr(k, op), src, indptr), strict=True):
                    torch.testing.assert_close(a, b)
    print("results and gradients are the same")


if __name__ == "__main__":
    main()
