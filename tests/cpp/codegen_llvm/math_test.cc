// Math in the generator of kind llvm, which contracts where the processor can: f64, and types of storage.
#include "ir/math_f64.h"
#include "ir/math_storage.h"

namespace ir_test {
namespace {

TEST(LlvmMath, OfF64StaysWithinItsError) {
  for (const std::string level : {"x86-64-v2", "x86-64-v3"}) {
    if (level == "x86-64-v3" && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) {
      std::printf("this processor has no %s\n", level.c_str());
      continue;
    }
    const Runner run = CompiledColumn("llvm -mcpu=" + level).compile(MathF64("math_f64_llvm_" + level.substr(7)));
    ExpectMathF64("llvm, " + level, run, 1 << 16);
  }
}

TEST(LlvmMath, OfStorageRoundsOnce) {
  ExpectMathOfStorage(CompiledColumn("llvm").compile(MathOfStorage("storage_llvm")));
}

}  // namespace
}  // namespace ir_test
