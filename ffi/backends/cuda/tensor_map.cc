// Tensor maps (CUtensorMap), which the tensor memory accelerator (TMA) reads.
#include "backends/cuda/code.h"

#include <algorithm>
#include <iterator>

#include "backends/cuda/text.h"

namespace kernpack::cuda {
namespace {

// Bytes of an element of each type that the driver numbers, up to kElementTf32Ftz.
constexpr uint32_t kElementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
static_assert(std::size(kElementBytes) == kElementTf32Ftz + 1);
constexpr int64_t kMostElements = int64_t{1} << 32;
constexpr int64_t kMostStride = int64_t{1} << 40;
constexpr uint32_t kMostInBox = 256;
constexpr uint32_t kMostStep = 8;
constexpr int kFirstMajor = 9;
// Drivers up to CUDA 13.1 set this bit in the maps of tensors below 128 KiB. CUTLASS and Triton clear it after encoding.
constexpr int kMarksSmallTensors = 13010;
constexpr int64_t kSmallTensor = 128 << 10;
constexpr unsigned long long kSmallMark = 1ULL << 21;

// An error of one map.
class Wrong {
 public:
  Wrong(const Kernel& kernel, size_t at, const KpTensorMap& map)
      : kernel_(kernel),
        where_(map.tensor ? Format("tensor '%s': ", map.tensor) : Format("argument %zu, a tensor map: ", at)) {}
  int operator()(const std::string& message) const { return Refuse(kernel_, where_ + message); }

 private:
  const Kernel& kernel_;
  const std::string where_;
};

// Dimensions are counted as people do: the outermost is 0.
unsigned Dim(const KpTensorMap& map, uint32_t i) { return map.rank - 1 - i; }

int CheckTensor(const KpTensorMap& map, const Wrong& wrong) {
  const uint64_t unit = map.interleave == kInterleave32 ? 32 : 16;
  const uint64_t address = reinterpret_cast<uintptr_t>(map.handle) + map.offset;
  if (address % unit != 0) {
    return wrong(Format("expected an address that is a multiple of %llu, which TMA needs, got 0x%llx; pass a copy",
                        static_cast<unsigned long long>(unit), static_cast<unsigned long long>(address)));
  }
  for (uint32_t i = 0; i < map.rank; ++i) {
    if (map.extents[i] < 1 || map.extents[i] > kMostElements) {
      return wrong(Format("dim %u: TMA takes 1 to 2^32 elements, got %lld", Dim(map, i),
                          static_cast<long long>(map.extents[i])));
    }
  }
  for (uint32_t i = 0; i + 1 < map.rank; ++i) {
    const int64_t stride = map.strides[i];
    if (stride >= 0 && stride < kMostStride && static_cast<uint64_t>(stride) % unit == 0) continue;
    return wrong(
        Format("dim %u: expected a stride that is a multiple of %llu bytes and less than 2^40, which TMA needs, "
               "got %lld; pad the dims inside of it",
               Dim(map, i + 1), static_cast<unsigned long long>(unit), static_cast<long long>(stride)));
  }
  return 0;
}

int CheckBox(const KpTensorMap& map, const Wrong& wrong) {
  for (uint32_t i = 0; i < map.rank; ++i) {
    if (map.box[i] < 1 || map.box[i] > kMostInBox) {
      return wrong(Format("dim %u: TMA copies blocks of 1 to %u elements along a dim, got %u", Dim(map, i), kMostInBox,
                          map.box[i]));
    }
    if (map.steps[i] < 1 || map.steps[i] > kMostStep) {
      return wrong(Format("dim %u: expected a step of 1 to %u elements, got %u", Dim(map, i), kMostStep, map.steps[i]));
    }
  }
  if (map.interleave != 0) return 0;
  const uint32_t bytes = map.box[0] * kElementBytes[map.element_type];
  if (bytes % 16 != 0) {
    return wrong(Format("TMA copies rows of a multiple of 16 bytes, got a block with rows of %u: %u elements", bytes,
                        map.box[0]));
  }
  const uint32_t most = map.swizzle == 0 ? bytes : map.swizzle >= kSwizzle128 ? 128U : 16U << map.swizzle;
  if (bytes <= most) return 0;
  return wrong(Format("TMA swizzles rows of at most %u bytes in this mode, got a block with rows of %u", most, bytes));
}

int64_t LastByte(const KpTensorMap& map) {
  int64_t last = (map.extents[0] - 1) * kElementBytes[map.element_type];
  for (uint32_t i = 1; i < map.rank; ++i) last += (map.extents[i] - 1) * map.strides[i - 1];
  return last;
}

}  // namespace

int EncodeTensorMap(const Kernel& kernel, size_t at, const KpKernelArg& argument, TensorMap* out) {
  if (argument.data == nullptr || argument.size != sizeof(KpTensorMap)) {
    return Refuse(kernel, Format("argument %zu: expected a KpTensorMap of %zu bytes, got %u", at, sizeof(KpTensorMap),
                                 argument.data == nullptr ? 0U : argument.size));
  }
  const auto& map = *static_cast<const KpTensorMap*>(argument.data);
  const Wrong wrong(kernel, at, map);
  const Device& device = *kernel.device;
  if (device.limits.major < kFirstMajor) {
    return wrong("tensor maps (TMA) need a device of compute capability 9.0 or newer, this is " + device.arch());
  }
  const Driver& driver = device.driver();
  if (driver.cuTensorMapEncodeTiled == nullptr) {
    return wrong("the driver can't encode tensor maps (TMA): it has no cuTensorMapEncodeTiled");
  }
  constexpr uint32_t kMostDims = std::size(decltype(map.extents){});
  if (map.rank < 1 || map.rank > kMostDims) {
    return wrong(Format("TMA takes tensors of 1 to %u dims, got %u", kMostDims, map.rank));
  }
  if (map.element_type >= std::size(kElementBytes)) {
    return wrong(Format("expected a type of elements from 0 to %d, as cuTensorMapEncodeTiled numbers them, got %u",
                        kElementTf32Ftz, map.element_type));
  }
  if (CheckTensor(map, wrong) != 0 || CheckBox(map, wrong) != 0) return -1;
  unsigned long long extents[kMostDims];
  unsigned long long strides[kMostDims] = {};
  std::copy_n(map.extents, map.rank, extents);
  std::copy_n(map.strides, map.rank - 1, strides);
  void* address = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(map.handle) + map.offset);
  KP_CUDA_TRY(device, cuTensorMapEncodeTiled,
              (out, map.element_type, map.rank, address, extents, strides, map.box, map.steps, map.interleave,
               map.swizzle, map.l2_promotion, map.fill),
              "encoding a tensor map for the kernel " + kernel.name);
  if (driver.version <= kMarksSmallTensors && LastByte(map) + 1 < kSmallTensor) out->words[1] &= ~kSmallMark;
  return 0;
}

}  // namespace kernpack::cuda
