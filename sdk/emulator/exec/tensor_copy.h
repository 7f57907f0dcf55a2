// cp.async.bulk.tensor: copies of a box of a tensor; and tensor maps that kernels write.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_TENSOR_COPY_H_
#define KERNPACK_SDK_EMULATOR_EXEC_TENSOR_COPY_H_

#include <string_view>

#include "program/program.h"

namespace kernpack::emulator {

// Variants of a copy out of shared memory: it replaces the elements, or updates them as kTensorUpdates says.
constexpr std::string_view kTensorUpdates[] = {"", "add", "min", "max", "inc", "dec", "and", "or", "xor"};

// Operand 1 is the tensor map, 2 the address in shared memory; 3 and 4 the mbarrier and the blocks of a multicast, of a copy into shared
// memory. Program::extra: three addresses (WithAddress), the number of dimensions, the mode
// (TensorMode), the registers of coordinates, and of im2col those of the offsets (kNoOperand: there are none).
void RunTensorLoad(Warp& warp, const Instruction& instruction, uint32_t mask);
void RunTensorStore(Warp& warp, const Instruction& instruction, uint32_t mask);

// tensormap.replace: which field, and the value as operand 1; `count` is the dimension.
enum class TensorField : uint8_t {
  kAddress,
  kRank,
  kBox,
  kDimension,
  kStride,
  kStep,
  kElement,
  kInterleave,
  kSwizzle,
  kFill,
};
void RunTensorReplace(Warp& warp, const Instruction& instruction, uint32_t mask);
// tensormap.cp_fenceproxy: operand 0 the destination in global memory, 1 the source (an address of Program::extra).
void RunTensorPublish(Warp& warp, const Instruction& instruction, uint32_t mask);
// fence.proxy.tensormap with .acquire: operand 0 the map.
void RunTensorAcquire(Warp& warp, const Instruction& instruction, uint32_t mask);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_TENSOR_COPY_H_
