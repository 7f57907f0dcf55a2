// A function that several tests of the generator of kind llvm need.
#ifndef KERNPACK_TESTS_CPP_CODEGEN_LLVM_SUPPORT_H_
#define KERNPACK_TESTS_CPP_CODEGEN_LLVM_SUPPORT_H_

#include "folder.h"

namespace ir_test {

inline constexpr char kSoftmax[] = R"(module "rows"
func softmax(x: f32[N, D]) -> (out: f32[N, D]) {
  parallel i in 0..N {
    let m = reduce(max, j in 0..D, any 16, x[i, j])
    vectorized(16, masked) k in 0..D { out[i, k] = exp(x[i, k] - m) }
    let s = reduce(+, j in 0..D, any 16, out[i, j])
    vectorized(16, masked) k in 0..D { out[i, k] = out[i, k] / s }
  }
})";

}  // namespace ir_test

#endif  // KERNPACK_TESTS_CPP_CODEGEN_LLVM_SUPPORT_H_
