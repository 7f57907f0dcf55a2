// DeviceAPI both ways: over the C table of a registered backend, and a custom class as a backend.
#include <kernpack/host/device.h>
#include <kernpack/sdk/device_backend.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "host/support.h"
#include "sdk/support.h"

namespace kernpack_test {
namespace {

namespace sdk = kernpack::sdk;
using kernpack::Device;
using sdk::DeviceAPI;
using sdk::DeviceAttrKind;

class DeviceApiTest : public HostTest {};

TEST_F(DeviceApiTest, TheProcessorIsServedThroughTheClass) {
  const Device cpu = Device::cpu();
  DeviceAPI* api = DeviceAPI::Get(cpu);
  EXPECT_EQ(api, DeviceAPI::Get(KP_DEVICE_CPU)) << "one object a type";
  EXPECT_TRUE(api->SupportsDevicePointerArithmeticsOnHost());
  EXPECT_EQ(api->MemoryScopes(), std::vector<std::string>{"global"});
  EXPECT_TRUE(api->GetAttr(cpu, DeviceAttrKind::kExist).cast<bool>());
  EXPECT_TRUE(api->GetAttr(cpu, DeviceAttrKind::kWarpSize).is_none());
  EXPECT_GT(api->GetAttr(cpu, DeviceAttrKind::kTotalGlobalMemory).cast<int64_t>(), 0);
  EXPECT_TRUE(api->GetTargetProperty(cpu, "none").is_none());
  EXPECT_EQ(api->CreateStream(cpu), nullptr);
  api->SyncStreamFromTo(cpu, nullptr, nullptr);

  const int64_t shape[] = {3, 5};
  void* data = api->AllocDataSpace(cpu, kernpack::ShapeView(shape, 2), kernpack::f32, "");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
  void* workspace = api->AllocWorkspace(cpu, 60);
  std::memset(data, 7, 60);
  api->CopyDataFromTo(data, 4, workspace, 0, 56, cpu, cpu, nullptr);
  api->StreamSync(cpu, nullptr);
  EXPECT_EQ(static_cast<char*>(workspace)[55], 7);
  api->FreeWorkspace(cpu, workspace);
  api->FreeDataSpace(cpu, data);
  EXPECT_ERROR(api->AllocDataSpace(cpu, 8, 64, "texture"), "ValueError", "unknown memory scope 'texture'");
  EXPECT_ERROR(api->SetDevice({KP_DEVICE_CPU, 4}), "ValueError", "device cpu:4 does not exist");
  EXPECT_ERROR(api->FreeWorkspace(cpu, &api), "ValueError", "isn't a workspace in use");
}

TEST_F(DeviceApiTest, WhatIsMissingIsNullOrAnError) {
  EXPECT_EQ(DeviceAPI::Get(KP_DEVICE_MAIA, /*allow_missing=*/true), nullptr);
  EXPECT_ERROR(DeviceAPI::Get(KP_DEVICE_MAIA), "RuntimeError", "device type maia: no backend is registered");
  for (const int32_t type : {-1, 0, 36, 100, 127}) EXPECT_EQ(DeviceAPI::Get(type, true), nullptr) << type;
}

TEST_F(DeviceApiTest, TensorsAreCopiedByTheirStrides) {
  int64_t shape[] = {3, 5};
  int64_t strides[] = {1, 3};
  float from[15];
  float to[15] = {};
  for (int i = 0; i < 15; ++i) from[i] = static_cast<float>(i);
  KpDLTensor source{from, Device::cpu(), 2, kernpack::f32, shape, nullptr, 0};
  KpDLTensor target{to, Device::cpu(), 2, kernpack::f32, shape, nullptr, 0};
  DeviceAPI* api = DeviceAPI::Get(Device::cpu());
  EXPECT_EQ(DeviceAPI::GetDataSize(source), 60u);
  api->CopyDataFromTo(source, target, nullptr);
  EXPECT_EQ(to[14], 14);
  source.strides = strides;
  EXPECT_ERROR(api->CopyDataFromTo(source, target, nullptr), "ValueError", "expected compact tensors");
  target.dtype = kernpack::f64;
  EXPECT_ERROR(api->CopyDataFromTo(source, target, nullptr), "ValueError", "the source has 60 bytes, the target 120");
  shape[0] = INT64_MAX;
  EXPECT_ERROR(DeviceAPI::GetDataSize(source), "ValueError", "too large");
}

TEST_F(DeviceApiTest, StreamsAreRestored) {
  const Device cpu = Device::cpu();
  DeviceAPI* api = DeviceAPI::Get(cpu);
  int streams[2];
  {
    const sdk::StreamGuard outer(cpu, &streams[0]);
    EXPECT_EQ(api->GetCurrentStream(cpu), &streams[0]);
    try {
      const sdk::StreamGuard inner(cpu, &streams[1]);
      EXPECT_EQ(kp_stream_get(cpu), &streams[1]);
      throw 1;
    } catch (int) {
      EXPECT_EQ(api->GetCurrentStream(cpu), &streams[0]);
    }
  }
  EXPECT_EQ(api->GetCurrentStream(cpu), nullptr);
}

// A device with two ids, heap memory, one queue, and only what has no default.
class MinimalDevice : public DeviceAPI {
 public:
  int32_t DeviceCount(std::string*) override { return 2; }
  kernpack::Any GetAttr(Device, DeviceAttrKind kind) override {
    if (kind == DeviceAttrKind::kDeviceName) return kernpack::Any("a minimal device");
    if (kind == DeviceAttrKind::kWarpSize) return kernpack::Any(4);
    return {};
  }
  void SetDevice(Device device) override { active = device.id; }
  int32_t GetDevice() override { return active; }
  void* AllocDataSpace(Device, size_t nbytes, size_t, std::string_view scope) override {
    if (!scope.empty() && scope != "global") KP_THROW(ValueError) << "scope '" << scope << "'; expected global";
    if (nbytes > 1 << 20) throw std::bad_alloc();
    return std::malloc(nbytes + 1);
  }
  void FreeDataSpace(Device, void* ptr) override { std::free(ptr); }
  void CopyDataFromTo(const void* from, size_t from_offset, void* to, size_t to_offset, size_t nbytes, Device, Device,
                      sdk::StreamHandle) override {
    std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset, nbytes);
  }
  void Fill(Device, void* to, size_t offset, size_t nbytes, uint8_t value, sdk::StreamHandle) override {
    std::memset(static_cast<char*>(to) + offset, value, nbytes);
  }
  void StreamSync(Device, sdk::StreamHandle) override {
    if (broken) throw 42;
  }

