// The services of the calling host that a module sees: its errors, its streams, its storage.
#include <kernpack/kernel.h>

namespace kp = kernpack;

namespace {

kp::StorageScope Scope(int32_t device_id, bool by_stream) {
  const kp::Device device(KP_DEVICE_CUDA, device_id);
  return by_stream ? kp::stream_scope(device) : kp::StorageScope{};
}

void Fail(int64_t number) { KP_THROW(ValueError) << "number " << number; }

// As a number: no device is needed to ask for a stream.
int64_t GetStream(int32_t device_id) {
  return reinterpret_cast<int64_t>(kp::stream(kp::Device(KP_DEVICE_CUDA, device_id)));
}

void Put(kp::StringView key, int64_t value, int32_t device_id, bool by_stream) {
  kp::storage_set(key, value, Scope(device_id, by_stream));
}

// -1 when there is none.
int64_t Get(kp::StringView key, int32_t device_id, bool by_stream) {
  const auto value = kp::storage_get(key, Scope(device_id, by_stream));
  return value ? value->cast<int64_t>() : -1;
}

int64_t GetOrInit(kp::StringView key, int64_t value) {
  return kp::storage_get_or_init(key, [value] { return value; }).cast<int64_t>();
}

// Tells whether two hosts run one copy of this code.
int64_t Image() {
  static const char here = 0;
  return reinterpret_cast<int64_t>(&here);
}

}  // namespace

KP_MODULE("both_hosts", "1.0.0");
KP_EXPORT(fail, Fail);
KP_EXPORT(stream_of, GetStream);
KP_EXPORT(put, Put);
KP_EXPORT(get, Get);
KP_EXPORT(get_or_init, GetOrInit);
KP_EXPORT(image, Image);
