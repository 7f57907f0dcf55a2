// Products of small integers: operands are packed into words, of which processors multiply all parts at once.
#include <kernpack/sdk/schedule/default.h>

#include "schedule/support.h"

namespace schedule_test {
namespace {

using kernpack::sdk::Target;

struct SmallIntegers {
  const char *name, *left, *right;
  int parts_with_bytes, parts_without;  // in a word, by the processor; 0: there are none
  const char* sum = "i32";
};

const SmallIntegers kWords[] = {
    {"SignedBytes", "i8", "i8", 4, 2},
    {"UnsignedAndSignedBytes", "u8", "i8", 4, 2},
    {"SignedAndUnsignedBytes", "i8", "u8", 4, 2},
    {"UnsignedBytes", "u8", "u8", 2, 2},
    {"Shorts", "i16", "i16", 2, 2},
    {"ShortsAndBytes", "i16", "u8", 2, 2},
    {"UnsignedShorts", "u16", "i8", 0, 0},
    {"WideSums", "i8", "i8", 0, 0, "i64"},
    {"Words", "i32", "i32", 0, 0},
};

void PrintTo(const SmallIntegers& w, std::ostream* out) { *out << w.name; }

class ScheduleWords : public testing::TestWithParam<SmallIntegers> {};

TEST_P(ScheduleWords, KeepsResults) {
  const SmallIntegers& w = GetParam();
  const std::string sum = w.sum, a = std::string(w.left) == sum ? "a[i, k]" : sum + "(a[i, k])";
  for (const bool transposed : {false, true}) {
    const std::string at = transposed ? "b[j, k]" : "b[k, j]", b = w.right == sum ? at : sum + "(" + at + ")";
    for (const std::string& stored : {sum, std::string("f32")}) {
      const std::string reduced = "reduce(+, k in 0..K, any 16, " + a + " * " + b + ")";
      const IRModule plain =
          Parse("func f(a: " + std::string(w.left) + "[M, K], b: " + w.right + (transposed ? "[N, K]" : "[K, N]") +
                ") -> (o: " + stored + "[M, N]) { for i in 0..M { for j in 0..N { o[i, j] = " +
                (stored == sum ? reduced : "f32(" + reduced + ") * 0.5") + " } } }");
      for (const char* target : {"llvm -mcpu=sapphirerapids", "llvm -mcpu=alderlake", "llvm -mcpu=x86-64-v2",
                                 "llvm -mcpu=cortex-a72 -mtriple=aarch64-linux-gnu", "c -mcpu=x86-64-v4"}) {
        const IRModule scheduled = ScheduleByDefault(plain, Target(target));
        const std::string text = Print(scheduled);
        SCOPED_TRACE(target + ("\n" + text));
        const std::string_view name = target;
        const bool has_bytes = name.ends_with("rapids") || name.ends_with("lake"),
                   has_none = name[0] == 'c' || name.ends_with("gnu");
        const int parts = has_none ? 0 : has_bytes ? w.parts_with_bytes : w.parts_without;
        EXPECT_EQ(text.find("k_word") != std::string::npos, parts > 0);
        EXPECT_EQ(text.find("& 255i32") != std::string::npos, parts == 4);
        for (const std::vector<int64_t>& dims : {std::vector<int64_t>{13, 37, 33}, {4, 8, 70}, {5, 1, 3}, {4, 0, 3}})
          ASSERT_EQ(GetResults(plain.functions[0], dims), GetResults(scheduled.functions[0], dims));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ScheduleWords, testing::ValuesIn(kWords),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace schedule_test
