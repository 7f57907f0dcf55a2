"""PyInstaller's hook: modules and shared objects of kernpack that no Python code imports, without the frameworks that it serves."""

from pathlib import Path

from PyInstaller.utils.hooks import collect_dynamic_libs, get_package_paths

_LEFT_OUT = ("_cli", "_freeze")  # programs of their own

# By their files: PyInstaller's own function would import them, and torch and JAX with them.
_folder = Path(get_package_paths("kernpack")[1])
_files = [file.relative_to(_folder) for file in _folder.rglob("*.py") if file.stem.isidentifier()]
_names = [file.parent if file.stem == "__init__" else file.with_suffix("") for file in _files]
hiddenimports = [".".join(["kernpack", *name.parts]) for name in _names if not str(name).startswith(_LEFT_OUT)]
binaries = collect_dynamic_libs("kernpack")
# Those that the program itself imports are there anyway; kernpack imports them where it meets their arrays.
excludedimports = ["cupy", "jax", "jaxlib", "kernpack_cuda_emulator", "kernpack_sdk", "ml_dtypes", "numpy", "torch"]
