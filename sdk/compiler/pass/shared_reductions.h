// Reductions that one loop can compute: over the same range, in statements that follow each other.
#ifndef KERNPACK_SDK_COMPILER_PASS_SHARED_REDUCTIONS_H_
#define KERNPACK_SDK_COMPILER_PASS_SHARED_REDUCTIONS_H_

#include <kernpack/sdk/ir/stmt.h>

#include <functional>

namespace kernpack::sdk::ir {

struct SharedReduction {
  Expr reduction;  // of order `any`; all have as many lanes
  size_t statement;  // its place in the block
};

// Those of block[at] and of the statements after it that can be computed before block[at]: none uses a name or an element that a statement
// in between changes. No more than registers have room for. `is_done`: to be left out. Nothing where block[at] has none.
std::vector<SharedReduction> FindShared(const Block& block, size_t at,
                                        const std::function<bool(size_t statement, const Expr& reduction)>& is_done);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_PASS_SHARED_REDUCTIONS_H_
