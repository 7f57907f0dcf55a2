"""The operations that the model of ../minilm asks for, layer norm, softmax and GELU of them on a device."""

import time
from contextlib import contextmanager

import kernpack
import numpy as np


class Timed:
    """Adds up the seconds spent in each operation."""

    def __init__(self, kernels):
        self.kernels = kernels
        self.seconds = {"layer_norm": 0.0, "softmax": 0.0, "gelu": 0.0}

    @contextmanager
    def clock(self, name):
        start = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - start

    def layer_norm(self, x, weight, bias, *, eps):
        with self.clock("layer_norm"):
            return self.kernels.layer_norm(x, weight, bias, eps=eps)

    def softmax(self, x, keep):
        with self.clock("softmax"):
            return self.kernels.softmax(x, keep)

    def gelu(self, x):
        with self.clock("gelu"):
            return self.kernels.gelu(x)

    def __getattr__(self, name):  # look-ups, pooling and normalising stay on the CPU
        return getattr(self.kernels, name)


class OnDevice(Timed):
    """Arrays go to the device and results come back; weights go once."""

    def __init__(self, kernels, device_kernels, device):
        super().__init__(kernels)
        self.device_kernels = device_kernels
        self.device = device
        self._weights = {}

    def _there(self, array):
        return kernpack.from_dlpack(np.ascontiguousarray(array), self.device)

    def _weight(self, array):
        if id(array) not in self._weights:
            self._weights[id(array)] = array, self._there(array)  # the array too, or another could get its id
        return self._weights[id(array)][1]

    @staticmethod
    def _here(tensor):
        return tensor.to("cpu").numpy()

    def layer_norm(self, x, weight, bias, *, eps):
        with self.clock("layer_norm"):
            there = self._there(x)
            return self._here(self.device_kernels.layer_norm(there, self._weight(weight), self._weight(bias), eps=eps))

    def softmax(self, x, keep):
        with self.clock("softmax"):
            there = self._there(x)
            return self._here(self.device_kernels.softmax(there, self._there(keep.reshape(x.shape[0], x.shape[-1]))))

    def gelu(self, x):
        with self.clock("gelu"):
            return self._here(self.device_kernels.gelu(self._there(x)))
