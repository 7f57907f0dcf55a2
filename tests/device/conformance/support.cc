#include "support.h"

#include <cstring>

namespace kernpack_conformance {

Subject& TheSubject() {
  static Subject subject;
  return subject;
}

std::string Text(const KpAny& any) {
  KpBytes text{};
  return kp_any_str(&any, &text) && text.size != 0 ? std::string(text.data, text.size) : std::string();
}

std::string TakeError() {
  if (!kp_error_pending()) return {};
  KpAny taken = kp_none();
  kp_error_take("conformance", -1, &taken);
  const auto* error = reinterpret_cast<const KpErrorObject*>(taken.v.v_obj);
  std::string text =
      std::string(error->kind.data, error->kind.size) + ": " + std::string(error->message.data, error->message.size);
  kp_any_release(&taken);
  return text;
}

Bytes Pattern(size_t size, unsigned seed) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>((i * 31 + i / 251 + seed * 17 + 1) & 0xff);
  return bytes;
}

std::vector<Place> AllPlaces() {
  std::vector<Place> places;
  KpAny names = kp_none();
  EXPECT_EQ(kp_backend_names(&names), 0) << TakeError();
  const auto* list = reinterpret_cast<const KpSequenceObject*>(names.v.v_obj);
  for (int64_t i = 0; i < list->size; ++i) {
    const std::string name = Text(list->data[i]);
    KpDLDevice device{};
    int32_t count = 0;
    const KpDeviceApi* api = nullptr;
    if (kp_device_from_name({name.data(), name.size()}, &device) != 0 ||
        kp_device_count(device.device_type, &count, nullptr) != 0 || count == 0) {
      TakeError();
      continue;
    }
    EXPECT_EQ(kp_device_api(device.device_type, &api), 0) << TakeError();
    for (int32_t id = 0; id < count; ++id) places.push_back({{device.device_type, id}, api});
  }
  kp_any_release(&names);
  return places;
}

Memory::Memory(uint64_t bytes, const char* scope, uint64_t alignment) : place_{TheSubject().device, TheSubject().api} {
  EXPECT_EQ(place_.api->alloc(place_.api, place_.device, bytes, alignment, kp_bytes(scope), &handle_), 0)
      << TakeError();
}

Memory::Memory(const Place& place, uint64_t bytes) : place_(place) {
  EXPECT_EQ(place_.api->alloc(place_.api, place_.device, bytes, 64, KpBytes{}, &handle_), 0) << TakeError();
}

Memory::~Memory() {
  if (handle_ == nullptr) return;
  EXPECT_EQ(place_.api->free(place_.api, place_.device, handle_), 0) << TakeError();
}

void Upload(const Bytes& from, const KpMemory& to, void* stream) {
  const KpDeviceApi* api = TheSubject().api;
  const KpMemory source = OnHost(from.data());
  EXPECT_EQ(api->copy(api, &source, &to, from.size(), stream), 0) << TakeError();
}

Bytes Download(const KpMemory& from, size_t size, void* stream) {
  const KpDeviceApi* api = TheSubject().api;
  Bytes bytes(size, 0xee);
  const KpMemory target = OnHost(bytes.data());
  EXPECT_EQ(api->copy(api, &from, &target, size, stream), 0) << TakeError();
  return bytes;
}

void Conformance::SetUp() {
  const Subject& subject = TheSubject();
  if (subject.api == nullptr) GTEST_SKIP() << subject.name << " is unavailable: " << subject.reason;
  api = subject.api;
  device = subject.device;
  live_ = kp_live_objects();
}

void Conformance::TearDown() {
  if (api == nullptr) return;
  EXPECT_EQ(TakeError(), "") << "left behind";
  EXPECT_EQ(kp_live_objects(), live_) << "objects leaked";
}

}  // namespace kernpack_conformance
