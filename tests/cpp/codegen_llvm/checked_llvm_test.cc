// Checked builds of the kind llvm.
#include <gtest/gtest.h>

#include "differential/agree.h"
#include "ir/checked.h"
#include "folder.h"

namespace ir_test {
namespace {

TEST(LlvmChecked, Raises) {
  const Compiled compiled(Unchecked("llvm"), "llvm", {.checked = true});
  ExpectCheckedCalls(Unchecked("llvm"),
                     [&](const std::string& f, const std::vector<KpAny>& args) { return compiled.Call(f, args); });
}

TEST(LlvmChecked, IsExported) {
  const Folder folder;
  const std::string path = (folder.path() / "gathers.so").string();
  const IRModule module = Parse("module \"checked_export\" func f(x: i64[N], k: i64) -> (o: i64[1]) { o[0] = x[k] }");
  kernpack::sdk::Export(module, kernpack::sdk::Target("llvm"), path, {.checked = true});
  Array x = Array::Of<int64_t>(kI64, {2}, {5, 6}), o(kI64, {1});
  const Compiled loaded = Compiled::Load(path);
  EXPECT_EQ(loaded.Call("f", {x.Value(), Int(1), o.Value()}), "");
  EXPECT_EQ(o.as<int64_t>()[0], 6);
  EXPECT_EQ(loaded.Call("f", {x.Value(), Int(2), o.Value()}),
            "IndexError: f: x[k]: index 2 is out of range for axis 0 of extent 2");
}

TEST(LlvmChecked, ComputesTheSame) {
  IRModule module{"checked_llvm_random", "", {}};
  for (uint64_t seed = 0; seed < 4; ++seed) {
    for (PrimFunc& f : RandomFunction(seed).Make()) module.functions.push_back(std::move(f));
  }
  const Runner want = Interpreted(Lower(module));
  const Compiled compiled(module, "llvm -fast-math-contract=0", {.checked = true});
  for (const PrimFunc& f : module.functions) {
    if (f->is_private) continue;
    EXPECT_EQ(
        Difference(*f, want,
                   [&](const std::string& name, const std::vector<KpAny>& args) { return compiled.Call(name, args); }),
        "")
        << f->name;
  }
}

}  // namespace
}  // namespace ir_test
