// Ranges for NVIDIA's profilers: while a profile runs, each call is one, so that the device's work has a name there.
#ifndef KERNPACK_SRC_OBSERVE_PROFILE_NVTX_H_
#define KERNPACK_SRC_OBSERVE_PROFILE_NVTX_H_

#include <atomic>

namespace kernpack::host::profile {

struct NvtxRanges {
  int (*push)(const char* name);
  int (*pop)();
};

extern std::atomic<const NvtxRanges*> g_nvtx;  // NULL: no profiler of NVIDIA's listens

// Asks the library that NVTX_INJECTION64_PATH names, as a profiler sets it, once for the process.
void FindNvtx() noexcept;

class NvtxRange {
 public:
  explicit NvtxRange(const char* name) noexcept : ranges_(g_nvtx.load(std::memory_order_acquire)) {
    if (__builtin_expect(ranges_ != nullptr, 0)) ranges_->push(name);
  }
  ~NvtxRange() {
    if (__builtin_expect(ranges_ != nullptr, 0)) ranges_->pop();
  }
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;

 private:
  const NvtxRanges* ranges_;
};

}  // namespace kernpack::host::profile

#endif  // KERNPACK_SRC_OBSERVE_PROFILE_NVTX_H_
