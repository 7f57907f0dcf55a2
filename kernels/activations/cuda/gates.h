// The arguments of the kernels of gates.cu.
#pragma once

#include "activations/row_activations.h"
#include "common/cuda/layout.h"

namespace kk_cuda {

// From kSwiglu on, the activation is multiplied with `up`.
#define KK_ENUMERATOR(op, Name, text) k##Name,
enum GateKind : int { KK_ROW_ACTIVATIONS(KK_ENUMERATOR) kGelu, kGeluTanh, kSwiglu, kGeglu, kGegluTanh };
#undef KK_ENUMERATOR

struct GateParams {
  RowLayout x, up;
  long long count;  // of results
  int width;
  GateKind kind;
  int flat;  // of x, up and the results each is one row
  int wide;  // 32 bits don't hold `count`
};

}  // namespace kk_cuda
