// Malformed DLTensors: each refused by name, each legal oddity accepted.
#include "support.h"

#include <algorithm>
#include <functional>

namespace kernpack_test {
namespace {

struct Sample {
  float data[24] = {};
  int64_t shape[64] = {2, 3};
  int64_t strides[64] = {3, 1};
  KpDLTensor tensor{data, {KP_DEVICE_CPU, 0}, 2, {KP_DTYPE_FLOAT, 32, 1}, shape, strides, 0};
};

struct Case {
  const char* name;
  std::function<void(Sample&)> change;
  const char* error;  // a part of the message; NULL: legal
};

const Case kCases[] = {
    {"plain", [](Sample&) {}, nullptr},
    {"null strides", [](Sample& s) { s.tensor.strides = nullptr; }, nullptr},
    {"zero strides", [](Sample& s) { s.strides[0] = s.strides[1] = 0; }, nullptr},
    {"negative strides", [](Sample& s) { s.strides[1] = -1, s.tensor.byte_offset = 8; }, nullptr},
    {"rank 0", [](Sample& s) { s.tensor.ndim = 0; }, nullptr},
    {"rank 0, null shape", [](Sample& s) { s.tensor.ndim = 0, s.tensor.shape = s.tensor.strides = nullptr; }, nullptr},
    {"empty", [](Sample& s) { s.shape[0] = 0; }, nullptr},
    {"empty, null data", [](Sample& s) { s.shape[1] = 0, s.tensor.data = nullptr; }, nullptr},
    {"byte offset", [](Sample& s) { s.tensor.byte_offset = 24; }, nullptr},
    {"64 dims", [](Sample& s) { s.tensor.ndim = 64, std::fill(s.shape, s.shape + 64, 1); }, nullptr},
    {"lanes", [](Sample& s) { s.tensor.dtype.lanes = 4; }, nullptr},
    {"bfloat16", [](Sample& s) { s.tensor.dtype = {KP_DTYPE_BFLOAT, 16, 1}; }, nullptr},
    {"4 bits", [](Sample& s) { s.tensor.dtype = {KP_DTYPE_FLOAT4_E2M1FN, 4, 1}; }, nullptr},
    {"cuda", [](Sample& s) { s.tensor.device = {KP_DEVICE_CUDA, 7}; }, nullptr},
    {"stride of a dim of one", [](Sample& s) { s.shape[0] = 1, s.strides[0] = INT64_MAX; }, nullptr},
    {"stride of an empty tensor", [](Sample& s) { s.shape[0] = 0, s.strides[1] = INT64_MAX; }, nullptr},

    {"ndim -1", [](Sample& s) { s.tensor.ndim = -1; }, "ndim is -1; expected 0 to 64"},
    {"ndim INT_MIN", [](Sample& s) { s.tensor.ndim = INT32_MIN; }, "ndim is -2147483648"},
    {"ndim 65", [](Sample& s) { s.tensor.ndim = 65; }, "ndim is 65"},
    {"ndim huge", [](Sample& s) { s.tensor.ndim = INT32_MAX; }, "ndim is 2147483647"},
    {"null shape", [](Sample& s) { s.tensor.shape = nullptr; }, "shape is NULL but ndim is 2"},
    {"negative extent", [](Sample& s) { s.shape[1] = -3; }, "shape[1] is -3; expected 0 or more"},
    {"extent INT64_MIN", [](Sample& s) { s.shape[0] = INT64_MIN; }, "shape[0] is -9223372036854775808"},
    {"product overflows", [](Sample& s) { s.shape[0] = s.shape[1] = int64_t{1} << 32; },
     "product of its shape overflows"},
    {"product overflows, one extent empty",
     [](Sample& s) { s.tensor.ndim = 3, s.shape[0] = s.shape[1] = int64_t{1} << 40, s.shape[2] = 0; },
     "product of its shape overflows"},
    {"bytes overflow", [](Sample& s) { s.shape[0] = int64_t{1} << 58, s.shape[1] = 4; }, "overflow the address space"},
    {"data plus extent wraps",
     [](Sample& s) { s.tensor.data = reinterpret_cast<void*>(UINTPTR_MAX - 8), s.tensor.strides = nullptr; },
     "leave the address space"},
    {"byte offset 2^63", [](Sample& s) { s.tensor.byte_offset = uint64_t{1} << 63; },
     "byte_offset is 9223372036854775808"},
    {"byte offset all ones", [](Sample& s) { s.tensor.byte_offset = UINT64_MAX; }, "byte_offset is"},
    {"byte offset 2^63 of an empty tensor", [](Sample& s) { s.shape[0] = 0, s.tensor.byte_offset = uint64_t{1} << 63; },
     "byte_offset is"},
    {"stride overflows",
     [](Sample& s) {
       s.strides[0] = INT64_MAX;
       s.shape[0] = 3;
     },
     "strides[0] = 9223372036854775807"},
    {"stride INT64_MIN", [](Sample& s) { s.strides[1] = INT64_MIN; }, "strides[1] = -9223372036854775808"},
    {"strides overflow together", [](Sample& s) { s.strides[0] = s.strides[1] = INT64_MAX / 8 + 1; },
     "overflows 64 bits"},
    {"stride below zero", [](Sample& s) { s.strides[0] = -(int64_t{1} << 58), s.tensor.data = s.data; },
     "leave the address space"},
    {"zero bits", [](Sample& s) { s.tensor.dtype.bits = 0; }, "dtype has 0 bits"},
    {"zero lanes", [](Sample& s) { s.tensor.dtype.lanes = 0; }, "dtype has 0 lanes"},
    {"unknown code", [](Sample& s) { s.tensor.dtype.code = 99; }, "dtype code is 99"},
    {"device type 0", [](Sample& s) { s.tensor.device.device_type = 0; }, "device type 0 is unknown"},
    {"device type -1", [](Sample& s) { s.tensor.device.device_type = -1; }, "device type -1 is unknown"},
    {"device type 9999", [](Sample& s) { s.tensor.device.device_type = 9999; }, "device type 9999 is unknown"},
    {"device id -1", [](Sample& s) { s.tensor.device.device_id = -1; }, "device id is -1"},
    {"null data", [](Sample& s) { s.tensor.data = nullptr; }, "data is NULL but the shape has elements"},
    {"null data, rank 0", [](Sample& s) { s.tensor.data = nullptr, s.tensor.ndim = 0; }, "data is NULL"},
};

class ValidateTest : public HostTest {};

TEST_F(ValidateTest, EveryCaseGivesItsError) {
  for (const Case& each : kCases) {
    SCOPED_TRACE(each.name);
    Sample sample;
    each.change(sample);
    const int rc = kp_dltensor_validate(&sample.tensor, "x");
    if (each.error == nullptr) {
      EXPECT_EQ(rc, 0) << TakeError();
      continue;
    }
    ASSERT_EQ(rc, -1);
    const std::string message = TakeError();
    EXPECT_EQ(message.find("ValueError: x: "), 0u) << message;
    EXPECT_NE(message.find(each.error), std::string::npos) << message;
    EXPECT_EQ(message.find("0x"), std::string::npos) << "no addresses in messages: " << message;
  }
}

TEST_F(ValidateTest, ANullTensorIsAValueError) {
  EXPECT_EQ(kp_dltensor_validate(nullptr, nullptr), -1);
  EXPECT_EQ(TakeError(), "ValueError: tensor: the DLTensor is NULL");
}

// The same cases through each protocol: the error comes at import, and the producer is still the owner.
TEST_F(ValidateTest, EveryCaseGivesItsErrorThroughBothDLPackProtocols) {
  for (const Case& each : kCases) {
    SCOPED_TRACE(each.name);
    Sample sample;
    each.change(sample);
    int deleted = 0;
    KpDLManagedTensor legacy{sample.tensor, &deleted,
                             [](KpDLManagedTensor* self) { ++*static_cast<int*>(self->manager); }};
    KpDLManagedTensorVersioned versioned{{1, 0},
                                         &deleted,
                                         [](KpDLManagedTensorVersioned* self) { ++*static_cast<int*>(self->manager); },
                                         0,
                                         sample.tensor};
    for (int protocol = 0; protocol < 2; ++protocol) {
      const int deleted_before = deleted;
      Value out;
      const int rc = protocol == 0 ? kp_tensor_from_dlpack(&legacy, out.out())
                                   : kp_tensor_from_dlpack_versioned(&versioned, out.out());
      EXPECT_EQ(rc, each.error == nullptr ? 0 : -1);
      if (rc != 0) {
        EXPECT_EQ(TakeError().find("ValueError: DLPack: "), 0u);
      }
      EXPECT_EQ(deleted, deleted_before);
    }
    EXPECT_EQ(deleted, each.error == nullptr ? 2 : 0);
  }
}

}  // namespace
}  // namespace kernpack_test
