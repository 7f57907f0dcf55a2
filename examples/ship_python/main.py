"""Puts the ten kernels into one wheel, installs it into a folder, and calls them from there in a process without the compiler."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import kernpack_compiler as kc
from ten_kernels import KERNELS, softmax_backward

HERE = Path(__file__).resolve().parent


def write_wheel(folder, targets):
    """The path of a wheel with code for these targets."""
    functions = [kernel.func for kernel in (*KERNELS, softmax_backward)]
    module = kc.ir.IRModule(functions, "shipped_kernels")
    built = [kc.build(module, target) for target in targets]
    return kc.export_wheel(built, folder, "shipped-kernels", "1.0.0", summary="Ten kernels in plain Python")


def main(targets):
    """targets: such as llvm and cuda; a wheel can have code for several."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = write_wheel(folder, targets)
        print(f"{wheel.name}: {wheel.stat().st_size // 1024} KB")
        site = Path(folder) / "site"
        install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", site, wheel]
        subprocess.run(install, check=True)
        environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
        return subprocess.run([sys.executable, HERE / "use.py"], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["llvm"]))
