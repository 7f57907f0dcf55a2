"""Functions for the generators of C and of machine code: with a gradient, with scratch memory, with a parameter."""

from kernpack_compiler import ir


@ir.func("(x: f32[N]) -> (y: f32[N])", grad="square_backward")
def square(x, y):
    with ir.parallel(x.shape[0]) as i:
        y[i] = x[i] * x[i]


@ir.func("(d_y: f32[N], x: f32[N]) -> (d_x: f32[N])")
def square_backward(d_y, x, d_x):
    with ir.parallel(x.shape[0]) as i:
        d_x[i] = d_y[i] * 2.0 * x[i]


@ir.func("(x: f32[N], a: f32) -> (out: f32[N])")
def scale(x, a, out):
    with ir.parallel(x.shape[0]) as i:
        out[i] = a * x[i]


@ir.func("(x: f32[N, D]) -> (out: f32[N, D])")
def row_sums(x, out):
    n, d = x.shape
    with ir.parallel(n) as i:
        squares = ir.alloc("f32", [d], "workspace", "squares")
        with ir.serial(d) as j:
            squares[j] = x[i, j] * x[i, j]
        with ir.serial(d) as k:
            out[i, k] = ir.sum(d, lambda j: squares[j])


MODULE = ir.IRModule([square, square_backward, scale, row_sums])
