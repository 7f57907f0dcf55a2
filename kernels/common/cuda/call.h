// Code that the host halves of the kernels share.
#pragma once

#include <kernpack/device_kernel.h>
#include <kernpack/kernel.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "layout.h"

namespace kp = kernpack;

namespace kk_cuda {

inline kp::DeviceMemory GetMemory(const std::optional<kp::TensorView>& tensor) {
  return tensor ? kp::DeviceMemory(*tensor) : kp::DeviceMemory(nullptr, 0, 1);
}

inline const char* GetName(kp::DType dtype) {
  if (dtype == kp::dtype_of<float>) return "f32";
  return dtype == kp::dtype_of<kp::half> ? "f16" : "bf16";
}

inline int ToInt(const char* what, int64_t n) {
  KP_CHECK(n <= std::numeric_limits<int>::max(), ValueError)
      << what << ": expected at most " << std::numeric_limits<int>::max() << " on a CUDA device, got " << n;
  return static_cast<int>(n);
}

inline uint32_t BlockCount(int64_t n) { return static_cast<uint32_t>(ToInt("blocks of the launch", n)); }

inline const char* NumberName(kp::DType dtype) { return dtype == kp::dtype_of<double> ? "f64" : GetName(dtype); }

inline std::string Named(const std::string& kernel, kp::DType dtype) { return kernel + "_" + NumberName(dtype); }

inline NumberKind GetKind(kp::DType dtype) {
  if (dtype == kp::dtype_of<float>) return kNumberF32;
  if (dtype == kp::dtype_of<double>) return kNumberF64;
  return dtype == kp::dtype_of<kp::half> ? kNumberF16 : kNumberBf16;
}

inline void CheckDims(const char* name, kp::TensorView x) {
  KP_CHECK(x.dim() - 1 <= kLeading, ValueError)
      << name << ": expected at most " << kLeading + 1 << " dimensions on a CUDA device, got " << x.dim();
}

// One more leading dimension, joined with the last one where they are one dimension in memory.
inline void Append(RowLayout* layout, int64_t size, int64_t stride) {
  const int last = layout->dims - 1;
  if (size == 1) return;
  if (last >= 0 && stride == layout->size[last] * layout->stride[last]) {
    layout->size[last] *= size;
    return;
  }
  layout->size[layout->dims] = size, layout->stride[layout->dims++] = stride;
}

inline RowLayout GetLayout(const char* name, kp::TensorView x) {
  CheckDims(name, x);
  RowLayout layout{};
  for (int64_t d = x.dim() - 2; d >= 0; --d) Append(&layout, x.size(d), x.stride(d));
  layout.step = x.dim() == 0 ? 1 : x.stride(-1);
  return layout;
}

constexpr int64_t kChunkBytes = 16;  // what a thread reads at once

// True if the rows can be read in chunks.
inline bool HasChunks(kp::TensorView x, const RowLayout& rows) {
  const int64_t count = kChunkBytes / x.itemsize();
  bool aligned = rows.step == 1 && x.size(-1) % count == 0;
  for (int d = 0; d < rows.dims; ++d) aligned = aligned && rows.stride[d] % count == 0;
  return aligned && reinterpret_cast<uintptr_t>(x.data_ptr()) % kChunkBytes == 0;
}
inline bool IsAligned(const std::optional<kp::TensorView>& x) {
  return !x || reinterpret_cast<uintptr_t>(x->data_ptr()) % kChunkBytes == 0;
}

// A contiguous tensor's rows, one for each position of a shape without its last `within` dimensions; the tensor is broadcast to it.
inline RowLayout GetBroadcastLayout(kp::ShapeView shape, size_t within, kp::TensorView rows) {
  RowLayout layout{};
  int64_t of = rows.dim() - 2;
  for (size_t d = shape.size() - within; d-- > 0; --of) {
    Append(&layout, shape[d], of < 0 || rows.size(of) == 1 ? 0 : rows.stride(of));
  }
  layout.step = 1;
  return layout;
}

// How many threads hold a row of f32, f16 or bf16 in chunks.cuh's Held: 32, 128 or `most`; 0: it is too wide.
inline int TeamFor(kp::DType dtype, int64_t width, int most) {
  constexpr int64_t kHeld = 4;  // chunks of a thread
  if (dtype == kp::dtype_of<double>) return 0;
  const int64_t chunks = (width * dtype.itemsize() + kChunkBytes - 1) / kChunkBytes;
  return chunks <= 32 * kHeld ? 32 : chunks <= 128 * kHeld ? 128 : chunks <= most * kHeld ? most : 0;
}
inline uint32_t TeamBlock(int threads) { return static_cast<uint32_t>(std::max(threads, 128)); }
inline uint32_t TeamBlocks(int threads, int64_t rows) {
  const int64_t beside = TeamBlock(threads) / static_cast<uint32_t>(threads);
  return BlockCount((rows + beside - 1) / beside);
}

}  // namespace kk_cuda
