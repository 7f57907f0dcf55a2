// Copies between boxes of strided memory.
#include <cstring>

#include "devices/cpu/cpu.h"

namespace kernpack::host::cpu {
namespace {

struct Box {
  const KpStridedCopy& shape;

  // Everything from dimension `at` inwards.
  void Copy(int32_t at, const char* from, char* to) const {
    if (at == shape.ndim - 1) return CopyRow(from, to);
    for (int64_t i = 0; i < shape.shape[at]; ++i) {
      Copy(at + 1, from + i * shape.from_strides[at], to + i * shape.to_strides[at]);
    }
  }

  void CopyRow(const char* from, char* to) const {
    const int32_t last = shape.ndim - 1;
    const int64_t count = shape.shape[last];
    const int64_t bytes = shape.element_bytes;
    const int64_t from_step = shape.from_strides[last];
    const int64_t to_step = shape.to_strides[last];
    if (from_step == bytes && to_step == bytes) {
      std::memcpy(to, from, static_cast<size_t>(count * bytes));
    } else if (bytes == 4) {
      CopyElements<4>(count, from, from_step, to, to_step);
    } else if (bytes == 8) {
      CopyElements<8>(count, from, from_step, to, to_step);
    } else {
      for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * from_step, shape.element_bytes);
    }
  }

  template <size_t kBytes>
  static void CopyElements(int64_t count, const char* from, int64_t from_step, char* to, int64_t to_step) {
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * from_step, kBytes);
  }
};

}  // namespace

int CopyStrided(const KpDeviceApi*, const KpMemory* from, const KpMemory* to, const KpStridedCopy* box, void*,
                int32_t* done) noexcept {
  Box{*box}.Copy(0, static_cast<const char*>(from->handle) + from->offset, static_cast<char*>(to->handle) + to->offset);
  *done = 1;
  return 0;
}

}  // namespace kernpack::host::cpu
