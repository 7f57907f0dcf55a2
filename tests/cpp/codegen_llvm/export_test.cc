// Exported modules: what they need, that they run, what is refused.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "codegen_llvm/support.h"
#include "ir/compiled.h"

namespace ir_test {
namespace {

namespace fs = std::filesystem;
namespace sdk = kernpack::sdk;

class LlvmExport : public testing::Test {
 protected:
  void TearDown() override { unsetenv("KERNPACK_LINKER"); }

  std::string Export(const std::string& text, const std::string& target = "llvm") {
    return CatchMessage([&] { sdk::Export(Parse(text), sdk::Target(target), Path()); });
  }
  std::string Path() const { return folder_.path() / "k.so"; }
  std::string Bytes() const {
    std::ifstream in(Path(), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  Compiled Load() const { return Compiled::Load(Path()); }

  Folder folder_;
};

TEST_F(LlvmExport, RunsAsAnyModule) {
  ASSERT_EQ(Export(kSoftmax), "");
  Array x = Array::Of<float>(kF32, {1, 3}, {1, 2, 3}), out(kF32, {1, 3});
  ASSERT_EQ(Load().Call("softmax", {x.Value(), out.Value()}), "");
  EXPECT_NEAR(out.as<float>()[0], 0.09003057f, 1e-7f);
  EXPECT_NEAR(out.as<float>()[2], 0.66524096f, 1e-7f);
}

TEST_F(LlvmExport, HasAVariantForEachLevel) {
  ASSERT_EQ(Export(kSoftmax), "");
  KpAny variants = kp_none();
  ASSERT_EQ(kp_function_variants(kp_module_function(Load().module(), kp_bytes("softmax")), &variants), 0);
  KpBytes text{};
  ASSERT_TRUE(kp_any_str(&variants, &text));
  const std::string list(text.data, text.size);
  for (const char* const target : {"\"target\":null", "llvm -mcpu=x86-64-v3", "llvm -mcpu=x86-64-v4"}) {
    EXPECT_NE(list.find(target), std::string::npos) << list;
  }
  kp_any_release(&variants);
}

TEST_F(LlvmExport, IsSmall) {
  ASSERT_EQ(Export(kSoftmax), "");
  // Three levels. GNU's linker fills up to a page boundary what becomes read-only; LLVM's does not. 2.6 KB decide exactly whether
  // tensors overlap, under any host.
  const bool fills = std::system("command -v ld.lld > /dev/null") != 0;
  EXPECT_LE(fs::file_size(Path()), (fills ? 46u : 44u) * 1024);
  ASSERT_EQ(Export(kSoftmax, "llvm -mcpu=x86-64-v3"), "");
  EXPECT_LE(fs::file_size(Path()), 40u * 1024);
}

TEST_F(LlvmExport, TheSameModuleGivesTheSameFile) {
  ASSERT_EQ(Export(kSoftmax), "");
  const std::string first = Bytes();
  ASSERT_EQ(Export(kSoftmax), "");
  EXPECT_EQ(first, Bytes());
}

TEST_F(LlvmExport, RefusesCodeThatNeedsALibrary) {
  EXPECT_EQ(Export("module \"m\" func f(a: f64) -> (o: f64[1]) { o[0] = extern(\"cbrt\", f64, a) }").substr(0, 62),
            "ValueError: export: module 'm' needs the function 'cbrt', whic");
  EXPECT_FALSE(fs::exists(Path()));
}

TEST_F(LlvmExport, RefusesMachinesThatItHasNothingFor) {
  const std::string no_frame = Export(kSoftmax, "llvm -mtriple=x86_64-apple-darwin");
  EXPECT_TRUE(no_frame.starts_with("NotImplementedError: export: modules for 'x86_64-apple-darwin")) << no_frame;
  const std::string no_code = Export(kSoftmax, "llvm -mtriple=riscv64-linux-gnu");
  EXPECT_TRUE(no_code.starts_with("ValueError: the generator of kind llvm was built without code for 'riscv64"))
      << no_code;
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(LlvmExport, SaysThatThereIsNoLinker) {
  setenv("KERNPACK_LINKER", "/nonexistent/ld", 1);
  EXPECT_EQ(Export(kSoftmax), "RuntimeError: KERNPACK_LINKER: there is no program '/nonexistent/ld'");
}

TEST_F(LlvmExport, SaysWhatTheLinkerSays) {
  setenv("KERNPACK_LINKER", "/bin/false", 1);
  EXPECT_EQ(Export(kSoftmax), "RuntimeError: export: " + Path() + ": /bin/false failed: ");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

// LLVM's lays files out in another way than GNU's; a compiler hands its options to one of them.
TEST_F(LlvmExport, LoadsWhicheverLinkerMadeIt) {
  for (const std::string linker : {"ld.lld", "ld", "cc"}) {
    if (std::system(("command -v " + linker + " > /dev/null").c_str()) != 0) {
      std::cout << "without " << linker << ", which is not installed\n";
      continue;
    }
    setenv("KERNPACK_LINKER", linker.c_str(), 1);
    ASSERT_EQ(Export(kSoftmax), "") << linker;
    EXPECT_NO_THROW(Load()) << linker;
  }
}

// Two objects and a main program, as who embeds modules has them.
TEST_F(LlvmExport, ObjectsAreLinkedIntoAProgram) {
  for (const std::string name : {"one", "two"}) {
    const std::string factor = name == "one" ? "1.0" : "2.0";
    const std::string text = "module \"" + name +
                             "\" func f(x: f32[N]) -> (o: f32[N]) { parallel i in 0..N { o[i] = x[i] * " + factor +
                             " } }";
    sdk::Export(Parse(text), sdk::Target("llvm"), folder_.path() / (name + ".o"));
  }
  const std::string link = "cd '" + folder_.path().string() +
                           "' && cc -Wall -Werror -I'" FFI_INCLUDE "' '" EMBEDDING_PROGRAM
                           "' one.o two.o '" KERNPACK_LIBRARY
                           "' -o program && LD_LIBRARY_PATH=\"$(dirname '" KERNPACK_LIBRARY "')\" ./program";
  EXPECT_EQ(std::system(link.c_str()), 0);
}

}  // namespace
}  // namespace ir_test
