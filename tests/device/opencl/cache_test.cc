// Compiled programs on disk: found again, made again when damaged, and loadable as binaries.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fixture.h"

namespace kernpack_test {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHeader = 18 + 64;  // bytes before the program: what it is, and its digest

class OpenclCacheTest : public OpenclTest {
 protected:
  void SetUp() override {
    OpenclTest::SetUp();
    const char* before = std::getenv("KERNPACK_CACHE_DIR");
    before_ = before != nullptr ? before : "";
    folder_ = fs::path(testing::TempDir()) / ("opencl_cache_" + std::to_string(getpid()));
    setenv("KERNPACK_CACHE_DIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    if (before_.empty()) {
      unsetenv("KERNPACK_CACHE_DIR");
    } else {
      setenv("KERNPACK_CACHE_DIR", before_.c_str(), 1);
    }
    fs::permissions(folder_, fs::perms::owner_all, ignored_);
    fs::remove_all(folder_, ignored_);
    OpenclTest::TearDown();
  }

  // Loads kScaleSource, checks that it runs, and forgets it.
  void LoadAndRun() {
    void* code = LoadSource(kScaleSource);
    Run(code);
    Unload(code);
  }
  void Run(void* code, float expected = 6) {
    void* x = Upload({3});
    void* y = Upload({0});
    const float a = 2;
    const int n = 1;
    ASSERT_EQ(Launch(Kernel(code, "scale"), 1, 1, {MemoryArg(y), MemoryArg(x), ValueArg(a), ValueArg(n)}), 0)
        << TakeError();
    EXPECT_EQ(Download(y, 1), std::vector<float>{expected});
    Free(x);
    Free(y);
  }
  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    if (fs::exists(folder_)) {
      for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
      }
    }
    return files;
  }
  static std::string Read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  static void Write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  fs::path folder_;
  std::string before_;
  std::error_code ignored_;
};

TEST_F(OpenclCacheTest, KeepsOneProgramASourceAndOptions) {
  EXPECT_TRUE(Files().empty());
  LoadAndRun();
  ASSERT_EQ(Files().size(), 1U);
  const auto written = fs::last_write_time(Files()[0]);
  LoadAndRun();
  ASSERT_EQ(Files().size(), 1U);
  EXPECT_EQ(fs::last_write_time(Files()[0]), written) << "it was read, not made again";
  Unload(LoadSource(kScaleSource, "-DOTHER=1"));
  EXPECT_EQ(Files().size(), 2U);
}

TEST_F(OpenclCacheTest, MakesDamagedFilesAgain) {
  LoadAndRun();
  const fs::path file = Files().at(0);
  const std::string whole = Read(file);
  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 1;
  for (const std::string& damaged : {std::string(), whole.substr(0, 20), whole.substr(0, whole.size() - 1), flipped}) {
    Write(file, damaged);
    LoadAndRun();
    EXPECT_GT(Read(file).size(), kHeader);
    EXPECT_NE(Read(file), damaged);
  }
}

TEST_F(OpenclCacheTest, KeepsNothingOfASourceThatIncludesFiles) {
  fs::create_directories(folder_);
  const fs::path header = folder_ / "factor.h";
  const std::string source =
      "#include \"factor.h\"\n"
      "__kernel void scale(__global float* y, ulong y0, __global const float* x, ulong x0, float a, int n) {\n"
      "  if (get_global_id(0) < n) y[y0 + get_global_id(0)] = FACTOR * a * x[x0 + get_global_id(0)];\n}\n";
  for (const char* factor : {"1", "2"}) {
    Write(header, std::string("#define FACTOR ") + factor + "\n");
    void* code = LoadSource(source, "-I" + folder_.string());
    Run(code, 6 * std::stof(factor));
    Unload(code);
  }
  EXPECT_EQ(Files(), std::vector<fs::path>{header});
}

TEST_F(OpenclCacheTest, CompilesAgainWhereTheCompilersEnvironmentIsAnother) {
  LoadAndRun();
  setenv("POCL_KERNPACK_TEST", "1", 1);
  LoadAndRun();
  unsetenv("POCL_KERNPACK_TEST");
  EXPECT_EQ(Files().size(), 2U);
}

TEST_F(OpenclCacheTest, IsItsUsersAlone) {
  const mode_t before = umask(0);
  LoadAndRun();
  umask(before);
  const fs::path file = Files().at(0);
  EXPECT_EQ(fs::status(file.parent_path()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(file).permissions() & (fs::perms::group_all | fs::perms::others_all), fs::perms::none);
  const auto written = fs::last_write_time(file);
  fs::permissions(file, fs::perms::owner_all | fs::perms::others_write);
  LoadAndRun();
  EXPECT_NE(fs::last_write_time(file), written) << "others could have written it, so it was made again";
}

TEST_F(OpenclCacheTest, DoesWithoutAFolder) {
  setenv("KERNPACK_CACHE_DIR", "/proc/kernpack_cannot_be_here", 1);
  LoadAndRun();
}

TEST_F(OpenclCacheTest, BinariesLoadWithoutTheirSource) {
  LoadAndRun();
  const std::string program = Read(Files().at(0)).substr(kHeader);
  void* code = nullptr;
  ASSERT_EQ(api->load_code(api, device, AsBytes(program), kp_bytes("clbin"), kp_bytes(""), &code), 0) << TakeError();
  Run(code);
  Unload(code);
}

}  // namespace
}  // namespace kernpack_test

#ifdef __SANITIZE_ADDRESS__
// PoCL and the LLVM inside it keep memory of the programs that they compile; these leaks aren't ours.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:libpocl\nleak:libLLVM\n";
}
#endif
