// Backends by name and number, opening them, and what the host does for a backend that has little.
#include <kernpack/host/device.h>

#include <string>

#include "host/support.h"

namespace kernpack_test {
namespace {

class BackendTest : public HostTest {};

const KpDeviceApi* Api(int32_t type) {
  const KpDeviceApi* api = nullptr;
  EXPECT_EQ(kp_device_api(type, &api), 0) << TakeError();
  return api;
}

TEST_F(BackendTest, TheProcessorIsADevice) {
  int32_t count = 0;
  Value reason;
  ASSERT_EQ(kp_device_count(KP_DEVICE_CPU, &count, reason.out()), 0);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(reason->type_index, KP_TYPE_NONE);
  const KpDeviceApi* api = Api(KP_DEVICE_CPU);
  const KpDLDevice cpu{KP_DEVICE_CPU, 0};
  void* from = nullptr;
  void* to = nullptr;
  ASSERT_EQ(api->alloc(api, cpu, 1000, 4096, kp_bytes("global"), &from), 0);
  ASSERT_EQ(api->alloc(api, cpu, 1000, 64, KpBytes{}, &to), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(from) % 4096, 0u);
  const KpMemory source{from, 8, cpu};
  const KpMemory target{to, 24, cpu};
  ASSERT_EQ(api->fill(api, &source, 100, 0x5a, nullptr), 0);
  ASSERT_EQ(api->copy(api, &source, &target, 100, nullptr), 0);
  EXPECT_EQ(static_cast<unsigned char*>(to)[123], 0x5a);
  EXPECT_EQ(api->free(api, cpu, from), 0);
  EXPECT_EQ(api->free(api, cpu, to), 0);
}

TEST_F(BackendTest, ItsTableIsFoundByName) {
  Value function;
  ASSERT_EQ(host->global_get(host, kp_bytes("device_api.cpu"), function.out()), 0);
  ASSERT_EQ(function->type_index, KP_TYPE_FUNCTION);
  Value table;
  ASSERT_EQ(kp_function_call(function.object(), nullptr, 0, table.out()), 0);
  EXPECT_EQ(table->v.v_ptr, Api(KP_DEVICE_CPU));
  const void* extension = nullptr;
  ASSERT_EQ(host->get_extension(host, kp_bytes("device_api.cpu"), 1, &extension), 0);
  EXPECT_EQ(extension, Api(KP_DEVICE_CPU));
  EXPECT_EQ(host->get_extension(host, kp_bytes("device_api.none"), 1, &extension), -1);
  EXPECT_EQ(TakeError(), "RuntimeError: get_extension: no backend named 'none' is registered");
}

TEST_F(BackendTest, DevicesThatDoNotExistAreNamed) {
  const KpDeviceApi* api = Api(KP_DEVICE_CPU);
  void* handle = nullptr;
  EXPECT_EQ(api->alloc(api, {KP_DEVICE_CPU, 1}, 1, 64, KpBytes{}, &handle), -1);
  EXPECT_EQ(TakeError(), "ValueError: device cpu:1 does not exist; there is 1 of type cpu");
  EXPECT_EQ(api->alloc(api, {KP_DEVICE_CUDA, 0}, 1, 64, KpBytes{}, &handle), -1);
  EXPECT_EQ(TakeError(), "ValueError: expected a device of type cpu, got cuda:0");
  EXPECT_EQ(api->alloc(api, {KP_DEVICE_CPU, 0}, 1, 64, kp_bytes("texture"), &handle), -1);
  EXPECT_EQ(TakeError(), "ValueError: cpu: unknown memory scope 'texture'; expected global");
  char byte = 0;
  const KpMemory here{&byte, 0, {KP_DEVICE_CPU, 0}};
  const KpMemory nowhere{&byte, 0, {KP_DEVICE_CPU, 1}};
  EXPECT_EQ(api->copy(api, &here, &nowhere, 1, nullptr), -1);
  EXPECT_EQ(TakeError(), "ValueError: device cpu:1 does not exist; there is 1 of type cpu");
  EXPECT_EQ(api->copy(api, nullptr, &here, 1, nullptr), -1);
  EXPECT_EQ(TakeError(), "ValueError: a pointer to memory of device type cpu is NULL");
}

TEST_F(BackendTest, ADeviceTypeWithoutBackendGivesItsReason) {
  int32_t count = -1;
  Value reason;
  ASSERT_EQ(kp_device_count(KP_DEVICE_MAIA, &count, reason.out()), 0);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(Str(reason.get()), "no backend for device type maia is registered");
  const KpDeviceApi* api = nullptr;
  EXPECT_EQ(kp_device_api(KP_DEVICE_MAIA, &api), -1);
  EXPECT_EQ(TakeError().find("RuntimeError: device type maia: no backend is registered (there are: cpu"), 0u);
  for (const int32_t type : {-1, 0, 36, 100, 127, 1 << 30}) {
    EXPECT_EQ(kp_device_count(type, &count, nullptr), 0) << type;
    Value exists;
    ASSERT_EQ(kp_device_get_attr({type, 0}, KP_ATTR_EXIST, exists.out()), 0);
    EXPECT_EQ(exists->v.v_int, 0) << type;
  }
}

// A backend with nothing but what every backend must have.
int OneDevice(const KpDeviceApi*, int32_t* count, KpAny*) {
  *count = 1;
  return 0;
}
int NoAttribute(const KpDeviceApi*, KpDLDevice, int32_t kind, KpAny* out) {
  if (kind == KP_ATTR_DEVICE_NAME) *out = RawStr("sparse one");
  return 0;
}
int AllocByte(const KpDeviceApi*, KpDLDevice, uint64_t bytes, uint64_t, KpBytes, void** handle) {
  *handle = new char[bytes + 1];
  return 0;
}
int FreeByte(const KpDeviceApi*, KpDLDevice, void* handle) {
  delete[] static_cast<char*>(handle);
  return 0;
}
int CopyNothing(const KpDeviceApi*, const KpMemory*, const KpMemory*, uint64_t, void*) { return 0; }
int FillNothing(const KpDeviceApi*, const KpMemory*, uint64_t, int32_t, void*) { return 0; }
int SyncNothing(const KpDeviceApi*, KpDLDevice, void*) { return 0; }

const char* const kSparseScopes[] = {"global", nullptr};
KpDeviceApi SparseApi() {
  KpDeviceApi api{};
  api.struct_size = sizeof api;
  api.abi_version = KP_DEVICE_ABI_VERSION;
  api.max_alignment = 64;
  api.scopes = kSparseScopes;
  api.count = OneDevice;
  api.get_attr = NoAttribute;
  api.alloc = AllocByte;
  api.free = FreeByte;
  api.copy = CopyNothing;
  api.fill = FillNothing;
  api.stream_sync = SyncNothing;
  return api;
}

int OpenSparse(const KpHost*, int32_t, const KpDeviceApi** out, KpAny*) {
  static const KpDeviceApi api = SparseApi();
  *out = &api;
  return 0;
}
int OpenAbsent(const KpHost*, int32_t, const KpDeviceApi**, KpAny* reason) {
  *reason = RawStr("libabsent.so.1: cannot open shared object file");
  return 0;
}
const char* const kSparseKinds[] = {"sparse", nullptr};

KpBackend Definition(const char* name, decltype(KpBackend::open) open) {
  KpBackend backend{};
  backend.struct_size = sizeof backend;
  backend.abi_version = KP_DEVICE_ABI_VERSION;
  backend.name = name;
  backend.target_kinds = kSparseKinds;
  backend.open = open;
  return backend;
}

TEST_F(BackendTest, AnAllottedTypeIsKnownByName) {
  static const KpBackend sparse = Definition("sparse", OpenSparse);
  ASSERT_EQ(kp_backend_register(&sparse), 0) << TakeError();
  ASSERT_EQ(kp_backend_register(&sparse), 0) << "the same again";
  static const KpBackend other = Definition("sparse", OpenSparse);
  EXPECT_EQ(kp_backend_register(&other), -1);
  EXPECT_EQ(TakeError(), "ValueError: kp_backend_register: a backend for device type sparse is registered already");
  KpDLDevice device{};
  ASSERT_EQ(kp_device_from_name(kp_bytes("sparse:0"), &device), 0) << TakeError();
  EXPECT_GT(device.device_type, 0x1000);
  EXPECT_STREQ(kp_device_type_name(device.device_type), "sparse");

  const KpDeviceApi* api = Api(device.device_type);
  Value name;
  ASSERT_EQ(api->get_attr(api, device, KP_ATTR_DEVICE_NAME, name.out()), 0);
  EXPECT_EQ(Str(name.get()), "sparse one");
  EXPECT_NE(name->type_index, KP_TYPE_RAW_STR) << "text of the backend's was not copied";
  void* stream = &stream;
  ASSERT_EQ(api->stream_new(api, device, 0, &stream), 0);
  EXPECT_EQ(stream, nullptr) << "a device with one queue has no other streams";
  void* event = nullptr;
  ASSERT_EQ(api->event_new(api, device, 0, &event), 0);
  EXPECT_EQ(api->event_record(api, device, event, nullptr), 0);
  int32_t done = 0;
  EXPECT_EQ(api->event_query(api, device, event, &done), 0);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(api->event_free(api, device, event), 0);
  void* code = nullptr;
  EXPECT_EQ(api->load_code(api, device, KpBytes{}, KpBytes{}, KpBytes{}, &code), -1);
  EXPECT_EQ(TakeError(), "RuntimeError: devices of type sparse run no device code");
  int32_t rank = 0;
  Value reason;
  ASSERT_EQ(api->match_target(api, device, kp_bytes("sparse"), &rank, reason.out()), 0);
  EXPECT_EQ(rank, 1);
  ASSERT_EQ(api->match_target(api, device, kp_bytes("sparse -arch=x"), &rank, reason.out()), 0);
  EXPECT_EQ(rank, -1);
  EXPECT_EQ(Str(reason.get()), "the device does not tell its architecture");
}

TEST_F(BackendTest, AnAbsentDriverIsAReason) {
  static const KpBackend absent = Definition("absent", OpenAbsent);
  ASSERT_EQ(kp_backend_register(&absent), 0) << TakeError();
  KpDLDevice device{};
  ASSERT_EQ(kp_device_from_name(kp_bytes("absent"), &device), 0);
  int32_t count = -1;
  Value reason;
  ASSERT_EQ(kp_device_count(device.device_type, &count, reason.out()), 0);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(Str(reason.get()), "libabsent.so.1: cannot open shared object file");
  const KpDeviceApi* api = nullptr;
  EXPECT_EQ(kp_device_api(device.device_type, &api), -1);
  EXPECT_EQ(TakeError(),
            "RuntimeError: no device of type absent can be used: libabsent.so.1: cannot open shared object file");
  Value info;
  ASSERT_EQ(kp_backend_info(0, info.out()), 0);
  EXPECT_NE(Str(info.get()).find("libabsent.so.1"), std::string::npos);
}

TEST_F(BackendTest, MisshapenBackendsAreRefused) {
  const auto refusal = [](auto change) {
    KpBackend backend = Definition("odd", OpenSparse);
    change(backend);
    EXPECT_EQ(kp_backend_register(&backend), -1);
    return TakeError();
  };
  EXPECT_EQ(refusal([](KpBackend& b) { b.name = "Odd"; }),
            "ValueError: kp_backend_register: backend '?': its name must be [a-z][a-z0-9_]*");
  EXPECT_EQ(refusal([](KpBackend& b) { b.name = "gpu"; }).find("ValueError: kp_backend_register: backend 'gpu'"), 0u);
  EXPECT_EQ(refusal([](KpBackend& b) { b.device_type = KP_DEVICE_CUDA; }).find("ValueError: kp_backend_register: "),
            0u);
  EXPECT_EQ(refusal([](KpBackend& b) { b.open = nullptr; }),
            "ValueError: kp_backend_register: backend 'odd': open is NULL");
  EXPECT_EQ(refusal([](KpBackend& b) { b.struct_size = 8; }),
            "ValueError: kp_backend_register: backend 'odd': struct_size is smaller than version 1's");
  EXPECT_EQ(refusal([](KpBackend& b) { b.abi_version = 2u << 16; }),
            "ValueError: kp_backend_register: a backend was built for device ABI 2.0, this is kernpack " +
                std::string(kp_version()) +
                " with device ABI 1.0, which loads every 1.x; run `pip install -U kernpack`");
  EXPECT_NE(refusal([](KpBackend& b) { b.abi_version = 0; }).find("rebuild it"), std::string::npos);
  EXPECT_EQ(
      refusal([](KpBackend& b) { b.min_host_abi = 1u << 16 | 7; }),
      "ValueError: kp_backend_register: backend 'odd' needs a host of ABI 1.7 or newer; this is 1.0: pip install -U "
      "kernpack");
  EXPECT_EQ(
      refusal([](KpBackend& b) { b.spare[0] = &b; }),
      "ValueError: kp_backend_register: backend 'odd': its spare fields must be 0 for a host of this version; run "
      "`pip install -U kernpack`");
}

TEST_F(BackendTest, FilesThatAreNoPluginsAreRefused) {
  EXPECT_EQ(kp_backend_load("/nowhere/libtoy.so"), -1);
  EXPECT_EQ(TakeError().find("OSError: kp_backend_load: '/nowhere/libtoy.so' cannot be loaded: "), 0u);
  EXPECT_EQ(kp_backend_load("libm.so.6"), -1);
  EXPECT_EQ(TakeError().find("ValueError: kp_backend_load: 'libm.so.6' isn't a backend plugin: "), 0u);
  EXPECT_EQ(kp_backend_load(""), -1);
  EXPECT_EQ(TakeError(), "ValueError: kp_backend_load: the path is empty");
}

}  // namespace
}  // namespace kernpack_test
