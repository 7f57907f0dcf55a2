// Integer arithmetic, logic and bits.
#ifndef KERNPACK_SDK_EMULATOR_OPS_INTEGER_H_
#define KERNPACK_SDK_EMULATOR_OPS_INTEGER_H_

#include <cstdint>

namespace kernpack::emulator::KP_ISA {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

template <class T>
struct Unsigned_ {
  using Type = T;
};
template <>
struct Unsigned_<int16_t> {
  using Type = uint16_t;
};
template <>
struct Unsigned_<int32_t> {
  using Type = uint32_t;
};
template <>
struct Unsigned_<int64_t> {
  using Type = uint64_t;
};
template <class T>
using U = typename Unsigned_<T>::Type;
template <class T>
constexpr bool kSignedType = T(-1) < T(0);
template <class T>
constexpr int kBits = sizeof(T) * 8;

// Wrapped around, as the hardware does. 16-bit operands are promoted, so that the products are taken in 32 bits.
template <class T>
struct Add {
  T operator()(T a, T b) const { return static_cast<T>(U<T>(a) + U<T>(b)); }
};
template <class T>
struct Sub {
  T operator()(T a, T b) const { return static_cast<T>(U<T>(a) - U<T>(b)); }
};
template <class T>
struct MulLo {
  T operator()(T a, T b) const {
    if constexpr (sizeof(T) == 8) return static_cast<T>(U<T>(a) * U<T>(b));
    return static_cast<T>(uint32_t(U<T>(a)) * uint32_t(U<T>(b)));
  }
};
template <class T>
struct MulHi {
  T operator()(T a, T b) const {
    if constexpr (sizeof(T) == 8 && kSignedType<T>) {
      return static_cast<T>((static_cast<Int128>(a) * b) >> 64);
    } else if constexpr (sizeof(T) == 8) {
      return static_cast<T>((static_cast<Uint128>(a) * b) >> 64);
    } else if constexpr (kSignedType<T>) {
      return static_cast<T>((static_cast<int64_t>(a) * static_cast<int64_t>(b)) >> kBits<T>);
    } else {
      return static_cast<T>((static_cast<uint64_t>(a) * static_cast<uint64_t>(b)) >> kBits<T>);
    }
  }
};
template <class T, class D>
struct MulWide {
  D operator()(T a, T b) const { return static_cast<D>(U<D>(D(a)) * U<D>(D(b))); }
};
template <class T>
struct MadLo {
  T operator()(T a, T b, T c) const { return Add<T>()(MulLo<T>()(a, b), c); }
};
template <class T>
struct MadHi {
  T operator()(T a, T b, T c) const { return Add<T>()(MulHi<T>()(a, b), c); }
};
template <class T, class D>
struct MadWide {
  D operator()(T a, T b, D c) const { return Add<D>()(MulWide<T, D>()(a, b), c); }
};
template <class T>
struct Mul24 {
  T operator()(T a, T b) const {
    if constexpr (kSignedType<T>) {
      return static_cast<T>(uint32_t((int32_t(uint32_t(a) << 8) >> 8)) * uint32_t(int32_t(uint32_t(b) << 8) >> 8));
    }
    return (a & 0xffffff) * (b & 0xffffff);
  }
};
template <class T>
struct Mad24 {
  T operator()(T a, T b, T c) const { return Add<T>()(Mul24<T>()(a, b), c); }
};
// The upper 32 of the product's 48 bits.
template <class T>
struct Mul24Hi {
  T operator()(T a, T b) const {
    if constexpr (kSignedType<T>) {
      const int64_t x = int32_t(uint32_t(a) << 8) >> 8, y = int32_t(uint32_t(b) << 8) >> 8;
      return static_cast<T>(x * y >> 16);
    }
    return static_cast<T>(uint64_t(a & 0xffffff) * (b & 0xffffff) >> 16);
  }
};
template <class T>
struct Mad24Hi {
  T operator()(T a, T b, T c) const { return Add<T>()(Mul24Hi<T>()(a, b), c); }
};
// Division by zero has no defined result; all ones is what NVIDIA's code gives.
template <class T>
struct Div {
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(~T(0));
    if constexpr (kSignedType<T>) {
      if (b == T(-1)) return static_cast<T>(U<T>(0) - U<T>(a));
    }
    return static_cast<T>(a / b);
  }
};
template <class T>
struct Rem {
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(~T(0));  // the manual leaves it open; as seen on an H200
    if constexpr (kSignedType<T>) {
      if (b == T(-1)) return 0;
    }
    return static_cast<T>(a % b);
  }
};
template <class T>
struct Min {
  T operator()(T a, T b) const { return a < b ? a : b; }
};
template <class T>
struct Max {
  T operator()(T a, T b) const { return a > b ? a : b; }
};
template <class T>
struct Neg {
  T operator()(T a) const { return static_cast<T>(U<T>(0) - U<T>(a)); }
};
template <class T>
struct Abs {
  T operator()(T a) const { return a < 0 ? Neg<T>()(a) : a; }
};
template <class T>
struct Sad {
  T operator()(T a, T b, T c) const { return Add<T>()(c, a < b ? Sub<T>()(b, a) : Sub<T>()(a, b)); }
};

