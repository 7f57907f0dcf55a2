// The lanes of `vectorized` loops are reduced to those that fit into registers of so many bytes. Here of 16:
// Before:
//   func f(x: f32[N]) -> (o: f32[N]) {
//     vectorized(16) i in 0..N {
//       o[i] = x[i] * 2.0
//     }
//   }
// After:
//   func f(x: f32[N]) -> (o: f32[N]) {
//     vectorized(4) i in 0..N {
//       o[i] = x[i] * 2.0
//     }
//   }
#include <kernpack/sdk/ir/pass.h>

#include <algorithm>

#include "ir/uses.h"
#include "pass/each.h"

namespace kernpack::sdk::ir {
namespace {

class LoopNarrower : public Mutator {
 public:
  explicit LoopNarrower(int bytes) : bytes_(bytes) {}

  void MutateStmt(const Stmt& s, Block* out) override {
    Mutator::MutateStmt(s, out);
    const StmtNode& made = *out->back();
    if (made.kind != StmtKind::kFor || made.for_kind != ForKind::kVectorized) return;
    StmtNode copy = made;
    copy.lanes = std::min(made.lanes, CountLanes(made.body, bytes_));
    out->back() = std::make_shared<const StmtNode>(std::move(copy));
  }

 private:
  const int bytes_;
};

}  // namespace

IRModule NarrowLoops(const IRModule& module, int bytes) { return RewriteEach<LoopNarrower>(module, bytes); }

}  // namespace kernpack::sdk::ir
