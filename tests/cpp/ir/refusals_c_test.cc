// Arguments that code of the kind c refuses by itself.
#include "ir/refusals.h"

namespace ir_test {
namespace {

TEST(IrModuleC, RefusesByItselfWhatItCannotTake) {
  const Unguarded f(Parse(std::string("module \"refusals_c\" ") + Given::kFunction), "c");
  ExpectRefusalsAndCalls(f);
}

}  // namespace
}  // namespace ir_test
