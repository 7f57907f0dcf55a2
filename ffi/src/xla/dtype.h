// XLA's element types as DLPack's. Sub-byte types keep their logical bits; XLA gives logical extents for them.
#ifndef KERNPACK_SRC_XLA_DTYPE_H_
#define KERNPACK_SRC_XLA_DTYPE_H_

#include <kernpack/abi.h>

#include <array>
#include <cstddef>

#include "xla/xla_ffi_abi.h"

namespace kernpack::xla {

inline constexpr std::array<KpDLDataType, kDataTypeEnd> MakeDataTypes() {
  std::array<KpDLDataType, kDataTypeEnd> t{};
  const auto set = [&t](DataType from, int code, int bits) {
    t[static_cast<size_t>(from)] = {static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1};
  };
  set(DataType::kPred, KP_DTYPE_BOOL, 8);
  set(DataType::kS1, KP_DTYPE_INT, 1);
  set(DataType::kS2, KP_DTYPE_INT, 2);
  set(DataType::kS4, KP_DTYPE_INT, 4);
  set(DataType::kS8, KP_DTYPE_INT, 8);
  set(DataType::kS16, KP_DTYPE_INT, 16);
  set(DataType::kS32, KP_DTYPE_INT, 32);
  set(DataType::kS64, KP_DTYPE_INT, 64);
  set(DataType::kU1, KP_DTYPE_UINT, 1);
  set(DataType::kU2, KP_DTYPE_UINT, 2);
  set(DataType::kU4, KP_DTYPE_UINT, 4);
  set(DataType::kU8, KP_DTYPE_UINT, 8);
  set(DataType::kU16, KP_DTYPE_UINT, 16);
  set(DataType::kU32, KP_DTYPE_UINT, 32);
  set(DataType::kU64, KP_DTYPE_UINT, 64);
  set(DataType::kF16, KP_DTYPE_FLOAT, 16);
  set(DataType::kF32, KP_DTYPE_FLOAT, 32);
  set(DataType::kF64, KP_DTYPE_FLOAT, 64);
  set(DataType::kBf16, KP_DTYPE_BFLOAT, 16);
  set(DataType::kC64, KP_DTYPE_COMPLEX, 64);
  set(DataType::kC128, KP_DTYPE_COMPLEX, 128);
  set(DataType::kF8E3M4, KP_DTYPE_FLOAT8_E3M4, 8);
  set(DataType::kF8E4M3, KP_DTYPE_FLOAT8_E4M3, 8);
  set(DataType::kF8E4M3B11Fnuz, KP_DTYPE_FLOAT8_E4M3B11FNUZ, 8);
  set(DataType::kF8E4M3Fn, KP_DTYPE_FLOAT8_E4M3FN, 8);
  set(DataType::kF8E4M3Fnuz, KP_DTYPE_FLOAT8_E4M3FNUZ, 8);
  set(DataType::kF8E5M2, KP_DTYPE_FLOAT8_E5M2, 8);
  set(DataType::kF8E5M2Fnuz, KP_DTYPE_FLOAT8_E5M2FNUZ, 8);
  set(DataType::kF8E8M0Fnu, KP_DTYPE_FLOAT8_E8M0FNU, 8);
  set(DataType::kF4E2M1Fn, KP_DTYPE_FLOAT4_E2M1FN, 4);
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

#endif  // KERNPACK_SRC_XLA_DTYPE_H_
