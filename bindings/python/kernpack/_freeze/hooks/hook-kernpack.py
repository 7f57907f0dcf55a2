"""PyInstaller's hook: modules and shared objects of kernpack that no Python code imports, without the frameworks that it serves."""

from PyInstaller.utils.hooks import collect_dynamic_libs, collect_submodules

_LEFT_OUT = ("kernpack._cli", "kernpack._freeze")  # programs of their own

hiddenimports = collect_submodules("kernpack", filter=lambda name: not name.startswith(_LEFT_OUT), on_error="ignore")
binaries = collect_dynamic_libs("kernpack")
# Those that the program itself imports are there anyway; kernpack imports them where it meets their arrays.
excludedimports = ["numpy", "torch", "jax", "jaxlib", "cupy", "kernpack_sdk", "kernpack_cuda_emulator"]
