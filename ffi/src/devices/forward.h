// The table that users of a backend get: it forwards to the backend's own.
#ifndef KERNPACK_SRC_DEVICES_FORWARD_H_
#define KERNPACK_SRC_DEVICES_FORWARD_H_

#include <kernpack/device_api.h>

namespace kernpack::host {

// `table` is first: the services find the rest from the pointer they are given.
struct ForwardingApi {
  KpDeviceApi table;
  const KpDeviceApi* inner;
  const KpBackend* backend;
  int32_t type;
  int32_t number;       // of the backend in the registry
  int32_t count;        // of devices
  uint32_t generation;  // of the process that opened it (ForkGeneration)
};

inline const ForwardingApi& Forwarding(const KpDeviceApi* table) {
  return *reinterpret_cast<const ForwardingApi*>(table);
}

// Fills in `api`, whose backend, type, number and count are set, over a checked table. Services that it has not are taken
// from the fallbacks below.
void MakeForwarding(const KpDeviceApi* inner, ForwardingApi* api);

// Returns 0, or -1 with a ValueError raised that names what is missing from a backend's table.
int CheckTable(const KpBackend& backend, const KpDeviceApi* table);

// Replaces RAW_STR text by a string of our own. Returns 0, or -1 with an error raised and *value NONE.
int OwnText(KpAny* value);

// True if this process may enter the backend; else false with an error raised.
bool MayEnter(const ForwardingApi& api);

}  // namespace kernpack::host

namespace kernpack::host::fallback {

// Fallbacks for services that a backend leaves out: they use the backend's other services, or refuse the call.
// Each is given the host's table, whose other services are complete.
#define KP_DECLARE_FALLBACK(minor, needs, name, parameters) int name parameters noexcept;
KP_DEVICE_SERVICES(KP_DECLARE_FALLBACK)
#undef KP_DECLARE_FALLBACK

}  // namespace kernpack::host::fallback

#endif  // KERNPACK_SRC_DEVICES_FORWARD_H_
