// Patterns that fill memory before a kernel sees it. Each 16-bit mark is a quiet NaN as f16 and as bf16, and repeated also as
// f32 and f64; arithmetic hands a NaN's bits on. So a result that holds a mark tells what memory it was computed from.
#ifndef KERNPACK_SRC_OBSERVE_CHECK_PATTERN_H_
#define KERNPACK_SRC_OBSERVE_CHECK_PATTERN_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <kernpack/abi.h>

namespace kernpack::host::check {

enum class Mark : uint16_t {
  kEmpty = 0x7ff9,  // what Tensor::Empty gave, before it is written
  kUnwritten = 0x7ffa,  // a result before the call
  kWorkspace = 0x7ffd,  // scratch memory before the call
  kReturned = 0x7ffe,  // memory of an earlier call
  // All of that when a call is repeated to see whether its results depend on it. Truth values differ from the first time's.
  kZero = 0,
};

// The first call, or its repetition.
enum class Turn { kFirst, kAgain };

inline Mark GetMark(Mark first, Turn turn) { return turn == Turn::kFirst ? first : Mark::kZero; }

// Eight bytes over and over. A place counts bytes from wherever the first one stands.
struct Pattern {
  uint64_t bytes = 0;
  uint8_t At(int64_t place) const { return static_cast<uint8_t>(bytes >> (place & 7) * 8); }
};

inline void FillPattern(char* at, size_t bytes, Pattern fill, int64_t place) {
  for (size_t i = 0; i < bytes && i < 8; ++i) at[i] = static_cast<char>(fill.At(place + static_cast<int64_t>(i)));
  for (size_t done = 8; done < bytes; done *= 2) std::memcpy(at + done, at, done < bytes - done ? done : bytes - done);
}

inline bool HoldsPattern(const char* at, size_t bytes, Pattern fill, int64_t place) {
  for (size_t i = 0; i < bytes && i < 8; ++i) {
    if (static_cast<uint8_t>(at[i]) != fill.At(place + static_cast<int64_t>(i))) return false;
  }
  return bytes <= 8 || std::memcmp(at, at + 8, bytes - 8) == 0;
}

constexpr uint64_t kEachWord = 0x0001000100010001u;

// The byte of a mark depends on its address alone: that is its place.
inline Pattern MakePattern(Mark mark) { return {static_cast<uint64_t>(mark) * kEachWord}; }
inline int64_t GetPlace(const char* at) { return static_cast<int64_t>(reinterpret_cast<uintptr_t>(at)); }

inline uint8_t MarkByte(Mark mark, const char* at) { return MakePattern(mark).At(GetPlace(at)); }
inline void FillMark(char* at, size_t bytes, Mark mark) { FillPattern(at, bytes, MakePattern(mark), GetPlace(at)); }
inline bool HoldsMark(const char* at, size_t bytes, Mark mark) {
  return HoldsPattern(at, bytes, MakePattern(mark), GetPlace(at));
}

// Integers have no NaN: a result of theirs is filled with noise, which differs from place to place, so that what a kernel
// writes hardly ever equals it.
inline uint8_t NoiseByte(size_t place) {
  uint64_t mixed = (place / 8 + 1) * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  mixed ^= mixed >> 31;
  const auto byte = static_cast<uint8_t>(mixed >> place % 8 * 8);
  return byte ? byte : 0x5b;  // never the zero that is there when the call is repeated
}

// Bits of what NaN-ness is told of: a complex number's part.
inline int32_t PartBits(KpDLDataType dtype) { return dtype.code == KP_DTYPE_COMPLEX ? dtype.bits / 2 : dtype.bits; }

inline bool IsFloat(KpDLDataType dtype) {
  const bool wide = PartBits(dtype) == 16 || PartBits(dtype) == 32 || PartBits(dtype) == 64;
  return wide && (dtype.code == KP_DTYPE_FLOAT || dtype.code == KP_DTYPE_BFLOAT || dtype.code == KP_DTYPE_COMPLEX);
}

// A float of `bytes` bytes that holds the mark, of either sign.
inline bool IsMarkedFloat(const char* at, size_t bytes, Mark mark) {
  uint16_t words[4] = {};
  std::memcpy(words, at, bytes);
  const size_t last = bytes / 2 - 1;  // little-endian: the sign is in the last
  words[last] &= 0x7fff;
  for (size_t i = 0; i <= last; ++i) {
    if (words[i] != static_cast<uint16_t>(mark)) return false;
  }
  return true;
}

}  // namespace kernpack::host::check

#endif  // KERNPACK_SRC_OBSERVE_CHECK_PATTERN_H_
