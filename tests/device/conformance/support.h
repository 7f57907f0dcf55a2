// Code that the conformance tests share: the backend under test, and memory that frees itself.
#ifndef KERNPACK_DEVICE_CONFORMANCE_SUPPORT_H_
#define KERNPACK_DEVICE_CONFORMANCE_SUPPORT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <kernpack/host/device.h>

namespace kernpack_conformance {

using Bytes = std::vector<unsigned char>;

constexpr KpDLDevice kHost{KP_DEVICE_CPU, 0};

// The backend of --backend=NAME; its first device is under test.
struct Subject {
  std::string name;
  KpDLDevice device{};
  const KpDeviceApi* api = nullptr;  // NULL: unavailable
  int32_t count = 0;
  std::string reason;

  bool Has(uint32_t flag) const { return (api->flags & flag) != 0; }
};
Subject& TheSubject();

// "Kind: message" of this thread's error, which is cleared; "" when there is none.
std::string TakeError();
std::string Text(const KpAny& any);

// A pattern that differs with `seed` and does not repeat every 256 bytes.
Bytes Pattern(size_t size, unsigned seed = 0);

// A pair of (device, table) that a copy can begin or end at: every device of every available backend.
struct Place {
  KpDLDevice device;
  const KpDeviceApi* api;
};
std::vector<Place> AllPlaces();

// Memory of the subject's device (or of another place), freed at the end.
class Memory {
 public:
  explicit Memory(uint64_t bytes, const char* scope = "", uint64_t alignment = 64);
  Memory(const Place& place, uint64_t bytes);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();
  void* handle() const { return handle_; }
  KpMemory at(uint64_t offset = 0) const { return {handle_, offset, place_.device}; }

 private:
  Place place_;
  void* handle_ = nullptr;
};

inline KpMemory OnHost(const void* data, uint64_t offset = 0) { return {const_cast<void*>(data), offset, kHost}; }

// Copies host to device and back with the subject's table, and waits.
void Upload(const Bytes& from, const KpMemory& to, void* stream = nullptr);
Bytes Download(const KpMemory& from, size_t size, void* stream = nullptr);

// Skips where the backend is unavailable, with its reason; a test leaves no error and no object behind.
class Conformance : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  const KpDeviceApi* api = nullptr;
  KpDLDevice device{};

 private:
  int64_t live_ = 0;
};

#define KP_OK(call) ASSERT_EQ((call), 0) << kernpack_conformance::TakeError()
#define KP_NEEDS(flag)                   \
  if (!TheSubject().Has(flag)) {         \
    GTEST_SKIP() << "no " #flag " here"; \
  }

}  // namespace kernpack_conformance

#endif  // KERNPACK_DEVICE_CONFORMANCE_SUPPORT_H_
