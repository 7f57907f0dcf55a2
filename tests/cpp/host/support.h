// Code that the host's tests share: owned values, errors as text, and a fixture that finds leaks.
#ifndef KERNPACK_TESTS_CPP_HOST_SUPPORT_H_
#define KERNPACK_TESTS_CPP_HOST_SUPPORT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <kernpack/host/host.h>

#include "../values.h"

namespace kernpack_test {

// One owned value.
class Value {
 public:
  Value() : any_(kp_none()) {}
  explicit Value(KpAny owned) : any_(owned) {}
  Value(Value&& other) noexcept : any_(std::exchange(other.any_, kp_none())) {}
  Value& operator=(Value&& other) noexcept {
    std::swap(any_, other.any_);
    return *this;
  }
  ~Value() { kp_any_release(&any_); }
  KpAny* out() {
    kp_any_release(&any_);
    return &any_;
  }
  const KpAny& get() const { return any_; }
  const KpAny* operator->() const { return &any_; }
  KpObject* object() const { return any_.v.v_obj; }
  const KpDLTensor& tensor() const { return *kp_any_tensor(&any_); }

 private:
  KpAny any_;
};

inline std::string Text(KpBytes bytes) { return bytes.size ? std::string(bytes.data, bytes.size) : std::string(); }
inline KpBytes AsBytes(const std::string& text) { return KpBytes{text.data(), text.size()}; }

inline std::string Str(const KpAny& any) {
  KpBytes bytes{};
  return kp_any_str(&any, &bytes) ? Text(bytes) : std::string("<no string>");
}

// "Kind: message" of this thread's error, which is cleared.
inline std::string TakeError(const char* who = "test") {
  Value taken;
  kp_error_take(who, -1, taken.out());
  const auto* error = reinterpret_cast<const KpErrorObject*>(taken.object());
  return Text(error->kind) + ": " + Text(error->message);
}

inline KpStorageKey Key(const char* module, const char* key, uint32_t scope = KP_SCOPE_PROCESS, KpDLDevice device = {},
                        void* stream = nullptr) {
  return KpStorageKey{kp_bytes(module), kp_bytes(key), scope, 0, device, stream};
}

// A test leaves no more live objects, and no more pending errors, than it found. Threads of a test before it may still let go of some.
class HostTest : public testing::Test {
 protected:
  void SetUp() override {
    kp_error_clear();
    live_ = kp_live_objects();
  }
  void TearDown() override {
    EXPECT_EQ(kp_error_pending(), 0) << "left behind: " << TakeError();
    EXPECT_LE(kp_live_objects(), live_) << "objects leaked";
  }

  const KpHost* host = kp_host();

 private:
  int64_t live_ = 0;
};

}  // namespace kernpack_test

#endif  // KERNPACK_TESTS_CPP_HOST_SUPPORT_H_
