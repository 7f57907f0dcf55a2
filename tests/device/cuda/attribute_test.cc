// Every attribute and property, and which targets a device runs.
#include "backends/cuda/attributes.h"
#include "support.h"

namespace kernpack::cuda {
namespace {

class Facts : public FakeDriver {
 protected:
  static std::string Show(const KpAny& value) {
    KpBytes text{};
    if (value.type_index == KP_TYPE_NONE) return "None";
    if (value.type_index == KP_TYPE_BOOL) return value.v.v_int ? "True" : "False";
    if (value.type_index == KP_TYPE_INT) return std::to_string(value.v.v_int);
    return kp_any_str(&value, &text) ? std::string(text.data, text.size) : "?";
  }
  std::string Attribute(int32_t kind, int32_t id = 0) {
    KpAny value = kp_none();
    EXPECT_EQ(cuda_.get_attr(&cuda_, Cuda(id), kind, &value), 0) << TakeError();
    return Show(value);
  }
  std::string Property(const char* name, int32_t id = 0) {
    KpAny value = kp_none();
    EXPECT_EQ(cuda_.get_property(&cuda_, Cuda(id), B(name), &value), 0) << TakeError();
    return Show(value);
  }
  int32_t Rank(const char* target, int32_t id = 0) {
    why_.clear();
    return MatchTarget(*backend_->Find(id), target, &why_);
  }
  std::string why_;
};

TEST_F(Facts, AttributesAreTheDrivers) {
  const std::pair<int32_t, const char*> table[] = {
      {KP_ATTR_MAX_THREADS_PER_BLOCK, "1024"},
      {KP_ATTR_WARP_SIZE, "32"},
      {KP_ATTR_MAX_SHARED_MEMORY_PER_BLOCK, "49152"},
      {KP_ATTR_COMPUTE_VERSION, "9.0"},
      {KP_ATTR_DEVICE_NAME, "Emulated GPU 0 (sm_90)"},
      {KP_ATTR_MAX_CLOCK_RATE, "1980000"},
      {KP_ATTR_MULTI_PROCESSOR_COUNT, "132"},
      {KP_ATTR_MAX_THREAD_DIMENSIONS, "[1024, 1024, 64]"},
      {KP_ATTR_MAX_REGISTERS_PER_BLOCK, "65536"},
      {KP_ATTR_GCN_ARCH, "None"},
      {KP_ATTR_API_VERSION, "13050"},
      {KP_ATTR_DRIVER_VERSION, "None"},
      {KP_ATTR_L2_CACHE_SIZE_BYTES, "52428800"},
      {KP_ATTR_TOTAL_GLOBAL_MEMORY, "268435456"},
      {KP_ATTR_AVAILABLE_GLOBAL_MEMORY, "268435456"},
      {KP_ATTR_IMAGE_PITCH_ALIGNMENT, "None"},
      {KP_DEVICE_ATTR_COUNT, "None"},
  };
  static_assert(std::size(table) == KP_DEVICE_ATTR_COUNT, "EXIST is the host's; the last row is beyond the end");
  for (const auto& [kind, wanted] : table) EXPECT_EQ(Attribute(kind), wanted) << kind;
  EXPECT_EQ(Attribute(KP_ATTR_COMPUTE_VERSION, 1), "8.0");
  EXPECT_EQ(Attribute(KP_ATTR_DEVICE_NAME, 1), "Emulated GPU 1 (sm_80)");
}

TEST_F(Facts, NeedNoContextButFreeMemory) {
  for (int32_t kind = 1; kind < KP_DEVICE_ATTR_COUNT; ++kind) {
    if (kind != KP_ATTR_AVAILABLE_GLOBAL_MEMORY) Attribute(kind);
  }
  EXPECT_EQ(kernpack_emulator_live("contexts"), 0);
}

TEST_F(Facts, WhatTheDriverDoesNotKnowIsNone) {
  kernpack_emulator_fail("cuDeviceGetAttribute", kInvalidValue, 0, 1);
  EXPECT_EQ(Attribute(KP_ATTR_MAX_CLOCK_RATE), "None");
  kernpack_emulator_fail("cuDeviceGetAttribute", kUnknown, 0, 1);
  KpAny value = kp_none();
  EXPECT_EQ(cuda_.get_attr(&cuda_, Cuda(), KP_ATTR_MAX_CLOCK_RATE, &value), -1);
  EXPECT_SAYS(TakeError(), "while asking for an attribute");
}

TEST_F(Facts, PropertiesAreTheDrivers) {
  EXPECT_EQ(Property("arch"), "sm_90");
  EXPECT_EQ(Property("arch", 1), "sm_80");
  EXPECT_EQ(Property("max_shared_memory_per_block_optin"), "232448");
  EXPECT_EQ(Property("clusters"), "True");
  EXPECT_EQ(Property("clusters", 1), "False");
  EXPECT_EQ(Property("memory_pools"), "True");
  EXPECT_EQ(Property("managed_memory"), "True");
  EXPECT_EQ(Property("concurrent_managed_access"), "True");
  EXPECT_EQ(Property("pool_used_bytes"), "0");
  EXPECT_EQ(Property("something_else"), "None");
  for (const char* const* name = cuda_.properties; *name != nullptr; ++name)
    EXPECT_NE(Property(*name), "None") << *name;
}

TEST_F(Facts, TheActiveDeviceIsTheOneSet) {
  int32_t id = -1;
  EXPECT_EQ(cuda_.get_device(&cuda_, &id), 0);
  EXPECT_EQ(id, 0);
  EXPECT_EQ(cuda_.set_device(&cuda_, Cuda(1)), 0) << TakeError();
  EXPECT_EQ(cuda_.get_device(&cuda_, &id), 0);
  EXPECT_EQ(id, 1);
  Free(Alloc(16, Cuda(0)), Cuda(0));
  EXPECT_EQ(cuda_.get_device(&cuda_, &id), 0);
  EXPECT_EQ(id, 1) << "another service changed it";
}

// On a device that says nothing of its being emulated.
class Targets : public Facts {
  void Configure() override { kernpack_emulator_set("disguised", 1); }
};

TEST_F(Facts, TheEmulatedDeviceRunsNoMachineCode) {
  EXPECT_GT(Rank("cuda -arch=compute_90"), Rank("cuda -arch=compute_80"));
  EXPECT_EQ(Rank("cuda -arch=sm_90"), -1);
  EXPECT_EQ(why_, "the emulated device runs PTX only, as -arch=compute_80 makes it");
}

TEST_F(Targets, ThatRunRankBySpecificity) {
  EXPECT_GT(Rank("cuda"), 0);
  EXPECT_GT(Rank("cuda -arch=sm_90a"), Rank("cuda -arch=sm_90"));
  EXPECT_GT(Rank("cuda -arch=sm_90"), Rank("cuda -arch=compute_90"));
  EXPECT_GT(Rank("cuda -arch=compute_90"), Rank("cuda -arch=compute_80"));
  EXPECT_GT(Rank("cuda -arch=compute_75"), Rank("cuda"));
  Rank("cuda");
  EXPECT_EQ(why_, "any cuda");
  EXPECT_GT(Rank("cuda -keys=cuda,gpu -arch=sm_90 -max_num_threads=1024 -host='llvm -mcpu=x86-64-v3'"), Rank("cuda"));
}

TEST_F(Targets, ThatDoNotRunSayWhy) {
  const std::pair<const char*, const char*> cases[] = {
      {"cuda -arch=sm_80", "the device is sm_90"},
      {"cuda -arch=sm_100", "the device is sm_90"},
      {"cuda -arch=compute_100", "the device is sm_90"},
      {"cuda -arch=gfx90a", "architecture gfx90a is not known to this version"},
      {"cuda -arch=sm_", "architecture sm_ is not known to this version"},
      {"cuda -max_num_threads=2048", "max_num_threads of the device is 1024"},
      {"cuda -max_shared_memory_per_block=1000000", "max_shared_memory_per_block of the device is 232448"},
      {"cuda -max_num_threads=many", "max_num_threads of the device is 1024"},
      {"cuda -colour=red", "option -colour is not known to this version"},
      {"llvm", "it is for llvm"},
      {"", "the target is empty"},
      {"cuda -host='llvm", "unclosed quote '"},
      {"cuda arch=sm_90", "expected an option, got arch=sm_90"},
  };
  for (const auto& [target, words] : cases) {
    EXPECT_EQ(Rank(target), -1) << target;
    EXPECT_EQ(why_, words);
  }
  EXPECT_EQ(Rank("cuda -arch=sm_90", 1), -1);
}

}  // namespace
}  // namespace kernpack::cuda
