#include "observe/check/outside.h"

namespace kernpack::host::check {
namespace {

constexpr uint64_t kEachByte = 0x0101010101010101u;
constexpr uint64_t kHalf = 0x7d80;  // signalling as f16
constexpr uint64_t kWord = 0x7f80;  // signalling as bf16, and in the upper word of f32
constexpr uint64_t kTopOfDouble = 0x7ff3;
constexpr uint64_t kNumber = 0x7b80;  // large and finite as any float

bool IsHalf(KpDLDataType dtype) { return PartBits(dtype) == 16 && dtype.code != KP_DTYPE_BFLOAT; }

unsigned Checked(uint64_t tag) { return tag <= kOutsideTags ? static_cast<unsigned>(tag) : 0; }

template <class T>
T Read(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Without the sign. Each line: the fill itself, quiet or not; then the quiet NaNs that a conversion makes of another dtype's.
unsigned TagOfHalf(uint32_t bits) {
  if ((bits & 0x7d80u) == kHalf && (bits & 0x40u) == 0) return Checked(bits & 0x3fu);
  return (bits & 0x7e07u) == 0x7e03u ? Checked(bits >> 3 & 0x3fu) : 0;  // of f32
}

unsigned TagOfBfloat(uint32_t bits) { return (bits & 0x7f80u) == kWord ? Checked(bits & 0x3fu) : 0; }

unsigned TagOfFloat(uint32_t bits) {
  const uint32_t top = bits >> 16;
  const unsigned tag = TagOfBfloat(top);
  const uint32_t rest = bits & 0xffffu;
  if (tag != 0 && (rest == (kWord | tag) || rest == 0)) return tag;  // rest == 0: of bf16
  if ((bits & ~(0x3fu << 13)) == 0x7ff00000u) return Checked(bits >> 13 & 0x3fu);  // of f16
  const uint32_t of_double = bits >> 3 & 0x3fu;
  return bits == (0x7fd80003u | static_cast<uint32_t>(kWord << 3) | of_double << 3) ? Checked(of_double) : 0;
}

unsigned TagOfDouble(uint64_t bits) {
  const uint64_t words = bits & 0xffffffffffffu;
  const unsigned tag = Checked(bits & 0x3fu);
  if (tag != 0 && (bits >> 48 & 0x7ff7u) == kTopOfDouble && words == (((kWord | tag) * kEachWord) & 0xffffffffffffu)) {
    return tag;
  }
  if ((bits >> 52) != 0x7ffu || (bits & 0x1fffffffu) != 0) return 0;
  return TagOfFloat(0x7f800000u | static_cast<uint32_t>(bits >> 29 & 0x7fffffu));  // of f32, and of what was made one
}

}  // namespace

Pattern OutsidePattern(unsigned tag, KpDLDataType dtype, bool is_input, Turn turn) {
  const bool is_float = IsFloat(dtype);
  const bool narrow = !is_float && dtype.bits <= 8;  // each byte differs from other buffers'
  if (turn == Turn::kAgain && is_float) return {(kNumber | tag) * kEachWord};
  if (turn == Turn::kAgain && is_input) return {0};
  uint64_t bytes = (kWord | tag) * kEachWord;
  if (is_float && IsHalf(dtype)) bytes = (kHalf | tag) * kEachWord;
  if (is_float && PartBits(dtype) == 64) bytes = (bytes & 0xffffffffffffu) | kTopOfDouble << 48;
  if (narrow) bytes = (0xc0u | tag) * kEachByte;
  return {turn == Turn::kFirst ? bytes : ~bytes};
}

unsigned GetOutsideTag(const char* at, KpDLDataType dtype) {
  switch (PartBits(dtype)) {
    case 16:
      return IsHalf(dtype) ? TagOfHalf(Read<uint16_t>(at) & 0x7fffu) : TagOfBfloat(Read<uint16_t>(at) & 0x7fffu);
    case 32:
      return TagOfFloat(Read<uint32_t>(at) & 0x7fffffffu);
    default:
      return TagOfDouble(Read<uint64_t>(at) & 0x7fffffffffffffffu);
  }
}

}  // namespace kernpack::host::check
