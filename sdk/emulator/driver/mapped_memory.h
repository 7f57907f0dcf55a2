// Memory that a program creates, and maps at addresses that it reserved (cuMemCreate, cuMemAddressReserve, cuMemMap).
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_MAPPED_MEMORY_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_MAPPED_MEMORY_H_

#include <fcntl.h>

#include <cstdint>
#include <map>
#include <set>

namespace kernpack::cuda {

// A file without a name holds the memory, and after it a bit for each byte that says whether the byte was written: mapped twice, in
// this process or in another, it is one memory.
struct Allocation {
  int file = -1;
  int device = 0;
  uint64_t bytes = 0;
  int handle_types = 0;  // ways to share it that were asked for
  int handles = 1;  // how often the program has to release it
  int maps = 0;
};

// Files that another process may map can't change their size; by this they are known, too.
constexpr int kFileSeals = F_SEAL_SHRINK | F_SEAL_GROW;

struct Mapping {
  uint64_t bytes = 0;
  unsigned long long allocation = 0;
  std::set<int> devices;  // that cuMemSetAccess gave access to
};

// Addresses of the device. Neighbouring mappings are neighbours for the host too, so that one copy or kernel may use both.
struct Reservation {
  uint64_t bytes = 0;
  uint8_t* backing = nullptr;
  uint8_t* written = nullptr;
  std::map<uintptr_t, Mapping> mappings;
};

struct MappedMemory {
  std::map<unsigned long long, Allocation> allocations;  // by handle
  std::map<uintptr_t, Reservation> reservations;  // by address
  unsigned long long last_handle = 0;
};

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_MAPPED_MEMORY_H_
