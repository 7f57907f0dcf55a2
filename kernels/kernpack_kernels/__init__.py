"""`kernpack_kernels.rms_norm(x)` is the function of the module beside this file, for arrays of NumPy, PyTorch and JAX.

`kernpack_kernels.torch` and `kernpack_kernels.jax` are imported by name only: the package itself needs neither.
"""

from kernpack import load as _load

_module = _load(__name__)


def __getattr__(name):
    return getattr(_module, name)


def __dir__():
    return [*globals(), *dir(_module)]
