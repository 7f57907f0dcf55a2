// Which kind is under test, and its device.
#pragma once

#include <kernpack/host/device.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace ir_test {

// KERNPACK_TEST_KIND: "opencl", or "cuda" where there is a GPU or the emulated one.
inline const char* Kind() {
  const char* kind = std::getenv("KERNPACK_TEST_KIND");
  return kind != nullptr ? kind : "opencl";
}

// The target of the code: the kind, or a target of it that the device at hand needs (KERNPACK_TEST_TARGET), as the emulated one
// needs PTX.
inline std::string TestTarget() {
  const char* target = std::getenv("KERNPACK_TEST_TARGET");
  return target != nullptr ? target : Kind();
}

// Skips, with the reason, where there is no device of the kind.
template <class Base>
class OnKind : public Base {
 protected:
  void SetUp() override {
    int32_t count = 0;
    KpAny reason = kp_none();
    ASSERT_EQ(kp_device_from_name(kp_bytes(Kind()), &device), 0);
    ASSERT_EQ(kp_device_count(device.device_type, &count, &reason), 0);
    KpBytes text{};
    const std::string why = kp_any_str(&reason, &text) ? text.data : "there is none";
    kp_any_release(&reason);
    if (count == 0) GTEST_SKIP() << "no device of kind " << Kind() << ": " << why;
  }

  KpDLDevice device{};
};

}  // namespace ir_test
