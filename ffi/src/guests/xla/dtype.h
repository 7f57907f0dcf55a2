// XLA's element types as DLPack's. Sub-byte types keep their logical bits; XLA gives logical extents for them.
#ifndef KERNPACK_SRC_GUESTS_XLA_DTYPE_H_
#define KERNPACK_SRC_GUESTS_XLA_DTYPE_H_

#include <kernpack/dtype.h>

#include <array>
#include <cstddef>

#include "guests/xla/xla_ffi_abi.h"

namespace kernpack::xla {

inline constexpr std::array<KpDLDataType, kDataTypeEnd> MakeDataTypes() {
  std::array<KpDLDataType, kDataTypeEnd> t{};
  const auto set = [&t](DataType from, DType dtype) { t[static_cast<size_t>(from)] = dtype; };
  set(DataType::kPred, bool_);
  set(DataType::kS1, {KP_DTYPE_INT, 1});
  set(DataType::kS2, {KP_DTYPE_INT, 2});
  set(DataType::kS4, i4);
  set(DataType::kS8, i8);
  set(DataType::kS16, i16);
  set(DataType::kS32, i32);
  set(DataType::kS64, i64);
  set(DataType::kU1, {KP_DTYPE_UINT, 1});
  set(DataType::kU2, {KP_DTYPE_UINT, 2});
  set(DataType::kU4, u4);
  set(DataType::kU8, u8);
  set(DataType::kU16, u16);
  set(DataType::kU32, u32);
  set(DataType::kU64, u64);
  set(DataType::kF16, f16);
  set(DataType::kF32, f32);
  set(DataType::kF64, f64);
  set(DataType::kBf16, bf16);
  set(DataType::kC64, c64);
  set(DataType::kC128, c128);
  set(DataType::kF8E3M4, f8_e3m4);
  set(DataType::kF8E4M3, f8_e4m3);
  set(DataType::kF8E4M3B11Fnuz, f8_e4m3b11fnuz);
  set(DataType::kF8E4M3Fn, f8_e4m3fn);
  set(DataType::kF8E4M3Fnuz, f8_e4m3fnuz);
  set(DataType::kF8E5M2, f8_e5m2);
  set(DataType::kF8E5M2Fnuz, f8_e5m2fnuz);
  set(DataType::kF8E8M0Fnu, f8_e8m0fnu);
  set(DataType::kF4E2M1Fn, f4_e2m1fn);
  return t;
}

inline constexpr std::array<KpDLDataType, kDataTypeEnd> kDataTypes = MakeDataTypes();

// `bits` is 0 for what no tensor can be: tokens, tuples, and types that this version does not know.
inline KpDLDataType ToDLPack(DataType dtype) {
  const auto index = static_cast<uint32_t>(dtype);
  return index < kDataTypes.size() ? kDataTypes[index] : KpDLDataType{};
}

// Of one item of an array or scalar attribute, where every item takes whole bytes.
inline size_t ByteSize(DataType dtype) { return (ToDLPack(dtype).bits + size_t{7}) / 8; }

}  // namespace kernpack::xla

#endif  // KERNPACK_SRC_GUESTS_XLA_DTYPE_H_
