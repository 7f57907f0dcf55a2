"""Python imports this module when it starts under `python -m kernpack_cuda_emulator run`: torch's operators then run on the CPU,
and kernels are linked by the driver. The environment's own sitecustomize comes first."""

import importlib
import os
import sys
import types

_folder = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _folder]
_this = sys.modules.pop("sitecustomize")
try:
    import sitecustomize  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "sitecustomize":
        raise
    sys.modules["sitecustomize"] = _this  # which the import of this module takes from there
# By its folder, under another name: the program's environment may lack the package.
_package = types.ModuleType("_kernpack_cuda_emulator")
_package.__path__ = [os.path.dirname(_folder)]
sys.modules[_package.__name__] = _package
for _name, _start in (("torch_operators", "watch"), ("imports", "link_by_driver")):
    getattr(importlib.import_module(f"{_package.__name__}.{_name}"), _start)()
