// Tensors of any rank in the generator of kind llvm.
#include "ir/any_rank.h"

namespace ir_test {
namespace {

TEST(LlvmAnyRank, Runs) { ExpectAnyRank(CompiledColumn("llvm").compile(AnyRankModule("any_rank_llvm"))); }

}  // namespace
}  // namespace ir_test
