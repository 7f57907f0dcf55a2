// Arguments that code of the kind llvm refuses by itself.
#include "ir/refusals.h"

namespace ir_test {
namespace {

TEST(LlvmJit, RefusesByItselfWhatItCannotTake) {
  const Unguarded f(Parse(std::string("module \"refusals_llvm\" ") + Given::kFunction), "llvm");
  ExpectRefusalsAndCalls(f);
}

}  // namespace
}  // namespace ir_test
