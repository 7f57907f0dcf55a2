"""Python imports this module when it starts under `python -m kernpack_cuda_emulator run`: torch's operators then run on the CPU. The
environment's own sitecustomize comes first."""

import importlib.util
import os
import sys

_folder = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _folder]
_this = sys.modules.pop("sitecustomize")
try:
    import sitecustomize  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "sitecustomize":
        raise
    sys.modules["sitecustomize"] = _this  # which the import of this module takes from there
# By its path: the program's environment may lack the package.
_spec = importlib.util.spec_from_file_location(
    "_kernpack_torch_operators", os.path.join(os.path.dirname(_folder), "torch_operators.py")
)
if _spec is not None and _spec.loader is not None:
    _module = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(_module)
    _module.watch()
