"""Puts three Triton kernels into one wheel, installs it into a folder, and calls and tests it from there without Triton."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import kernpack_compiler as kc
from triton_kernels import imported

HERE = Path(__file__).resolve().parent


def main():
    with tempfile.TemporaryDirectory() as folder:
        wheel = kc.export_wheel(imported(), folder, "shipped-triton", "1.0.0", summary="Three Triton kernels")
        print(f"{wheel.name}: {wheel.stat().st_size // 1024} KB", flush=True)
        site = Path(folder) / "site"
        install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", site, wheel]
        subprocess.run(install, check=True)
        path = f"{site}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        environment = {"KERNPACK_EMULATOR": "sm_80", **os.environ, "PYTHONPATH": path}
        called = subprocess.run([sys.executable, HERE / "use.py"], env=environment, check=False).returncode
        test = [sys.executable, "-m", "kernpack_sdk", "test", "shipped_triton", "--emulate", "--seed", "17"]
        given = ["--reference", HERE / "right.py"]
        return called or subprocess.run([*test, *given, *sys.argv[1:]], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
