// The activations of one tensor, element by element. A row declares the op, with its gradient, on every device; the functions of its name
// are in cpu/activations.h and cuda/activations.cuh. scripts/add-op writes a row and all that belongs to it.
#pragma once

// X(op, Name, text): the op and `op`_backward, the name of its functions, its documentation.
#define KK_ROW_ACTIVATIONS(X)                                   \
  X(silu, Silu, "x / (1 + exp(-x)). x may be strided.")         \
  X(relu2, ReluSquared, "max(x, 0) squared. x may be strided.") \
  X(mish, Mish, "x tanh(log(1 + exp(x))). x may be strided.")
