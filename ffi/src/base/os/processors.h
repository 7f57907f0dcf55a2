// The machine's processors and memory, as the operating system reports them. 0 or "": it doesn't.
#ifndef KERNPACK_SRC_BASE_OS_PROCESSORS_H_
#define KERNPACK_SRC_BASE_OS_PROCESSORS_H_

#include <cstdint>
#include <string>
#include <thread>

namespace kernpack::host::os {

// Processors that this thread may run on; at least 1.
int32_t CountUsableProcessors() noexcept;

// The number of times that threads of this process had to leave a processor to other threads; -1 if the system doesn't count.
int64_t CountPreemptions() noexcept;

// Where a thread may run. Doesn't allocate memory.
class Placement {
 public:
  // Keeps the thread off the caller's processor from now on, where it has another.
  void KeepOffCaller(std::thread& thread) noexcept;
  // For the thread itself: it may run where it might before.
  void Restore() noexcept;

 private:
  [[maybe_unused]] bool is_kept_off_ = false;
  [[maybe_unused]] alignas(8) unsigned char before_[128];  // KeepOffCaller: the system's own type
};

// Asks for the tile registers (AMX) of x86-64 for all threads of this process. False if the system doesn't give them.
bool AskForTiles() noexcept;

std::string GetProcessorName();
int64_t GetMaxClockRate();  // kHz
int64_t GetL2CacheBytes() noexcept;
int64_t GetMemoryBytes() noexcept;
int64_t GetAvailableMemoryBytes();

}  // namespace kernpack::host::os

#endif  // KERNPACK_SRC_BASE_OS_PROCESSORS_H_
