"""`kernpack check`: what is true of a wheel or a shared object, anybody's, and what has to be mended. Nothing is loaded or run."""

from kernpack_sdk.audit.binary import Finding
from kernpack_sdk.audit.image import Image

__all__ = ["Finding", "Image"]
