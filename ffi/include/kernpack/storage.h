// Keyed storage: values that a module keeps between calls.
#ifndef KERNPACK_STORAGE_H_
#define KERNPACK_STORAGE_H_

#include <kernpack/foreign/storage_keys.h>
#include <kernpack/guard.h>
#include <kernpack/stream.h>
#include <kernpack/string.h>

KP_NAMESPACE_BEGIN

// The owner of a key of storage: the process, a device, or the current stream of a device.
//
//   kp::storage_set("calls", kp::Any(1));                                    // of the process
//   kp::storage_set("table", table, kp::device_scope(x.device()));           // one value for each device
//   const auto found = kp::storage_get("table", kp::device_scope(x.device()));
struct StorageScope {
  uint32_t scope = KP_SCOPE_PROCESS;
  Device device;
  void* stream = nullptr;
};
inline StorageScope device_scope(Device device) { return {KP_SCOPE_DEVICE, device, nullptr}; }
inline StorageScope stream_scope(Device device) { return {KP_SCOPE_STREAM, device, stream(device)}; }

namespace detail {

inline KpStorageKey storage_key(StringView key, const StorageScope& scope) {
  return {current().module_name, key, scope.scope, 0, scope.device, scope.stream};
}

// A factory for the C interface: runs a callable that returns something an Any can hold.
template <class F>
int make_stored(void* context, KpAny* out) {
  return guarded(host(), current_function(), [&] { *out = Any((*static_cast<F*>(context))()).release(); });
}

}  // namespace detail

// The value of a key, or nothing. Keys belong to this module, unless they begin with "::".
inline std::optional<Any> storage_get(StringView key, const StorageScope& scope = {}) {
  const detail::Instance& instance = detail::current();
  const KpStorageKey k = detail::storage_key(key, scope);
  Any value;
  int32_t found = 0;
  detail::check_host(instance.foreign ? detail::foreign_storage_get(instance.host, &k, value.out(), &found)
                                      : instance.host->storage_get(instance.host, &k, value.out(), &found));
  if (!found) return std::nullopt;
  return value;
}

// Stores the value of a key, or replaces it.
inline void storage_set(StringView key, const Any& value, const StorageScope& scope = {}) {
  const detail::Instance& instance = detail::current();
  const KpStorageKey k = detail::storage_key(key, scope);
  detail::check_host(instance.foreign ? detail::foreign_storage_set(instance.host, &k, &value.raw())
                                      : instance.host->storage_set(instance.host, &k, &value.raw()));
}

// The value of a key. If there is none, stores and returns the result of factory(): one thread runs the factory, others that
// request the key wait. If it throws, nothing is stored and the caller gets the exception.
template <class Factory>
Any storage_get_or_init(StringView key, Factory factory, const StorageScope& scope = {}) {
  const detail::Instance& instance = detail::current();
  const KpStorageKey k = detail::storage_key(key, scope);
  Any value;
  detail::check_host(instance.foreign ? detail::foreign_storage_get_or_init(
                                            instance.host, &k, &detail::make_stored<Factory>, &factory, value.out())
                                      : instance.host->storage_get_or_init(
                                            instance.host, &k, &detail::make_stored<Factory>, &factory, value.out()));
  return value;
}

// Drops the value of a key; returns whether there was one.
inline bool storage_erase(StringView key, const StorageScope& scope = {}) {
  const detail::Instance& instance = detail::current();
  const KpStorageKey k = detail::storage_key(key, scope);
  int32_t erased = 0;
  detail::check_host(instance.foreign ? detail::foreign_storage_erase(instance.host, &k, &erased)
                                      : instance.host->storage_erase(instance.host, &k, &erased));
  return erased != 0;
}

// This module's keys in that scope, sorted: an Array of strings.
inline Array storage_keys(const StorageScope& scope = {}) {
  const detail::Instance& instance = detail::current();
  const KpStorageKey k = detail::storage_key(StringView(), scope);
  Any keys;
  detail::check_host(instance.foreign ? detail::foreign_storage_list(instance.host, &k, keys.out())
                                      : instance.host->storage_list(instance.host, &k, keys.out()));
  return keys.cast<Array>();
}

KP_NAMESPACE_END

#endif  // KERNPACK_STORAGE_H_
