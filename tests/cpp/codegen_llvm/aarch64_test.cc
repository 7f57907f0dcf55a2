// Modules exported for another processor than this machine's, run under an emulator.
#include <gtest/gtest.h>

#include "codegen_llvm/emulated/machine.h"
#include "differential/agree.h"
#include "ir/semantics.h"

namespace ir_test {
namespace {

class LlvmAarch64 : public testing::Test {
 protected:
  void SetUp() override {
    static const std::string missing = MissingForEmulation();
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
};

void ExpectASoftmax(Emulated* machine) {
  constexpr int64_t kRowsOf = 5, kColumns = 37;
  Array x(kF32, {kRowsOf, kColumns}), out(kF32, {kRowsOf, kColumns});
  for (int64_t i = 0; i < kRowsOf * kColumns; ++i) x.as<float>()[i] = 5 * std::sin(static_cast<float>(i));
  ASSERT_EQ(machine->Call("softmax", {x.Value(), out.Value()}), "");
  for (int64_t row = 0; row < kRowsOf; ++row) {
    const float* in = x.as<float>() + row * kColumns;
    double sum = 0;
    for (int64_t k = 0; k < kColumns; ++k) sum += std::exp(static_cast<double>(in[k]));
    for (int64_t k = 0; k < kColumns; ++k) {
      const double want = std::exp(static_cast<double>(in[k])) / sum;
      EXPECT_NEAR(out.as<float>()[row * kColumns + k], want, 2e-6 * want) << row << ", " << k;
    }
  }
}

TEST_F(LlvmAarch64, LibraryRuns) {
  Emulated machine(Parse(kSoftmax));
  ExpectASoftmax(&machine);
}

TEST_F(LlvmAarch64, ObjectIsLinkedIntoAProgram) {
  Emulated machine(Parse(kSoftmax), "", true);
  ExpectASoftmax(&machine);
}

TEST_F(LlvmAarch64, ArgumentsAreChecked) {
  Emulated machine(Parse(kSoftmax));
  Array x(kF32, {2, 3}), out(kF32, {2, 4});
  EXPECT_EQ(machine.Call("softmax", {x.Value(), out.Value()}),
            "ValueError: softmax: out: dimension 1: expected 3, got 4");
}

TEST_F(LlvmAarch64, SemanticsTable) {
  Emulated machine(Parse(SemanticsModule()));
  for (const Row& row : kRows) {
    RowCase c(row);
    ASSERT_EQ(machine.Call(FunctionOf(row), c.Args()), "");
    EXPECT_TRUE(c.Ok()) << row.expr << " of " << row.a << " and " << row.b << ": expected " << row.want;
  }
}

TEST_F(LlvmAarch64, SemanticsTableInVectors) {
  Emulated machine(Parse(VectorSemanticsModule()));
  for (const Row& row : kRows) {
    RowCase c(row, 19);
    ASSERT_EQ(machine.Call(FunctionOf(row), c.Args()), "");
    EXPECT_TRUE(c.Ok()) << row.expr << " of " << row.a << " and " << row.b << ": expected " << row.want;
  }
}

// It has fused multiply-add on every processor, which this target forbids.
TEST_F(LlvmAarch64, RandomFunctionsAgreeWithTheInterpreter) {
  ExpectAgreementOn("aarch64", 0, {kForeignTarget, [](const IRModule& module) -> Runner {
                                     const auto machine = std::make_shared<Emulated>(module, " -fast-math-contract=0");
                                     return [machine](const std::string& f, const std::vector<KpAny>& args) {
                                       return machine->Call(f, args);
                                     };
                                   }});
}

TEST_F(LlvmAarch64, MissingLinkerIsNamedWithItsPackage) {
  const Folder folder;
  const Environment nothing("PATH", folder.path().c_str());
  const std::string message = CatchMessage(
      [&] { kernpack::sdk::Export(Parse(kSoftmax), kernpack::sdk::Target(kForeignTarget), folder.path() / "k.so"); });
  EXPECT_EQ(message,
            "RuntimeError: export: there is no linker: none of ld.lld, aarch64-linux-gnu-ld was found. Install one "
            "(apt-get install lld, or binutils-aarch64-linux-gnu), or name one with the environment variable "
            "KERNPACK_LINKER");
}

}  // namespace
}  // namespace ir_test
