// NVIDIA's management library (NVML) over the emulated devices: their number, names, buses and memory. Unlike the driver it has no
// state of its own, so that a process may ask it and fork then. Names and numbers are those of nvml.h.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "driver/machine.h"
#include "runtime/runtime.h"

namespace kernpack::cuda::runtime {
namespace {

using Status = int;  // nvmlReturn_t
constexpr Status kDone = 0, kNotBegun = 1, kWrongArgument = 2, kNoSuchFeature = 3, kNoSuchDevice = 6, kTooSmall = 7;

struct Managed {};  // nvmlDevice_t points to one of these
constexpr int kMostDevices = 64;
Managed managed_devices[kMostDevices];
int begun = 0;

// nvmlMemory_t, nvmlMemory_v2_t, and below nvmlPciInfo_t.
struct Memory {
  unsigned long long total, free, used;
};
struct Memory2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
// The part of nvmlGpuFabricInfoV_t that every version has.
struct Fabric {
  unsigned version;
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
};
struct Bus {
  char old_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char id[32];
};

int Count() { return static_cast<int>(std::min<long>(Machine::Get().Setting("devices"), kMostDevices)); }

// Calls `then` with the device's number, holding the machine.
template <class F>
Status With(const Managed* device, F then) {
  const std::lock_guard lock(Machine::Get().mutex);
  if (begun == 0) return kNotBegun;
  const auto number = device - managed_devices;
  return number >= 0 && number < Count() ? then(static_cast<int>(number)) : kWrongArgument;
}

Status Text(char* out, unsigned room, const char* text) {
  if (out == nullptr) return kWrongArgument;
  if (std::strlen(text) + 1 > room) return kTooSmall;
  std::strcpy(out, text);
  return kDone;
}

Status UuidText(int number, char* text, size_t room) {
  Uuid uuid{};
  cuDeviceGetUuid(&uuid, number);
  const auto* b = reinterpret_cast<const unsigned char*>(uuid.bytes);
  std::snprintf(text, room, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
                b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
  return kDone;
}

// The device for which `is` answers true.
template <class F>
Status FindManaged(const Managed** out, F is) {
  const std::lock_guard lock(Machine::Get().mutex);
  if (begun == 0) return kNotBegun;
  if (out == nullptr) return kWrongArgument;
  for (int i = 0; i < Count(); ++i) {
    if (!is(i)) continue;
    *out = managed_devices + i;
    return kDone;
  }
  return kNoSuchDevice;
}

}  // namespace
}  // namespace kernpack::cuda::runtime

using namespace kernpack::cuda::runtime;
using kernpack::cuda::Machine;

KP_RUNTIME_API Status nvmlInitWithFlags(unsigned /*flags*/) {
  const std::lock_guard lock(Machine::Get().mutex);
  ++begun;
  return kDone;
}
KP_RUNTIME_API Status nvmlInit_v2() { return nvmlInitWithFlags(0); }
KP_RUNTIME_API Status nvmlInit() { return nvmlInitWithFlags(0); }
KP_RUNTIME_API Status nvmlShutdown() {
  const std::lock_guard lock(Machine::Get().mutex);
  return begun == 0 ? kNotBegun : (--begun, kDone);
}
KP_RUNTIME_API const char* nvmlErrorString(Status status) {
  switch (status) {
    case kDone:
      return "The operation was successful";
    case kNotBegun:
      return "Uninitialized";
    case kWrongArgument:
      return "Invalid Argument";
    case kNoSuchFeature:
      return "Not Supported";
    case kNoSuchDevice:
      return "Not Found";
    case kTooSmall:
      return "Insufficient Size";
    default:
      return "Unknown Error";
  }
}

KP_RUNTIME_API Status nvmlSystemGetCudaDriverVersion_v2(int* version) {
  if (version == nullptr) return kWrongArgument;
  const std::lock_guard lock(Machine::Get().mutex);
  *version = static_cast<int>(Machine::Get().Setting("driver_version"));
  return kDone;
}
KP_RUNTIME_API Status nvmlSystemGetCudaDriverVersion(int* version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}
KP_RUNTIME_API Status nvmlSystemGetDriverVersion(char* text, unsigned room) { return Text(text, room, "emulated"); }
KP_RUNTIME_API Status nvmlSystemGetNVMLVersion(char* text, unsigned room) { return Text(text, room, "emulated"); }

KP_RUNTIME_API Status nvmlDeviceGetCount_v2(unsigned* count) {
  const std::lock_guard lock(Machine::Get().mutex);
  if (begun == 0) return kNotBegun;
  if (count == nullptr) return kWrongArgument;
  *count = static_cast<unsigned>(Count());
  return kDone;
}
KP_RUNTIME_API Status nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }

KP_RUNTIME_API Status nvmlDeviceGetHandleByIndex_v2(unsigned index, const Managed** out) {
  const Status found = FindManaged(out, [index](int i) { return static_cast<unsigned>(i) == index; });
  return found == kNoSuchDevice ? kWrongArgument : found;
}
KP_RUNTIME_API Status nvmlDeviceGetHandleByIndex(unsigned index, const Managed** out) {
  return nvmlDeviceGetHandleByIndex_v2(index, out);
}
KP_RUNTIME_API Status nvmlDeviceGetHandleByPciBusId_v2(const char* id, const Managed** out) {
  unsigned domain = 0, bus = 0, device = 0;
  if (id == nullptr || std::sscanf(id, "%x:%x:%x", &domain, &bus, &device) != 3) return kWrongArgument;
  return FindManaged(out, [=](int i) { return domain == 0 && device == 0 && bus == static_cast<unsigned>(i) + 1; });
}
KP_RUNTIME_API Status nvmlDeviceGetHandleByPciBusId(const char* id, const Managed** out) {
  return nvmlDeviceGetHandleByPciBusId_v2(id, out);
}
KP_RUNTIME_API Status nvmlDeviceGetHandleByUUID(const char* uuid, const Managed** out) {
  if (uuid == nullptr) return kWrongArgument;
  return FindManaged(out, [uuid](int i) {
    char text[64];
    return UuidText(i, text, sizeof text) == kDone && std::strcmp(text, uuid) == 0;
  });
}

KP_RUNTIME_API Status nvmlDeviceGetIndex(const Managed* device, unsigned* index) {
  return With(device, [=](int number) {
    if (index == nullptr) return kWrongArgument;
    *index = static_cast<unsigned>(number);
    return kDone;
  });
}
KP_RUNTIME_API Status nvmlDeviceGetName(const Managed* device, char* text, unsigned room) {
  return With(device, [=](int number) {
    char name[96];
    kernpack::cuda::cuDeviceGetName(name, sizeof name, number);
    return Text(text, room, name);
  });
}
KP_RUNTIME_API Status nvmlDeviceGetUUID(const Managed* device, char* text, unsigned room) {
  return With(device, [=](int number) {
    char uuid[64];
    UuidText(number, uuid, sizeof uuid);
    return Text(text, room, uuid);
  });
}
KP_RUNTIME_API Status nvmlDeviceGetPciInfo_v3(const Managed* device, Bus* out) {
  return With(device, [=](int number) {
    if (out == nullptr) return kWrongArgument;
    *out = {};
    out->bus = static_cast<unsigned>(number) + 1;
    std::snprintf(out->old_id, sizeof out->old_id, "0000:%02X:00.0", out->bus & 0xff);
    std::snprintf(out->id, sizeof out->id, "00000000:%02X:00.0", out->bus);
    return kDone;
  });
}
KP_RUNTIME_API Status nvmlDeviceGetCudaComputeCapability(const Managed* device, int* major, int* minor) {
  return With(device, [=](int number) {
    if (major == nullptr || minor == nullptr) return kWrongArgument;
    *major = Machine::Get().Arch(number) / 10, *minor = Machine::Get().Arch(number) % 10;
    return kDone;
  });
}
// Memory that this process has; others don't see it.
KP_RUNTIME_API Status nvmlDeviceGetMemoryInfo(const Managed* device, Memory* out) {
  return With(device, [=](int number) {
    if (out == nullptr) return kWrongArgument;
    out->total = static_cast<unsigned long long>(Machine::Get().Setting("memory_bytes"));
    out->used = Machine::Get().used[number];
    out->free = out->total - out->used;
    return kDone;
  });
}
KP_RUNTIME_API Status nvmlDeviceGetMemoryInfo_v2(const Managed* device, Memory2* out) {
  Memory memory{};
  if (out == nullptr) return kWrongArgument;
  if (const Status status = nvmlDeviceGetMemoryInfo(device, &memory); status != kDone) return status;
  out->total = memory.total, out->reserved = 0, out->free = memory.free, out->used = memory.used;
  return kDone;
}
// Nothing connects the devices: a state of 0 is "not supported".
KP_RUNTIME_API Status nvmlDeviceGetGpuFabricInfoV(const Managed* device, Fabric* out) {
  return With(device, [=](int) {
    if (out == nullptr) return kWrongArgument;
    std::fill_n(out->cluster, sizeof out->cluster, static_cast<unsigned char>(0));
    out->status = kDone, out->clique = 0, out->state = 0;  // not what follows in newer versions
    return kDone;
  });
}
KP_RUNTIME_API Status nvmlDeviceGetNvLinkState(const Managed* device, unsigned /*link*/, unsigned* /*out*/) {
  return With(device, [](int) { return kNoSuchFeature; });
}
