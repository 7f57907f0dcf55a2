// Facts about a tensor's memory: is it compact, aligned, does it overlap another's.
#ifndef KERNPACK_SIGNATURE_MEMORY_H_
#define KERNPACK_SIGNATURE_MEMORY_H_

#include <kernpack/config.h>

KP_NAMESPACE_BEGIN
namespace signature {

inline bool IsEmpty(const KpDLTensor& t) {
  for (int32_t i = 0; i < t.ndim; ++i) {
    if (t.shape[i] == 0) return true;
  }
  return false;
}

// Row-major and compact; NULL strides say so.
inline bool IsContiguous(const KpDLTensor& t) {
  if (!t.strides) return true;
  int64_t expected = 1;
  for (int32_t i = t.ndim; i-- > 0;) {
    if (KP_UNLIKELY(t.shape[i] != 1 && t.strides[i] != expected)) return IsEmpty(t);
    expected *= t.shape[i];
  }
  return true;
}

// Bytes an element's address must be a multiple of; a power of two.
inline uint32_t Alignment(KpDLDataType t) {
  const uint32_t bits = t.code == KP_DTYPE_COMPLEX ? t.bits / 2u : t.bits;
  return bits >= 64 ? 8 : bits >= 32 ? 4 : bits >= 16 ? 2 : 1;
}

// Where an API's data pointer is a handle, two views meet only if they have the same one.
inline bool DataIsHandle(int32_t device_type) {
  return device_type == KP_DEVICE_OPENCL || device_type == KP_DEVICE_VULKAN || device_type == KP_DEVICE_METAL ||
         device_type == KP_DEVICE_WEBGPU || device_type > 0x1000;
}

// The bytes a tensor reaches, relative to `data`: [begin, end).
struct Extent {
  int64_t begin;
  int64_t end;
};

inline Extent ExtentOf(const KpDLTensor& t) {
  int64_t low = 0;
  int64_t high = 0;
  int64_t compact = 1;
  for (int32_t i = t.ndim; i-- > 0;) {
    if (t.shape[i] == 0) return Extent{0, 0};
    const int64_t reach = (t.shape[i] - 1) * (t.strides ? t.strides[i] : compact);
    (reach < 0 ? low : high) += reach;
    compact *= t.shape[i];
  }
  const int64_t bits = int64_t{t.dtype.bits} * t.dtype.lanes;
  const int64_t offset = static_cast<int64_t>(t.byte_offset);
  return Extent{offset + (low * bits - (low ? 7 : 0)) / 8, offset + ((high + 1) * bits + 7) / 8};
}

// Whether two tensors may share a byte. Interleaved strided views count as overlapping.
inline bool Overlaps(const KpDLTensor& a, const KpDLTensor& b) {
  if (a.device.device_type != b.device.device_type || a.device.device_id != b.device.device_id) return false;
  const bool handle = DataIsHandle(a.device.device_type);
  if (handle && a.data != b.data) return false;
  const Extent x = ExtentOf(a);
  const Extent y = ExtentOf(b);
  if (x.begin == x.end || y.begin == y.end) return false;
  const uint64_t from_x = handle ? 0 : reinterpret_cast<uintptr_t>(a.data);
  const uint64_t from_y = handle ? 0 : reinterpret_cast<uintptr_t>(b.data);
  return from_x + static_cast<uint64_t>(x.begin) < from_y + static_cast<uint64_t>(y.end) &&
         from_y + static_cast<uint64_t>(y.begin) < from_x + static_cast<uint64_t>(x.end);
}

// A broadcast dim: several indices reach one element.
inline bool OverlapsItself(const KpDLTensor& t) {
  for (int32_t i = 0; t.strides && i < t.ndim; ++i) {
    if (t.strides[i] == 0 && t.shape[i] > 1) return true;
  }
  return false;
}

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_MEMORY_H_
