// A small number for each thread, for picking a shard.
#ifndef KERNPACK_SRC_BASE_THREAD_INDEX_H_
#define KERNPACK_SRC_BASE_THREAD_INDEX_H_

#include <cstdint>

namespace kernpack::host {

// 0 for the first thread that asks, 1 for the next, and so on; constant for a thread's life.
uint32_t ThreadIndex() noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_THREAD_INDEX_H_
