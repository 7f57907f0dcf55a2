// A backend of one device with streams, whose memory holds nothing: what tests of the host put under it.
#pragma once

#include <kernpack/host/device.h>

#include <cstdlib>
#include <map>
#include <string>

#include "host/support.h"

namespace kernpack_test {

// `Tested` derives from it, replaces what the test looks into, and has one object, The().
template <class Tested>
class SmallBackend {
 public:
  static Tested& The() {
    static Tested& one = *new Tested;  // until the process ends, as what is registered
    return one;
  }

  // A device of that type, registered at the first call.
  static KpDLDevice Device(const char* name) {
    static auto& backends = *new std::map<std::string, KpBackend>;
    KpBackend& backend = backends[name];
    backend.struct_size = sizeof backend;
    backend.abi_version = KP_DEVICE_ABI_VERSION;
    backend.name = backends.find(name)->first.c_str();
    backend.open = Open;
    KpDLDevice device{};
    EXPECT_EQ(kp_backend_register(&backend), 0) << TakeError();
    EXPECT_EQ(kp_device_from_name(kp_bytes(name), &device), 0) << TakeError();
    return device;
  }

  void Opened() {}
  void Enter() {}  // before every service
  int Alloc(uint64_t bytes, void** handle) {
    *handle = std::malloc(bytes + 1);
    return 0;
  }
  int Free(void* handle) {
    std::free(handle);
    return 0;
  }
  void Wait() {}  // one stream for another

 private:
  // A service that only enters.
  template <class... Args>
  static int Nothing(const KpDeviceApi*, Args...) {
    The().Enter();
    return 0;
  }

  static int Open(const KpHost*, int32_t, const KpDeviceApi** out, KpAny*) {
    static const char* const scopes[] = {"global", nullptr};
    static KpDeviceApi api{};
    api.struct_size = sizeof api;
    api.abi_version = KP_DEVICE_ABI_VERSION;
    api.flags = KP_DEVICE_STREAMS;
    api.max_alignment = 256;
    api.scopes = scopes;
    api.get_attr = Nothing;
    api.copy = Nothing;
    api.fill = Nothing;
    api.stream_sync = Nothing;
    api.count = [](const KpDeviceApi*, int32_t* count, KpAny*) {
      The().Enter();
      *count = 1;
      return 0;
    };
    api.alloc = [](const KpDeviceApi*, KpDLDevice, uint64_t bytes, uint64_t, KpBytes, void** handle) {
      The().Enter();
      return The().Alloc(bytes, handle);
    };
    api.free = [](const KpDeviceApi*, KpDLDevice, void* handle) {
      The().Enter();
      return The().Free(handle);
    };
    api.stream_new = [](const KpDeviceApi*, KpDLDevice, int32_t, void** stream) {
      The().Enter();
      *stream = new char;
      return 0;
    };
    api.stream_free = [](const KpDeviceApi*, KpDLDevice, void* stream) {
      The().Enter();
      delete static_cast<char*>(stream);
      return 0;
    };
    api.stream_query = [](const KpDeviceApi*, KpDLDevice, void*, int32_t* done) {
      The().Enter();
      *done = 1;
      return 0;
    };
    api.stream_wait_stream = [](const KpDeviceApi*, KpDLDevice, void*, void*) {
      The().Enter();
      The().Wait();
      return 0;
    };
    The().Opened();
    *out = &api;
    return 0;
  }
};

}  // namespace kernpack_test
