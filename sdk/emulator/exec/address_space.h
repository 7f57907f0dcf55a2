// Global memory as a kernel sees it: regions at device addresses, with the host's view of each.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_ADDRESS_SPACE_H_
#define KERNPACK_SDK_EMULATOR_EXEC_ADDRESS_SPACE_H_

#include <cstdint>
#include <string>

namespace kernpack::emulator {

struct SectorShadow;

struct Region {
  uint64_t begin = 0;
  uint64_t size = 0;
  uint8_t* data = nullptr;
  uint8_t* written = nullptr;  // a bit a byte: set once it has been written; NULL where that is not kept
  bool read_only = false;      // .const variables
  SectorShadow* sectors = nullptr;  // who touched them last, in sectors of 32 bytes; NULL where that is not kept
};

class AddressSpace {
 public:
  virtual ~AddressSpace() = default;
  // The region that a kernel may use at that address, NULL when there is none. Safe from several threads while a kernel runs.
  virtual const Region* Find(uint64_t address) const = 0;
  // Describes the neighbourhood of an address without a region, for people: "12 bytes behind an allocation of 4000 bytes".
  virtual std::string Near(uint64_t address) const = 0;
};

// Sets or tests the bits of bytes [offset, offset + bytes).
void MarkWritten(uint8_t* written, uint64_t offset, uint64_t bytes);
bool AllWritten(const uint8_t* written, uint64_t offset, uint64_t bytes);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_ADDRESS_SPACE_H_
