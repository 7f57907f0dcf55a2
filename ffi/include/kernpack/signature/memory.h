// Facts about a tensor's memory: is it compact, aligned, which bytes does it reach.
#ifndef KERNPACK_SIGNATURE_MEMORY_H_
#define KERNPACK_SIGNATURE_MEMORY_H_

#include <kernpack/config.h>

KP_NAMESPACE_BEGIN
namespace signature {

struct Layout {
  bool sane;        // no negative extent, and the size in bytes fits 63 bits
  bool contiguous;  // row-major and compact; NULL strides say so
  bool empty;
};

inline Layout GetLayout(const KpDLTensor& t) {
  Layout out{true, true, false};
  int64_t elements = 1;
  for (int32_t i = t.ndim; i-- > 0;) {
    const int64_t size = t.shape[i];
    if (t.strides && size != 1 && t.strides[i] != elements) out.contiguous = false;
    if (KP_UNLIKELY(size < 0 || __builtin_mul_overflow(elements, size, &elements))) out.sane = false;
  }
  out.empty = elements == 0;
  out.contiguous |= out.empty;
  out.sane &= elements >> 56 == 0;  // the widest element has 16 bytes
  return out;
}

// True if the elements follow each other in row-major order.
inline bool IsCompact(const KpDLTensor& t) { return GetLayout(t).contiguous; }

// Bytes an element's address must be a multiple of; a power of two.
inline uint32_t Alignment(KpDLDataType t) {
  const uint32_t bits = t.code == KP_DTYPE_COMPLEX ? t.bits / 2u : t.bits;
  return bits >= 64 ? 8 : bits >= 32 ? 4 : bits >= 16 ? 2 : 1;
}

// The bytes a tensor reaches: [begin, end), empty when it has no elements. Wraps for shapes that are not sane.
struct Range {
  uint64_t begin;
  uint64_t end;
};

inline Range GetRange(const KpDLTensor& t) {
  uint64_t low = 0;
  uint64_t high = 1;
  uint64_t compact = 1;
  for (int32_t i = t.ndim; i-- > 0;) {
    const uint64_t size = static_cast<uint64_t>(t.shape[i]);
    const uint64_t reach = (size - 1) * (t.strides ? static_cast<uint64_t>(t.strides[i]) : compact);
    if (size == 0) return Range{0, 0};
    (static_cast<int64_t>(reach) < 0 ? low : high) += reach;
    compact *= size;
  }
  // A device whose data is a handle has small offsets from it: two views of one buffer have the same handle, and handles of
  // different buffers are compared by the caller.
  const uint64_t origin = reinterpret_cast<uintptr_t>(t.data) + t.byte_offset;
  const uint64_t bits = static_cast<uint64_t>(t.dtype.bits) * t.dtype.lanes;
  return Range{origin - (0 - low * bits + 7) / 8, origin + (high * bits + 7) / 8};
}

// Where an API's data pointer is a handle, not an address.
inline bool DataIsHandle(int32_t device_type) {
  return device_type == KP_DEVICE_OPENCL || device_type == KP_DEVICE_VULKAN || device_type == KP_DEVICE_METAL ||
         device_type == KP_DEVICE_WEBGPU || device_type > 0x1000;
}

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_MEMORY_H_
