#include "guests/torch/dtype.h"

#include <cstddef>

#include <kernpack/dtype.h>

namespace kernpack::torch {
namespace {

// By c10::ScalarType and c10::DeviceType, which are serialised in files and therefore fixed. tests/python/torch compares
// the whole table with the torch at hand.
constexpr KpDLDataType kDTypes[] = {
    u8,  // 0 Byte
    i8,  // 1 Char
    i16,  // 2 Short
    i32,  // 3 Int
    i64,  // 4 Long
    f16,  // 5 Half
    f32,  // 6 Float
    f64,  // 7 Double
    {KP_DTYPE_COMPLEX, 32, 1},  // 8 ComplexHalf
    c64,  // 9 ComplexFloat
    c128,  // 10 ComplexDouble
    bool_,  // 11 Bool
    {},  // 12 QInt8
    {},  // 13 QUInt8
    {},  // 14 QInt32
    bf16,  // 15 BFloat16
    {},  // 16 QUInt4x2
    {},  // 17 QUInt2x4
    {},  // 18 Bits1x8
    {},  // 19 Bits2x4
    {},  // 20 Bits4x2
    {},  // 21 Bits8
    {},  // 22 Bits16
    f8_e5m2,  // 23
    f8_e4m3fn,  // 24
    f8_e5m2fnuz,  // 25
    f8_e4m3fnuz,  // 26
    u16,  // 27
    u32,  // 28
    u64,  // 29
};
constexpr int32_t kCount = static_cast<int32_t>(sizeof(kDTypes) / sizeof(kDTypes[0]));
constexpr int32_t kE8M0 = 44;

struct Foreign {
  int32_t number;
  const char* name;
};
constexpr Foreign kForeign[] = {
    {12, "qint8"},      {13, "quint8"},  {14, "qint32"},  {16, "quint4x2"}, {17, "quint2x4"},
    {18, "bits1x8"},    {19, "bits2x4"}, {20, "bits4x2"}, {21, "bits8"},    {22, "bits16"},
    {30, "uint1"},      {31, "uint2"},   {32, "uint3"},   {33, "uint4"},    {34, "uint5"},
    {35, "uint6"},      {36, "uint7"},   {37, "int1"},    {38, "int2"},     {39, "int3"},
    {40, "int4"},       {41, "int5"},    {42, "int6"},    {43, "int7"},     {45, "float4_e2m1fn_x2"},
    {46, "bcomplex32"},
};

constexpr int32_t kTorchCpu = 0, kTorchCuda = 1;

}  // namespace

KpDLDataType DTypeFromTorch(int32_t scalar_type) noexcept {
  if (scalar_type == kE8M0) return f8_e8m0fnu;
  return scalar_type >= 0 && scalar_type < kCount ? kDTypes[scalar_type] : KpDLDataType{};
}

const char* ForeignDTypeName(int32_t scalar_type) noexcept {
  for (const Foreign& row : kForeign) {
    if (row.number == scalar_type) return row.name;
  }
  return nullptr;
}

int32_t DTypeToTorch(KpDLDataType dtype) noexcept {
  if (dtype.lanes != 1) return -1;
  if (dtype.code == f8_e8m0fnu.code) return kE8M0;
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