template <class T>
struct And {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct Or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct Xor {
  T operator()(T a, T b) const { return a ^ b; }
};
template <class T>
struct Not {
  T operator()(T a) const { return static_cast<T>(~a); }
};
template <class T>
struct CNot {
  T operator()(T a) const { return a == 0 ? 1 : 0; }
};
template <class T>
struct Move {
  T operator()(T a) const { return a; }
};

// Shifts by more than the width give what shifting bit by bit would.
template <class T>
struct Shl {
  T operator()(T a, uint32_t n) const { return n >= kBits<T> ? T(0) : static_cast<T>(a << n); }
};
template <class T>
struct Shr {
  T operator()(T a, uint32_t n) const {
    if constexpr (kSignedType<T>) return static_cast<T>(a >> (n >= kBits<T> ? kBits<T> - 1 : n));
    return n >= kBits<T> ? T(0) : static_cast<T>(a >> n);
  }
};
struct ShfLWrap {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return uint32_t((((uint64_t(b) << 32) | a) << (c & 31)) >> 32);
  }
};
struct ShfRWrap {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return uint32_t(((uint64_t(b) << 32) | a) >> (c & 31));
  }
};
struct ShfLClamp {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const { return c >= 32 ? a : ShfLWrap()(a, b, c); }
};
struct ShfRClamp {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const { return c >= 32 ? b : ShfRWrap()(a, b, c); }
};

