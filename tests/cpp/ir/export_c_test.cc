// Exported modules of kind c, as a host of the TVM FFI ABI calls them. None is loaded here, so errors have no text;
// tests/python/compiler/test_foreign_host.py has one.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <numeric>

#include "folder.h"
#include "ir/compiled.h"

namespace ir_test {
namespace {

constexpr char kModule[] = R"ir(module "exported"
func sums(x: f32[N, D], k: f32) -> (total: f32[N], scaled: f32[N, D])
signature "(x: f32[N, D], k: float = 2.0) -> (total: f32[N], scaled: f32[N, D])" {
  parallel i in 0..N {
    alloc row: f32[D] workspace
    for j in 0..D { row[j] = x[i, j] * k scaled[i, j] = row[j] }
    total[i] = reduce(+, j in 0..D, any 16, row[j])
  }
}
func swapped(x: u8[N]) -> (y: u8[N], memory: u8[2 * N]) signature "(x: u8[N]) -> (y: u8[N]) with workspace = 2 * N" {
  for i in 0..N { memory[2 * i] = x[i] }
  for i in 0..N { y[i] = memory[2 * (N - 1 - i)] }
})ir";

class ExportedC : public testing::Test {
 protected:
  // With every warning that its users may ask for, which are errors.
  static void SetUpTestSuite() {
    const Environment environment("KERNPACK_CFLAGS", "-O1 -Wall -Wextra -Werror -pedantic -Wno-psabi");
    const Folder folder;
    const std::string path = folder.path() / "exported.so";
    kernpack::sdk::Export(Parse(kModule), kernpack::sdk::Target("c"), path);
    library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
  }
  static KpSafeCall Alias(const std::string& function) {
    return reinterpret_cast<KpSafeCall>(dlsym(library_, (KP_ALIAS_PREFIX + function).c_str()));
  }
  static int Call(const std::string& function, const std::vector<KpAny>& args, KpAny* result) {
    *result = kp_none();
    return Alias(function)(nullptr, args.data(), static_cast<int32_t>(args.size()), result);
  }

 private:
  static inline void* library_ = nullptr;  // never closed: modules stay
};

TEST_F(ExportedC, RunsParallelLoopsWithMemoryOfTheirOwn) {
  Array x(kF32, {7, 40}), total(kF32, {7}), scaled(kF32, {7, 40});
  std::iota(x.as<float>(), x.as<float>() + 280, 0.0f);
  KpAny result;
  ASSERT_EQ(Call("sums", {x.Value(), Float(0.5), total.Value(), scaled.Value()}, &result), 0);
  EXPECT_EQ(total.as<float>()[1], 0.5f * (40 * 40 + 39 * 20));
  EXPECT_EQ(scaled.as<float>()[279], 0.5f * 279);
}

TEST_F(ExportedC, FillsDefaultsAndAllocatesResults) {
  Array x(kF32, {2, 3});
  x.as<float>()[5] = 4;
  KpAny result;
  ASSERT_EQ(Call("sums", {x.Value()}, &result), 0);
  ASSERT_EQ(result.type_index, KP_TYPE_ARRAY);
  const auto* results = reinterpret_cast<const KpSequenceObject*>(result.v.v_obj);
  ASSERT_EQ(results->size, 2);
  EXPECT_EQ(static_cast<const float*>(kp_any_tensor(&results->data[0])->data)[1], 8);
  kp_any_release(&result);
}

TEST_F(ExportedC, GivesTheWorkspaceThatTheContractAsksFor) {
  KpAny result;
  for (const int64_t n : {1, 100, 30}) {
    Array x(kernpack::u8, {n}), y(kernpack::u8, {n});
    std::iota(x.as<uint8_t>(), x.as<uint8_t>() + n, uint8_t{1});
    ASSERT_EQ(Call("swapped", {x.Value(), y.Value()}, &result), 0);
    EXPECT_EQ(y.as<uint8_t>()[0], n);
    EXPECT_EQ(y.as<uint8_t>()[n - 1], 1);
  }
}

TEST_F(ExportedC, RefusesWhatTheContractForbids) {
  Array x(kF32, {2, 3}), total(kF32, {3}), scaled(kF32, {2, 3});
  KpAny result;
  EXPECT_EQ(Call("sums", {x.Value(), Float(1), total.Value(), scaled.Value()}, &result), -1);
  EXPECT_EQ(Call("sums", {total.Value()}, &result), -1);
  EXPECT_EQ(Call("sums", {}, &result), -1);
  EXPECT_EQ(total.as<float>()[0], 0);
}

}  // namespace
}  // namespace ir_test
