// The comment at the head of each pass shows a function before and after it: the pass has to do just that.
#include <kernpack/sdk/ir/pass.h>
#include <kernpack/sdk/ir/verify.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "ir/support.h"

namespace ir_test {
namespace {

constexpr int kBytes = 16;  // of the registers in the comments

struct ShownPass {
  const char* file;
  std::function<IRModule(const IRModule&)> run;
};
void PrintTo(const ShownPass& pass, std::ostream* out) { *out << pass.file; }

std::vector<ShownPass> ShownPasses() {
  return {{"bind_extents", BindExtents},
          {"unroll", Unroll},
          {"reductions", LowerReductions},
          {"vectorize", Vectorize},
          {"expand_math", ExpandMath},
          {"simplify", Simplify},
          {"narrow_loops", [](const IRModule& module) { return NarrowLoops(module, kBytes); }},
          {"split_vectors", [](const IRModule& module) { return SplitVectors(module, kBytes); }},
          {"split_locals", SplitLocals},
          {"check_accesses", [](const IRModule& module) {
             const LabelledModule labelled = LabelAccesses(module);
             return CheckAccesses(labelled.module, labelled.labels);
           }}};
}

// The indented lines of the file's comment behind the one that says `title`.
std::string Shown(const std::string& file, const std::string& title) {
  std::ifstream source(std::filesystem::path(SDK_PASSES) / (file + ".cc"));
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(source, line) && line.starts_with("//");) {
    if (line == "// " + title) {
      inside = true;
    } else if (!line.starts_with("//   ")) {
      inside = false;
    } else if (inside) {
      text += line.substr(5) + "\n";
    }
  }
  return text;
}

class IrPassHeads : public testing::TestWithParam<ShownPass> {};

TEST_P(IrPassHeads, ShowWhatThePassDoes) {
  const std::string before = Shown(GetParam().file, "Before:");
  ASSERT_NE(before, "");
  const IRModule module = Parse(before);
  Verify(module);
  const std::string after = Print(GetParam().run(module));
  EXPECT_EQ(after.substr(after.find("\n\n") + 2), Shown(GetParam().file, "After:"));
}

INSTANTIATE_TEST_SUITE_P(All, IrPassHeads, testing::ValuesIn(ShownPasses()),
                         [](const auto& info) { return std::string(info.param.file); });

}  // namespace
}  // namespace ir_test
