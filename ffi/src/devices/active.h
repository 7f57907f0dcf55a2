// The active device of this thread by type, for backends that keep no such record themselves.
#ifndef KERNPACK_SRC_DEVICES_ACTIVE_H_
#define KERNPACK_SRC_DEVICES_ACTIVE_H_

#include <cstdint>

namespace kernpack::host {

constexpr int kMaxBackends = 64;

// `backend` is its place in the registry. 0 until set.
int32_t ActiveDevice(int backend) noexcept;
void SetActiveDevice(int backend, int32_t id) noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_ACTIVE_H_
