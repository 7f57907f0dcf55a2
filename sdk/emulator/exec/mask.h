// Lanes of a warp as the bits of a mask.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_MASK_H_
#define KERNPACK_SDK_EMULATOR_EXEC_MASK_H_

#include <bit>
#include <cstdint>

namespace kernpack::emulator {

// The first lane of a mask that isn't empty.
inline uint32_t First(uint32_t mask) { return static_cast<uint32_t>(std::countr_zero(mask)); }

// True if the mask has one lane, or none.
inline bool IsOne(uint32_t mask) { return (mask & (mask - 1)) == 0; }

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_MASK_H_
