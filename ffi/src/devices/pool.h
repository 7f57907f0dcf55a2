// Workspaces: pools of memory by device and stream. On the CPU, where no stream orders anything, each thread has its own pool.
#ifndef KERNPACK_SRC_DEVICES_POOL_H_
#define KERNPACK_SRC_DEVICES_POOL_H_

#include <cstdint>
#include <functional>

#include <kernpack/abi.h>

namespace kernpack::host {

struct PoolUsage {
  KpDLDevice device;
  void* stream;
  uint64_t held;  // bytes that the pool has from the backend
  uint64_t in_use;  // of them
  uint64_t high_water;  // the most that was in use
  uint64_t allocations;
  uint64_t reused;  // of them without asking the backend
};

// Gives memory that is not in use back to the backend: of the device's pools, or of its one `*stream`. `forget` ends the pool;
// what is in use may still be freed. Returns 0, or -1 with an error raised. `out_bytes` is nullable.
int TrimPools(KpDLDevice device, void* const* stream, bool forget, uint64_t* out_bytes = nullptr);

void ForEachPool(const std::function<void(const PoolUsage&)>& visit);

// For kp_host_shutdown: gives back what is not in use in any pool.
void DropPools();

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_POOL_H_
