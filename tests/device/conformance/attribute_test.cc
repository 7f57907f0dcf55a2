// Attributes, properties, the active device, and devices that do not exist.
#include <cstdio>
#include <thread>

#include "support.h"

namespace kernpack_conformance {
namespace {

class AttributeTest : public Conformance {
 protected:
  KpAny Get(int32_t kind) {
    KpAny value = kp_none();
    EXPECT_EQ(api->get_attr(api, device, kind, &value), 0) << TakeError();
    return value;
  }
};

struct Attribute {
  int32_t kind;
  const char* name;
  bool text;
};
constexpr Attribute kAttributes[] = {
    {KP_ATTR_MAX_THREADS_PER_BLOCK, "max_threads_per_block", false},
    {KP_ATTR_WARP_SIZE, "warp_size", false},
    {KP_ATTR_MAX_SHARED_MEMORY_PER_BLOCK, "max_shared_memory_per_block", false},
    {KP_ATTR_COMPUTE_VERSION, "compute_version", true},
    {KP_ATTR_DEVICE_NAME, "device_name", true},
    {KP_ATTR_MAX_CLOCK_RATE, "max_clock_rate", false},
    {KP_ATTR_MULTI_PROCESSOR_COUNT, "multi_processor_count", false},
    {KP_ATTR_MAX_THREAD_DIMENSIONS, "max_thread_dimensions", true},
    {KP_ATTR_MAX_REGISTERS_PER_BLOCK, "max_registers_per_block", false},
    {KP_ATTR_GCN_ARCH, "gcn_arch", true},
    {KP_ATTR_API_VERSION, "api_version", false},
    {KP_ATTR_DRIVER_VERSION, "driver_version", true},
    {KP_ATTR_L2_CACHE_SIZE_BYTES, "l2_cache_size_bytes", false},
    {KP_ATTR_TOTAL_GLOBAL_MEMORY, "total_global_memory", false},
    {KP_ATTR_AVAILABLE_GLOBAL_MEMORY, "available_global_memory", false},
    {KP_ATTR_IMAGE_PITCH_ALIGNMENT, "image_pitch_alignment", false},
};

// Of every kind: nothing, or a value of its type that can be true.
TEST_F(AttributeTest, EveryKindIsNoneOrSound) {
  for (const Attribute& attribute : kAttributes) {
    SCOPED_TRACE(attribute.name);
    KpAny value = Get(attribute.kind);
    if (value.type_index == KP_TYPE_NONE) {
      std::printf("%-28s None\n", attribute.name);
    } else if (attribute.text) {
      EXPECT_FALSE(Text(value).empty());
      std::printf("%-28s %s\n", attribute.name, Text(value).c_str());
    } else {
      EXPECT_EQ(value.type_index, KP_TYPE_INT);
      EXPECT_GE(value.v.v_int, attribute.kind == KP_ATTR_AVAILABLE_GLOBAL_MEMORY ? 0 : 1);
      std::printf("%-28s %lld\n", attribute.name, static_cast<long long>(value.v.v_int));
    }
    kp_any_release(&value);
  }
}

TEST_F(AttributeTest, WhatIsAvailableIsNotMoreThanThereIs) {
  const KpAny total = Get(KP_ATTR_TOTAL_GLOBAL_MEMORY);
  const KpAny available = Get(KP_ATTR_AVAILABLE_GLOBAL_MEMORY);
  if (total.type_index != KP_TYPE_INT || available.type_index != KP_TYPE_INT) GTEST_SKIP() << "not told here";
  EXPECT_LE(available.v.v_int, total.v.v_int);
}

TEST_F(AttributeTest, ThreadDimensionsAreThree) {
  KpAny value = Get(KP_ATTR_MAX_THREAD_DIMENSIONS);
  if (value.type_index == KP_TYPE_NONE) GTEST_SKIP() << "not told here";
  long long x = 0;
  long long y = 0;
  long long z = 0;
  EXPECT_EQ(std::sscanf(Text(value).c_str(), "[%lld, %lld, %lld]", &x, &y, &z), 3) << Text(value);
  EXPECT_TRUE(x >= 1 && y >= 1 && z >= 1);
  kp_any_release(&value);
}

TEST_F(AttributeTest, AnUnknownKindIsAnError) {
  for (const int32_t kind : {-1, KP_DEVICE_ATTR_COUNT, 1000}) {
    KpAny value = kp_none();
    EXPECT_EQ(api->get_attr(api, device, kind, &value), -1);
    EXPECT_EQ(TakeError().rfind("ValueError: ", 0), 0u);
  }
}

TEST_F(AttributeTest, DevicesExistFromZeroToTheCount) {
  for (int32_t id = -2; id < TheSubject().count + 2; ++id) {
    KpAny exists = kp_none();
    KP_OK(kp_device_get_attr({device.device_type, id}, KP_ATTR_EXIST, &exists));
    EXPECT_EQ(exists.type_index, KP_TYPE_BOOL);
    EXPECT_EQ(exists.v.v_int != 0, id >= 0 && id < TheSubject().count) << id;
  }
}

TEST_F(AttributeTest, ADeviceThatDoesNotExistIsAnErrorEverywhere) {
  Memory memory(64);
  for (const int32_t id : {-1, TheSubject().count, 1 << 20}) {
    const KpDLDevice nobody{device.device_type, id};
    const KpMemory from{memory.handle(), 0, nobody};
    const KpMemory to = memory.at();
    void* out = nullptr;
    KpAny value = kp_none();
    EXPECT_EQ(api->alloc(api, nobody, 16, 64, KpBytes{}, &out), -1);
    EXPECT_EQ(api->get_attr(api, nobody, KP_ATTR_DEVICE_NAME, &value), -1);
    EXPECT_EQ(api->copy(api, &from, &to, 16, nullptr), -1);
    EXPECT_EQ(api->fill(api, &from, 16, 0, nullptr), -1);
    EXPECT_EQ(api->stream_sync(api, nobody, nullptr), -1);
    EXPECT_EQ(api->set_device(api, nobody), -1);
    const std::string error = TakeError();
    EXPECT_EQ(error.rfind("ValueError: device ", 0), 0u) << error;
  }
}

TEST_F(AttributeTest, EveryPropertyCanBeAsked) {
  for (const char* const* name = api->properties; name != nullptr && *name != nullptr; ++name) {
    KpAny value = kp_none();
    EXPECT_EQ(api->get_property(api, device, kp_bytes(*name), &value), 0) << *name << ": " << TakeError();
    kp_any_release(&value);
  }
  KpAny value = kp_none();
  KP_OK(api->get_property(api, device, kp_bytes("no such property"), &value));
  EXPECT_EQ(value.type_index, KP_TYPE_NONE);
}

TEST_F(AttributeTest, TheActiveDeviceBelongsToAThread) {
  const int32_t last = TheSubject().count - 1;
  KP_OK(api->set_device(api, {device.device_type, last}));
  int32_t active = -1;
  KP_OK(api->get_device(api, &active));
  EXPECT_EQ(active, last);
  std::thread([&] {
    EXPECT_EQ(api->set_device(api, device), 0) << TakeError();
    int32_t mine = -1;
    EXPECT_EQ(api->get_device(api, &mine), 0);
    EXPECT_EQ(mine, device.device_id);
  }).join();
  KP_OK(api->get_device(api, &active));
  EXPECT_EQ(active, last) << "another thread changed it";
  Memory memory(4096);
  Upload(Pattern(4096), memory.at());
  KP_OK(api->get_device(api, &active));
  EXPECT_EQ(active, last) << "a service changed it";
  KP_OK(api->set_device(api, device));
}

}  // namespace
}  // namespace kernpack_conformance
