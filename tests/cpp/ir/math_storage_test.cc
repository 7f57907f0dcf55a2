// Math of storage types in the interpreter and in the generator of kind c.
#include "ir/math_storage.h"

namespace ir_test {
namespace {

TEST(IrMathStorage, TheInterpreterRoundsOnce) { ExpectMathOfStorage(Interpreted(MathOfStorage("storage"))); }

TEST(IrMathStorage, TheKindCRoundsOnce) {
  ExpectMathOfStorage(CompiledColumn("c").compile(MathOfStorage("storage_c")));
}

}  // namespace
}  // namespace ir_test