template <class T>
struct Popc {
  uint32_t operator()(T a) const { return uint32_t(__builtin_popcountll(a)); }
};
template <class T>
struct Clz {
  uint32_t operator()(T a) const { return a == 0 ? kBits<T> : uint32_t(__builtin_clzll(a)) - (64 - kBits<T>); }
};
template <class T>
struct Brev {
  T operator()(T a) const {
    T out = 0;
    for (int i = 0; i < kBits<T>; ++i) out |= (a >> i & 1) << (kBits<T> - 1 - i);
    return out;
  }
};
// The highest bit that is not a copy of the sign.
template <class T, bool kShiftAmount>
struct Bfind {
  uint32_t operator()(T a) const {
    if constexpr (kSignedType<T>) {
      if (a < 0) a = static_cast<T>(~a);
    }
    if (a == 0) return ~0U;
    const auto at = uint32_t(63 - __builtin_clzll(static_cast<uint64_t>(a)));
    return kShiftAmount ? uint32_t(kBits<T>) - 1 - at : at;
  }
};
template <class T>
struct Bfe {
  T operator()(T a, uint32_t b, uint32_t c) const {
    // Above 255 they are undefined. An H200 takes their last 8 bits for words, and all of them for 64 bits.
    constexpr uint64_t kMask = kBits<T> == 64 ? 0xffffffff : 255;
    const uint64_t at = b & kMask, length = c & kMask;
    if (length == 0) return 0;
    const int msb = kBits<T> - 1;
    T out = 0;
    const U<T> bits = static_cast<U<T>>(a);
    const bool sign =
        kSignedType<T> && (bits >> (at + length - 1 < uint32_t(msb) ? at + length - 1 : uint32_t(msb)) & 1) != 0;
    for (int i = 0; i <= msb; ++i) {
      const bool bit =
          uint32_t(i) < length && at + uint32_t(i) <= uint32_t(msb) ? (bits >> (at + uint32_t(i)) & 1) != 0 : sign;
      out |= static_cast<T>(U<T>(bit) << i);
    }
    return out;
  }
};
template <class T>
struct Bmsk {
  T operator()(T a, uint32_t b) const {
    const uint64_t ones = b >= 32 ? 0xffffffffULL : (1ULL << b) - 1;
    return a >= 32 ? 0 : static_cast<T>(ones << a);
  }
};
struct BmskWrap {
  uint32_t operator()(uint32_t a, uint32_t b) const { return ((1U << (b & 31)) - 1) << (a & 31); }
};
// The lowest b bits, extended by their sign or by zeros.
template <class T, bool kWrap>
struct Szext {
  T operator()(T a, uint32_t b) const {
    const uint32_t length = kWrap ? b & 31 : b;
    if (length == 0) return 0;
    const uint32_t above = length >= 32 ? 0 : 32 - length;
    return static_cast<T>(uint32_t(a) << above) >> above;
  }
};
// The modes of prmt: four bytes beginning at c, forward or backward; one of them four times; clamped from below or from
// above; two of them twice.
enum class Permute { kForward, kBackward, kReplicate8, kClampLeft, kClampRight, kReplicate16 };
template <Permute kMode>
struct PrmtMode {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    const uint64_t both = uint64_t(b) << 32 | a;
    const uint32_t s = c & 3;
    uint32_t out = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t from = kMode == Permute::kForward      ? (s + i) & 7
                            : kMode == Permute::kBackward   ? (s - i) & 7
                            : kMode == Permute::kReplicate8 ? s
                            : kMode == Permute::kClampLeft  ? (s > i ? s : i)
                            : kMode == Permute::kClampRight ? (s < i ? s : i)
                                                            : 2 * (s & 1) + (i & 1);
      out |= (uint32_t(both >> (8 * from)) & 255) << (8 * i);
    }
    return out;
  }
};
struct Prmt {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    const uint64_t both = uint64_t(b) << 32 | a;
    uint32_t out = 0;
    for (int i = 0; i < 4; ++i) {
      const uint32_t select = c >> (4 * i) & 15;
      uint32_t byte = uint32_t(both >> (8 * (select & 7))) & 255;
      if ((select & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
      out |= byte << (8 * i);
    }
    return out;
  }
};
template <class A, class B, class D>
struct Dp4a {
  D operator()(uint32_t a, uint32_t b, D c) const {
    uint32_t sum = uint32_t(c);
    for (int i = 0; i < 32; i += 8) sum += uint32_t(int32_t(A(a >> i)) * int32_t(B(b >> i)));
    return D(sum);
  }
};

// Two 16-bit integers times two of the bytes of b, beginning at bit kBegin.
template <class A, class B, class D, int kBegin>
struct Dp2a {
  D operator()(uint32_t a, uint32_t b, D c) const {
    uint32_t sum = uint32_t(c);
    for (int i = 0; i < 2; ++i) sum += uint32_t(int32_t(A(a >> (16 * i))) * int32_t(B(b >> (kBegin + 8 * i))));
    return D(sum);
  }
};

}  // namespace kernpack::emulator::KP_ISA

#endif  // KERNPACK_SDK_EMULATOR_OPS_INTEGER_H_
