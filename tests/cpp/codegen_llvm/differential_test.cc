// Random functions, compiled by the generator of kind llvm and interpreted, agree on every bit.
#include "differential/agree.h"

namespace ir_test {
namespace {

class LlvmDifferential : public testing::TestWithParam<uint64_t> {};

TEST_P(LlvmDifferential, AgreesWithTheInterpreter) {
  ExpectAgreementOn("llvm", GetParam(), CompiledColumn("llvm -mcpu=x86-64-v2 -fast-math-contract=0"));
}
INSTANTIATE_TEST_SUITE_P(Batches, LlvmDifferential, testing::Range<uint64_t>(0, kBatches));

class LlvmStageDifferential : public testing::TestWithParam<uint64_t> {};

TEST_P(LlvmStageDifferential, AgreesWithTheInterpreter) {
  ExpectStagesAgreeOn("llvm", GetParam(), CompiledColumn("llvm -mcpu=x86-64-v2 -fast-math-contract=0"));
}
INSTANTIATE_TEST_SUITE_P(Batches, LlvmStageDifferential, testing::Range<uint64_t>(0, kStageBatches));

}  // namespace
}  // namespace ir_test
