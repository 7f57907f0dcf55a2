#include "torch/dtype.h"

#include <cstddef>

namespace kernpack::torch {
namespace {

// By c10::ScalarType and c10::DeviceType, which are serialised in files and therefore fixed. tests/python/torch compares
// the whole table with the torch at hand.
constexpr KpDLDataType kDTypes[] = {
    {KP_DTYPE_UINT, 8, 1},  // 0 Byte
    {KP_DTYPE_INT, 8, 1},  // 1 Char
    {KP_DTYPE_INT, 16, 1},  // 2 Short
    {KP_DTYPE_INT, 32, 1},  // 3 Int
    {KP_DTYPE_INT, 64, 1},  // 4 Long
    {KP_DTYPE_FLOAT, 16, 1},  // 5 Half
    {KP_DTYPE_FLOAT, 32, 1},  // 6 Float
    {KP_DTYPE_FLOAT, 64, 1},  // 7 Double
    {KP_DTYPE_COMPLEX, 32, 1},  // 8 ComplexHalf
    {KP_DTYPE_COMPLEX, 64, 1},  // 9 ComplexFloat
    {KP_DTYPE_COMPLEX, 128, 1},  // 10 ComplexDouble
    {KP_DTYPE_BOOL, 8, 1},  // 11 Bool
    {},  // 12 QInt8
    {},  // 13 QUInt8
    {},  // 14 QInt32
    {KP_DTYPE_BFLOAT, 16, 1},  // 15 BFloat16
    {},  // 16 QUInt4x2
    {},  // 17 QUInt2x4
    {},  // 18 Bits1x8
    {},  // 19 Bits2x4
    {},  // 20 Bits4x2
    {},  // 21 Bits8
    {},  // 22 Bits16
    {KP_DTYPE_FLOAT8_E5M2, 8, 1},  // 23
    {KP_DTYPE_FLOAT8_E4M3FN, 8, 1},  // 24
    {KP_DTYPE_FLOAT8_E5M2FNUZ, 8, 1},  // 25
    {KP_DTYPE_FLOAT8_E4M3FNUZ, 8, 1},  // 26
    {KP_DTYPE_UINT, 16, 1},  // 27
    {KP_DTYPE_UINT, 32, 1},  // 28
    {KP_DTYPE_UINT, 64, 1},  // 29
};
constexpr int32_t kCount = static_cast<int32_t>(sizeof(kDTypes) / sizeof(kDTypes[0]));
constexpr int32_t kE8M0 = 44;

constexpr int32_t kTorchCpu = 0, kTorchCuda = 1;

}  // namespace

KpDLDataType DTypeFromTorch(int32_t scalar_type) noexcept {
  if (scalar_type == kE8M0) return {KP_DTYPE_FLOAT8_E8M0FNU, 8, 1};
  return scalar_type >= 0 && scalar_type < kCount ? kDTypes[scalar_type] : KpDLDataType{};
}

int32_t DTypeToTorch(KpDLDataType dtype) noexcept {
  if (dtype.lanes != 1) return -1;
  if (dtype.code == KP_DTYPE_FLOAT8_E8M0FNU) return kE8M0;
  for (int32_t i = 0; i < kCount; ++i) {
    if (kDTypes[i].bits == dtype.bits && kDTypes[i].code == dtype.code) return i;
  }
  return -1;
}

KpDLDevice DeviceFromTorch(int32_t type, int32_t index) noexcept {
  if (type == kTorchCpu) return {KP_DEVICE_CPU, 0};
  if (type == kTorchCuda) return {KP_DEVICE_CUDA, index < 0 ? 0 : index};
  return {0, 0};
}

int32_t DeviceTypeToTorch(int32_t device_type) noexcept {
  if (device_type == KP_DEVICE_CPU) return kTorchCpu;
  return device_type == KP_DEVICE_CUDA ? kTorchCuda : -1;
}

}  // namespace kernpack::torch
