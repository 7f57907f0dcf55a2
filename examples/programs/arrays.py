"""The meaning of +, @, reshape and similar operations in a traced program: NumPy's, as foreign functions that write to a destination."""

import numpy as np
from kernpack_compiler import program


def _function(name, signature):
    """A foreign function that is given NumPy views of its tensors."""

    def decorate(body):
        def call(*arguments):
            body(*(a.numpy() if hasattr(a, "numpy") else a for a in arguments))

        return program.foreign(f"arrays.{name}", signature)(call)

    return decorate


@_function("add", "(x: f32[*S], y: f32[*S]) -> (out: f32[*S])")
def _add(x, y, out):
    np.add(x, y, out=out)


@_function("add_bias", "(x: f32[..., D], bias: f32[D]) -> (out: f32[..., D])")
def _add_bias(x, bias, out):
    np.add(x, bias, out=out)


@_function("scale", "(x: f32[...], by: float) -> (out: f32[...])")
def _scale(x, by, out):
    np.multiply(x, by, out=out)


@_function("linear", "(x: f32[..., K], weight: f32[N, K]) -> (out: f32[..., N])")
def _linear(x, weight, out):
    np.matmul(x, weight.T, out=out)


@_function("matmul", "(x: f32[..., M, K], y: f32[..., K, N]) -> (out: f32[..., M, N])")
def _matmul(x, y, out):
    np.matmul(x, y, out=out)


@_function("reshape3", "(x: f32[*S], a: int, b: int, c: int) -> (out: f32[a, b, c])")
def _reshape3(x, a, b, c, out):
    np.copyto(out, x.reshape(a, b, c))


@_function("reshape4", "(x: T[*S], a: int, b: int, c: int, d: int) -> (out: T[a, b, c, d]) where T in {f32, bool}")
def _reshape4(x, a, b, c, d, out):
    np.copyto(out, x.reshape(a, b, c, d))


@_function("swap_middle", "(x: f32[A, B, C, D]) -> (out: f32[A, C, B, D])")
def _swap_middle(x, out):
    np.copyto(out, x.swapaxes(1, 2))


@_function("swap_last", "(x: f32[A, B, C, D]) -> (out: f32[A, B, D, C])")
def _swap_last(x, out):
    np.copyto(out, x.swapaxes(2, 3))


@_function("is_nonzero", "(x: i32[*S]) -> (out: bool[*S])")
def _is_nonzero(x, out):
    np.not_equal(x, 0, out=out)


class Transposed:
    """A matrix that is only ever multiplied with, so nobody moves its elements."""

    def __init__(self, matrix):
        self.matrix = matrix


class Operators:
    """The operators that ../minilm/model.py uses on its arrays, by NumPy's names."""

    def add(self, x, y):
        return _add_bias(x, y) if y.ndim < x.ndim else _add(x, y)

    def multiply(self, x, by):
        return _scale(x, by)

    def matmul(self, x, y):
        return _linear(x, y.matrix) if isinstance(y, Transposed) else _matmul(x, y)

    def transpose(self, x):
        return Transposed(x)

    def reshape(self, x, shape):
        return {3: _reshape3, 4: _reshape4}[len(shape)](x, *shape)

    def swapaxes(self, x, first, second):
        return {(1, 2): _swap_middle, (2, 3): _swap_last}[first, second](x)

    def not_equal(self, x, zero):
        return _is_nonzero(x)
