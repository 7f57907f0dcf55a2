// Every attribute: what OpenCL can tell, and NONE for what it cannot.
#include "fixture.h"

namespace kernpack_test {
namespace {

struct Expected {
  int32_t kind;
  int32_t type;  // of the value
};

TEST_F(OpenclTest, AnswersEveryAttribute) {
  const Expected table[] = {
      {KP_ATTR_EXIST, KP_TYPE_BOOL},
      {KP_ATTR_MAX_THREADS_PER_BLOCK, KP_TYPE_INT},
      {KP_ATTR_WARP_SIZE, KP_TYPE_NONE},
      {KP_ATTR_MAX_SHARED_MEMORY_PER_BLOCK, KP_TYPE_INT},
      {KP_ATTR_COMPUTE_VERSION, KP_TYPE_STR},
      {KP_ATTR_DEVICE_NAME, KP_TYPE_STR},
      {KP_ATTR_MAX_CLOCK_RATE, KP_TYPE_INT},
      {KP_ATTR_MULTI_PROCESSOR_COUNT, KP_TYPE_INT},
      {KP_ATTR_MAX_THREAD_DIMENSIONS, KP_TYPE_STR},
      {KP_ATTR_MAX_REGISTERS_PER_BLOCK, KP_TYPE_NONE},
      {KP_ATTR_GCN_ARCH, KP_TYPE_NONE},
      {KP_ATTR_API_VERSION, KP_TYPE_INT},
      {KP_ATTR_DRIVER_VERSION, KP_TYPE_STR},
      {KP_ATTR_TOTAL_GLOBAL_MEMORY, KP_TYPE_INT},
      {KP_ATTR_AVAILABLE_GLOBAL_MEMORY, KP_TYPE_NONE},
  };
  for (const Expected& row : table) {
    Value value;
    ASSERT_EQ(api->get_attr(api, device, row.kind, value.out()), 0) << TakeError();
    KpBytes text;
    const int32_t type = kp_any_str(&value.get(), &text) ? KP_TYPE_STR : value->type_index;
    EXPECT_EQ(type, row.type) << "attribute " << row.kind;
    if (type == KP_TYPE_INT) {
      EXPECT_GT(value->v.v_int, 0) << "attribute " << row.kind;
    }
    if (type == KP_TYPE_STR) {
      EXPECT_GT(text.size, 0U) << "attribute " << row.kind;
    }
  }
  // Devices may have neither a cache nor images made from buffers.
  for (const int32_t kind : {KP_ATTR_L2_CACHE_SIZE_BYTES, KP_ATTR_IMAGE_PITCH_ALIGNMENT}) {
    Value value;
    ASSERT_EQ(api->get_attr(api, device, kind, value.out()), 0) << TakeError();
    EXPECT_TRUE(value->type_index == KP_TYPE_NONE || value->v.v_int > 0) << "attribute " << kind;
  }
}

TEST_F(OpenclTest, VersionsAgree) {
  Value number;
  Value text;
  ASSERT_EQ(api->get_attr(api, device, KP_ATTR_API_VERSION, number.out()), 0);
  ASSERT_EQ(api->get_attr(api, device, KP_ATTR_COMPUTE_VERSION, text.out()), 0);
  EXPECT_GE(number->v.v_int, 120);
  EXPECT_EQ(Str(text.get()), std::to_string(number->v.v_int / 100) + "." + std::to_string(number->v.v_int / 10 % 10));
}

TEST_F(OpenclTest, AnswersEveryProperty) {
  ASSERT_NE(api->properties, nullptr);
  for (const char* const* name = api->properties; *name != nullptr; ++name) {
    Value value;
    EXPECT_EQ(api->get_property(api, device, kp_bytes(*name), value.out()), 0) << *name << ": " << TakeError();
  }
  Value unknown;
  EXPECT_EQ(api->get_property(api, device, kp_bytes("colour"), unknown.out()), 0);
  EXPECT_EQ(unknown->type_index, KP_TYPE_NONE);
  Value type;
  ASSERT_EQ(api->get_property(api, device, kp_bytes("type"), type.out()), 0);
  EXPECT_NE(std::string("gpu accelerator cpu other").find(Str(type.get())), std::string::npos);
}

TEST_F(OpenclTest, DevicesThatDoNotExistAreRefused) {
  for (const int32_t id : {-1, device.device_id + 1, INT32_MAX}) {
    Value value;
    EXPECT_EQ(api->get_attr(api, {KP_DEVICE_OPENCL, id}, KP_ATTR_EXIST, value.out()), 0) << TakeError();
    EXPECT_EQ(value->v.v_int, 0);
    void* handle = nullptr;
    const std::string refusal = Refusal(api->alloc(api, {KP_DEVICE_OPENCL, id}, 64, 64, kp_bytes(""), &handle));
    EXPECT_EQ(refusal.find("ValueError: device opencl:" + std::to_string(id) + " does not exist"), 0U) << refusal;
  }
}

}  // namespace
}  // namespace kernpack_test
