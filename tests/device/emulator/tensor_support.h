// Tensors in global memory, their maps, and kernels that copy boxes of them.
#ifndef KERNPACK_TESTS_DEVICE_EMULATOR_TENSOR_SUPPORT_H_
#define KERNPACK_TESTS_DEVICE_EMULATOR_TENSOR_SUPPORT_H_

#include <functional>
#include <string>
#include <vector>

#include "exec/tensor_map.h"
#include "support.h"

namespace kernpack::emulator {

constexpr uint8_t kU8 = 0, kU32 = 2, kS32 = 3, kF16 = 6, kF32 = 7;

// A tensor whose rows lie `pitches` bytes apart, and its box.
struct Tensor {
  uint8_t element = kU32;
  std::vector<uint32_t> dims, box, steps;
  std::vector<uint64_t> pitches;  // of dimensions 1 and up
  uint32_t swizzle = 0, fill = 0;
};
inline std::vector<TensorMap> MakeMap(const Tensor& tensor, uint64_t address) {
  TensorMap map{};
  map.address = address;
  map.rank = static_cast<uint8_t>(tensor.dims.size() - 1);
  map.element = tensor.element;
  map.swizzle = static_cast<uint8_t>(tensor.swizzle);
  map.fill = static_cast<uint8_t>(tensor.fill);
  map.magic = TensorMap::kMagic;
  for (size_t d = 0; d < tensor.dims.size(); ++d) {
    map.dims[d] = tensor.dims[d];
    map.boxes[d] = tensor.box[d];
    map.steps[d] = tensor.steps.empty() ? 1 : static_cast<uint8_t>(tensor.steps[d]);
    if (d != 0) map.strides[d - 1] = tensor.pitches[d - 1];
  }
  return {map};
}
inline std::string Coordinates(const std::vector<int>& at) {
  std::string out = "{";
  for (size_t d = 0; d < at.size(); ++d) out += (d == 0 ? "" : ", ") + std::to_string(at[d]);
  return out + "}";
}
inline std::string Rank(size_t rank) { return std::to_string(rank) + "d"; }

// 64 threads. s is 8 KiB of shared memory, full an mbarrier of one arrival, %p8: not the first thread. %rd1 is the tensor map.
inline std::string WithTensor(int parameters, const std::string& body) {
  return Kernel(
      parameters,
      ".shared .align 1024 .b8 s[8192]; .shared .align 8 .b64 full; mov.u32 %r3, full; mov.u32 %r6, s; mul.lo.u32 %r5, "
      "%r0, 4; add.u32 %r5, %r5, %r6; setp.ne.u32 %p8, %r0, 0; @!%p8 mbarrier.init.shared.b64 [full], 1; "
      "fence.mbarrier_init.release.cluster; bar.sync 0;\n" +
          body);
}
inline std::string Load(const std::vector<int>& at, uint32_t bytes, const std::string& more = "") {
  return "@%p8 bra $wait; mbarrier.arrive.expect_tx.shared.b64 _, [full], " + std::to_string(bytes) +
         "; cp.async.bulk.tensor." + Rank(at.size()) + ".shared::cluster.global.tile.mbarrier::complete_tx::bytes" +
         more + " [s], [%rd1, " + Coordinates(at) + "], [full]" + (more.empty() ? "" : ", %rs1") + ";\n";
}
inline const std::string kAwaitTensor = "$wait: mbarrier.try_wait.parity.shared.b64 %p1, [full], 0; @!%p1 bra $wait;\n";
// The first `bytes` of s to %rd0.
inline std::string Show(uint32_t bytes) {
  return "mov.u32 %r10, %r0;\n$show: setp.ge.u32 %p2, %r10, " + std::to_string(bytes / 4) +
         "; @%p2 bra $shown; shl.b32 %r11, %r10, 2; add.u32 %r12, %r11, %r6; ld.shared.u32 %r13, [%r12]; cvt.u64.u32 "
         "%rd5, %r11; "
         "add.s64 %rd6, %rd5, %rd0; st.global.u32 [%rd6], %r13; add.u32 %r10, %r10, 64; bra $show;\n$shown:\n";
}

inline uint32_t ElementSize(uint8_t element) { return element == kU8 ? 1 : element == kF16 ? 2 : 4; }

// Calls `use(byte of the box, index in the tensor or -1 outside)` for each element, in the order of the box.
inline void ForBox(const Tensor& tensor, const std::vector<int>& at,
                   const std::function<void(uint32_t, int64_t)>& use) {
  const size_t rank = tensor.dims.size();
  std::vector<uint32_t> counts, index(rank, 0);
  uint32_t all = 1;
  for (size_t d = 0; d < rank; ++d) {
    const uint32_t step = tensor.steps.empty() || d == 0 ? 1 : tensor.steps[d];
    counts.push_back((tensor.box[d] + step - 1) / step);
    all *= counts.back();
  }
  const uint32_t bytes = ElementSize(tensor.element);
  for (uint32_t n = 0; n < all; ++n) {
    uint32_t rest = n;
    int64_t byte = 0;
    bool inside = true;
    for (size_t d = 0; d < rank; ++d) {
      const uint32_t step = tensor.steps.empty() || d == 0 ? 1 : tensor.steps[d];
      const int64_t x = at[d] + int64_t{rest % counts[d]} * step;
      rest /= counts[d];
      inside = inside && x >= 0 && x < int64_t{tensor.dims[d]};
      byte += x * static_cast<int64_t>(d == 0 ? bytes : tensor.pitches[d - 1]);
    }
    use(n * bytes, inside ? byte : -1);
  }
}
// Where a byte of the box lies: lines of the swizzle's width, whose units of 16 bytes change places by the line's number.
inline uint32_t InSwizzle(uint32_t swizzle, uint32_t byte) {
  if (swizzle == 0) return byte;
  const uint32_t wide = 16U << swizzle, line = byte / wide, lines_per_change = 8 / (1U << swizzle);
  const uint32_t unit = byte % wide / 16 ^ line / lines_per_change % (1U << swizzle);
  return line * wide + unit * 16 + byte % 16;
}

inline std::vector<uint8_t> Numbers(size_t bytes) {
  std::vector<uint8_t> out(bytes);
  for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<uint8_t>(i * 37 + i / 251);
  return out;
}

}  // namespace kernpack::emulator

#endif  // KERNPACK_TESTS_DEVICE_EMULATOR_TENSOR_SUPPORT_H_
