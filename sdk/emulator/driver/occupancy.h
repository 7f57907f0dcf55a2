// How many blocks of a kernel a multiprocessor has room for.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_OCCUPANCY_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_OCCUPANCY_H_

#include <algorithm>
#include <cstddef>

#include "backends/cuda/driver_types.h"

namespace kernpack::cuda {

// The most that threads, blocks and shared memory allow; registers, which an emulated device doesn't have, may allow fewer. `fact`
// gives a DeviceAttribute of the device.
template <class Fact>
int BlocksPerMultiprocessor(const Fact& fact, int threads, size_t static_shared, size_t dynamic_shared) {
  const auto bytes = [&](DeviceAttribute attribute) { return static_cast<size_t>(fact(attribute)); };
  const int warp = fact(kWarpSize), whole = (threads + warp - 1) / warp * warp;
  const size_t shared = static_shared + dynamic_shared + bytes(kReservedSharedMemoryPerBlock);
  if (static_shared + dynamic_shared > bytes(kMaxSharedMemoryPerBlockOptin)) return 0;
  const int most = std::min(fact(kMaxBlocksPerMultiprocessor), fact(kMaxThreadsPerMultiprocessor) / whole);
  if (shared == 0) return most;
  return static_cast<int>(std::min(static_cast<size_t>(most), bytes(kMaxSharedMemoryPerMultiprocessor) / shared));
}

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_OCCUPANCY_H_