  int32_t active = 0;
  bool broken = false;
};

MinimalDevice g_minimal;

Device Minimal() {
  static const bool registered = [] {
    sdk::DeviceBackendSpec spec{};
    spec.name = "minimal";
    spec.open = [](int32_t, std::string*) -> DeviceAPI* { return &g_minimal; };
    sdk::RegisterDeviceAPI(spec);
    return true;
  }();
  EXPECT_TRUE(registered);
  KpDLDevice device{};
  EXPECT_EQ(kp_device_from_name(kp_bytes("minimal"), &device), 0) << TakeError();
  return device;
}

TEST_F(DeviceApiTest, AClassOfOnesOwnIsABackend) {
  const Device device = Minimal();
  const KpDeviceApi* table = nullptr;
  ASSERT_EQ(kp_device_api(device.type, &table), 0) << TakeError();
  Value name;
  ASSERT_EQ(table->get_attr(table, device, KP_ATTR_DEVICE_NAME, name.out()), 0);
  EXPECT_EQ(Str(name.get()), "a minimal device");

  float host[] = {1, 2, 3};
  float back[3] = {};
  int64_t shape = 3;
  const KpDLTensor from{host, Device::cpu(), 1, kernpack::f32, &shape, nullptr, 0};
  const KpDLTensor to{back, Device::cpu(), 1, kernpack::f32, &shape, nullptr, 0};
  const KpDLTensor prototype{nullptr, device, 1, kernpack::f32, &shape, nullptr, 0};
  Value tensor;
  ASSERT_EQ(kp_tensor_alloc(&prototype, KpBytes{}, tensor.out()), 0) << TakeError();
  ASSERT_EQ(kp_copy(&from, &tensor.tensor()), 0) << TakeError();
  ASSERT_EQ(kp_copy(&tensor.tensor(), &to), 0) << TakeError();
  EXPECT_EQ(back[2], 3);

  // And once more through a class, over the table that is over the class.
  DeviceAPI* api = DeviceAPI::Get(device);
  EXPECT_EQ(api->GetAttr(device, DeviceAttrKind::kWarpSize).cast<int>(), 4);
  EXPECT_EQ(api->DeviceCount(nullptr), 2);
  EXPECT_FALSE(api->SupportsDevicePointerArithmeticsOnHost());
  void* workspace = api->AllocWorkspace(device, 100);
  api->Fill(device, workspace, 0, 100, 1, nullptr);
  api->FreeWorkspace(device, workspace);
  {
    const sdk::DeviceGuard guard({device.type, 1});
    EXPECT_EQ(g_minimal.active, 1);
  }
  EXPECT_EQ(g_minimal.active, 0);
  EXPECT_EQ(kp_device_reset(device), 0) << TakeError();
}

TEST_F(DeviceApiTest, WhatAClassThrowsIsAnError) {
  const Device device = Minimal();
  DeviceAPI* api = DeviceAPI::Get(device);
  EXPECT_ERROR(api->AllocDataSpace(device, 8, 64, "x"), "ValueError", "scope 'x'; expected global");
  EXPECT_ERROR(api->AllocDataSpace(device, 2 << 20, 64), "MemoryError", "");
  EXPECT_ERROR(api->LoadCode(device, "x", "cl"), "RuntimeError", "run no device code");
  g_minimal.broken = true;
  EXPECT_ERROR(api->StreamSync(device, nullptr), "InternalError", "not a std::exception");
  g_minimal.broken = false;
}

TEST_F(DeviceApiTest, WhatAClassLeavesOutHasADefault) {
  const Device device = Minimal();
  const sdk::EventHandle event = g_minimal.CreateEvent(device);
  g_minimal.RecordEvent(device, event, nullptr);
  g_minimal.StreamWaitEvent(device, nullptr, event);
  g_minimal.EventSync(device, event);
  EXPECT_TRUE(g_minimal.EventQuery(device, event)) << "recording waits for the stream";
  g_minimal.FreeEvent(device, event);
  EXPECT_ERROR(g_minimal.CreateEvent(device, /*timing=*/true), "RuntimeError", "no events that measure time");
  EXPECT_ERROR(g_minimal.EventElapsed(device, event, event), "RuntimeError", "no events that measure time");

  char host[4] = {1, 2, 3, 4};
  char back[4] = {};
  void* memory = g_minimal.AllocDataSpace(device, 4, 64, "");
  const KpMemory there{memory, 0, device};
  const KpMemory from{host, 0, Device::cpu()};
  const KpMemory to{back, 0, Device::cpu()};
  g_minimal.FreeEvent(device, g_minimal.CopyDataFromToAsync(from, there, 4, nullptr));
  g_minimal.FreeEvent(device, g_minimal.CopyDataFromToAsync(there, to, 4, nullptr));
  EXPECT_EQ(back[3], 4);
  EXPECT_FALSE(g_minimal.CopyStridedFromTo(from, there, KpStridedCopy{}, nullptr));
  EXPECT_FALSE(g_minimal.CanCopy(device, {device.type, 1}));
  g_minimal.FreeDataSpace(device, memory);
}

TEST_F(DeviceApiTest, TheGeneratorAndTheLoaderAreGlobalFunctions) {
  static const char* const kKinds[] = {"planned", nullptr};
  sdk::DeviceBackendSpec spec{};
  spec.name = "planned";
  spec.open = [](int32_t, std::string*) -> DeviceAPI* { return nullptr; };
  spec.load = [](const std::string& path) { return sdk::Generated{nullptr, path + " loaded"}; };
  EXPECT_ERROR(sdk::RegisterDeviceAPI(spec), "ValueError", "a generator or loader needs a target kind");
  spec.target_kinds = kKinds;
  spec.generator.emplace().build = [](const sdk::ir::IRModule& module, const sdk::Target& target) {
    return sdk::Generated{nullptr, module.name + " for " + target.str()};
  };
  sdk::RegisterDeviceAPI(spec);
  const auto call = [&](const char* name, std::vector<KpAny> args) {
    Value function;
    Value result;
    EXPECT_EQ(host->global_get(host, kp_bytes(name), function.out()), 0);
    EXPECT_EQ(kp_function_call(function.object(), args.data(), static_cast<int32_t>(args.size()), result.out()), 0)
        << TakeError();
    return Str(result.get());
  };
  EXPECT_EQ(call("target.build.planned", {RawStr("module \"m\""), RawStr("llvm")}), "m for llvm");
  EXPECT_EQ(call("module.load.planned", {RawStr("a.bin")}), "a.bin loaded");
  for (const char* name : {"target.build.planned", "module.load.planned"}) {
    EXPECT_EQ(kp_global_remove(kp_bytes(name)), 0) << "until the process ends, but this test counts objects";
  }
}

TEST_F(DeviceApiTest, RegisteringIsChecked) {
  sdk::DeviceBackendSpec spec{};
  spec.name = "Not A Name";
  spec.open = [](int32_t, std::string*) -> DeviceAPI* { return nullptr; };
  EXPECT_ERROR(sdk::RegisterDeviceAPI(spec), "ValueError", "its name must be");
  spec.name = "lacking";
  spec.open = [](int32_t, std::string* why) -> DeviceAPI* {
    *why = "liblacking.so is not installed";
    return nullptr;
  };
  sdk::RegisterDeviceAPI(spec);
  KpDLDevice device{};
  ASSERT_EQ(kp_device_from_name(kp_bytes("lacking"), &device), 0);
  EXPECT_EQ(DeviceAPI::Get(device.device_type, true), nullptr);
  EXPECT_ERROR(DeviceAPI::Get(device.device_type), "RuntimeError", "liblacking.so is not installed");
  EXPECT_ERROR(sdk::RegisterDeviceAPI(spec), "ValueError", "registered already");
  spec.open = nullptr;
  EXPECT_ERROR(sdk::RegisterDeviceAPI(spec), "ValueError", "open is NULL");
}

}  // namespace
}  // namespace kernpack_test
