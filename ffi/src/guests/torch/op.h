// One kernel function as an operator: what a call needs to know of it, read once.
#ifndef KERNPACK_SRC_GUESTS_TORCH_OP_H_
#define KERNPACK_SRC_GUESTS_TORCH_OP_H_

#include <kernpack/host/host.h>

#include <string>
#include <vector>

#include "guests/torch/shim.h"

namespace kernpack::torch {

struct Op {
  struct Param {
    uint32_t kind;   // KpParamKind
    uint32_t flags;  // KpParamFlags
  };

  const KpLoadedFunction* function;
  std::vector<Param> params;
  int32_t num_results;
  bool has_workspace;
};

// Reads the signature. `function` must have one.
Op DescribeOp(const KpLoadedFunction* function);

// The kernel torch calls: arguments are taken from `stack` and released; results replace them. 0, or -1 with an error raised,
// the arguments released all the same.
int CallOp(const Op& op, Value* stack, uint64_t num_inputs, uint64_t num_outputs) noexcept;

// torch's schema: "rms_norm(Tensor x, ...) -> Tensor". `overload` is "" or "out".
std::string FormatSchema(const Op& op, const char* overload);

// A kernel for torch that calls `op`; nothing else of torch's carries a pointer to us. NULL when all are taken.
BoxedKernel TakeStub(const Op* op);

}  // namespace kernpack::torch

#endif  // KERNPACK_SRC_GUESTS_TORCH_OP_H_
