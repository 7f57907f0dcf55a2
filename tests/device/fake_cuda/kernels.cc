// The kernels that the fake can run, each as its CUDA source would (tests/device/cuda/kernels.cu).
#include <algorithm>
#include <cstring>

#include "machine.h"

namespace kernpack::cuda {
namespace {

using Arguments = std::vector<std::vector<uint8_t>>;

template <class T>
T Value(const Arguments& arguments, size_t i) {
  T value{};
  std::memcpy(&value, arguments[i].data(), sizeof value);
  return value;
}

// Elements that the launch reaches of the n that the kernel was told of; NULL when they are not all there.
template <class T>
T* Elements(const Arguments& arguments, size_t i, uint64_t count) {
  const auto address = Value<DevicePtr>(arguments, i);
  if (FindBlock(address, count * sizeof(T)) == nullptr) return nullptr;  // the host's memory is none to a kernel
  return reinterpret_cast<T*>(Access(address, count * sizeof(T)));
}

uint64_t Reached(const KernelShape& shape, int32_t n) {
  return n < 0 ? 0 : std::min<uint64_t>(shape.threads(), static_cast<uint64_t>(n));
}

// kp_test_scale(float* x, float factor, int n): x *= factor
Result Scale(const KernelShape& shape, const Arguments& arguments) {
  const uint64_t n = Reached(shape, Value<int32_t>(arguments, 2));
  auto* x = Elements<float>(arguments, 0, n);
  if (x == nullptr) return kIllegalAddress;
  for (uint64_t i = 0; i < n; ++i) x[i] *= Value<float>(arguments, 1);
  return kSuccess;
}

// kp_test_add(float* out, const float* a, const float* b, int n)
Result Add(const KernelShape& shape, const Arguments& arguments) {
  const uint64_t n = Reached(shape, Value<int32_t>(arguments, 3));
  auto* out = Elements<float>(arguments, 0, n);
  const auto* a = Elements<float>(arguments, 1, n);
  const auto* b = Elements<float>(arguments, 2, n);
  if (out == nullptr || a == nullptr || b == nullptr) return kIllegalAddress;
  for (uint64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
  return kSuccess;
}

// kp_test_shape(unsigned* out): grid, block, blocks of a cluster, bytes of dynamic shared memory
Result Shape(const KernelShape& shape, const Arguments& arguments) {
  auto* out = Elements<uint32_t>(arguments, 0, 8);
  if (out == nullptr) return kIllegalAddress;
  std::copy_n(shape.grid, 3, out);
  std::copy_n(shape.block, 3, out + 3);
  out[6] = shape.cluster[0] * shape.cluster[1] * shape.cluster[2];
  out[7] = shape.shared;
  return kSuccess;
}

// generated_scale_kernel(int64_t first, const float* x, float k, float* o), as tests/device/codegen/cuda_test.cc has it generated:
// a block of one thread an element
Result GeneratedScale(const KernelShape& shape, const Arguments& arguments) {
  const auto first = Value<uint64_t>(arguments, 0);
  const auto* x = Elements<float>(arguments, 1, first + shape.threads());
  auto* o = Elements<float>(arguments, 3, first + shape.threads());
  if (x == nullptr || o == nullptr) return kIllegalAddress;
  for (uint64_t i = first; i < first + shape.threads(); ++i) o[i] = x[i] * Value<float>(arguments, 2);
  return kSuccess;
}

// generated_gather_kernel(int64_t first, const int64_t* idx, int64_t M, const float* t, float* o, int64_t* kp_asserts), as
// tests/device/codegen/cuda_test.cc has it generated and pins its parameters: assert 1 is of t[idx[i]]
Result GeneratedGather(const KernelShape& shape, const Arguments& arguments) {
  const auto first = Value<int64_t>(arguments, 0), m = Value<int64_t>(arguments, 2);
  const uint64_t n = static_cast<uint64_t>(first) + shape.threads();
  const auto* idx = Elements<int64_t>(arguments, 1, n);
  const auto* t = Elements<float>(arguments, 3, static_cast<uint64_t>(m));
  auto* o = Elements<float>(arguments, 4, n);
  auto* word = Elements<int64_t>(arguments, 5, 5);
  if (idx == nullptr || t == nullptr || o == nullptr || word == nullptr) return kIllegalAddress;
  for (int64_t i = first; i < first + static_cast<int64_t>(shape.threads()); ++i) {
    if (idx[i] >= 0 && idx[i] < m) {
      o[i] = t[idx[i]];
    } else if (word[0] == 0) {
      const int64_t failed[] = {1, idx[i], m, 0, 0};
      std::copy_n(failed, 5, word);
    }
  }
  return kSuccess;
}

Result Nothing(const KernelShape& /*shape*/, const Arguments& /*arguments*/) { return kSuccess; }

}  // namespace

const std::vector<KernelDef>& Kernels() {
  static const auto* const kernels = new std::vector<KernelDef>{
      {"kp_test_scale", {8, 4, 4}, 1024, 0, false, Scale},
      {"kp_test_add", {8, 8, 8, 4}, 1024, 0, false, Add},
      {"kp_test_shape", {8}, 1024, 1024, false, Shape},
      {"kp_test_bounded", {}, 128, 0, false, Nothing},
      {"kp_test_needs_cluster", {}, 1024, 0, true, Nothing},
      {"generated_scale_kernel", {8, 8, 4, 8}, 1, 0, false, GeneratedScale},
      {"generated_gather_kernel", {8, 8, 8, 8, 8, 8}, 1, 0, false, GeneratedGather},
  };
  return *kernels;
}

}  // namespace kernpack::cuda
