// The sums of mma and wgmma in 16 rows at once, with the bits of table_sums.cc's AddAligned.
#include <cmath>
#include <cstring>
#include <type_traits>

#include "ops/rounding.h"
#include "ops/rows.h"
#include "ops/small_float.h"
#include "ops/strip.h"

namespace kernpack::emulator::KP_ISA {
namespace {

// As wide as the processor's: wider ones are taken apart badly.
#if defined(__AVX512F__)
constexpr uint32_t kWide = 16;
#elif defined(__AVX2__)
constexpr uint32_t kWide = 8;
#else
constexpr uint32_t kWide = 4;
#endif
using Ints = int32_t __attribute__((vector_size(4 * kWide)));
using Floats = float __attribute__((vector_size(4 * kWide)));
using HalfInts = int32_t __attribute__((vector_size(2 * kWide)));
using HalfFloats = float __attribute__((vector_size(2 * kWide)));
using Longs = int64_t __attribute__((vector_size(4 * kWide)));
using Doubles = double __attribute__((vector_size(4 * kWide)));

// A word of each of the 16 rows.
struct alignas(64) Column {
  int32_t word[kStripRows];
};

template <class V, class T>
void Get(const T* from, V* out) {
  std::memcpy(out, from, sizeof *out);
}
template <class V, class T>
void Put(const V& value, T* to) {
  std::memcpy(to, &value, sizeof value);
}

template <class V>
bool IsAny(const V& mask) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  using Bits = long long __attribute__((vector_size(32)));
  const auto bits = reinterpret_cast<Bits>(mask);
  return __builtin_ia32_ptestz256(bits, bits) == 0;
#else
  auto any = mask[0];
  for (uint32_t l = 1; l < sizeof(V) / sizeof mask[0]; ++l) any |= mask[l];
  return any != 0;
#endif
}

struct Split {
  Floats fraction;
  Ints exponent;
};

// Of the bits of f32. `special`: gets bits where a number isn't finite.
void SplitFloats(const Ints& bits, int32_t least, Split* out, Ints* special) {
  const Ints magnitude = bits & 0x7fffffff, of_two = (magnitude >> 23) - 127;
  const Ints subnormal = of_two < least, zero = magnitude == 0;
  const float scale = least == kLeastOfFloats ? 0x1p126F : 0x1p14F;
  const Ints normal = (bits & static_cast<int32_t>(0x807fffff)) | 0x3f800000;
  const auto scaled = reinterpret_cast<Ints>(reinterpret_cast<Floats>(bits) * scale);
  out->fraction = reinterpret_cast<Floats>(subnormal ? scaled : normal);
  const Ints exponent = subnormal ? Ints{} + least : of_two;
  out->exponent = zero ? Ints{} + kNothing : exponent;
  *special |= of_two == 128;
}

Ints Greater(const Ints& x, const Ints& y) { return x > y ? x : y; }

// Of numbers whose exponents are in this range, f32 holds each product, and each product scaled as SumColumn does it, exactly or as what
// is cut off anyway. Zeros are moderate, too.
constexpr int32_t kLeastModerate = -45, kMostModerate = 60;
Ints IsImmoderate(const Ints& exponent) {
  return (exponent > kMostModerate) | ((exponent < kLeastModerate) & (exponent != kNothing));
}
Floats GetValue(const Split& split) {  // of a moderate one
  const Ints power = (Greater(split.exponent, Ints{} + kLeastModerate) + 127) << 23;
  return split.fraction * reinterpret_cast<Floats>(power);
}

// The bits of f32 of the n-th element of each word.
void GetFloats(const Ints& words, Element element, uint32_t n, Ints* out) {
  if (element == Element::kTf32) {
    *out = words & static_cast<int32_t>(0xffffe000);
  } else if (element == Element::kBrain) {
    *out = n == 0 ? words << 16 : words & static_cast<int32_t>(0xffff0000);
  } else {
    const Ints half = n == 0 ? words : words >> 16, magnitude = half & 0x7fff;
    // Scaled by a power of two, which also makes subnormal ones normal.
    const auto scaled = reinterpret_cast<Ints>(reinterpret_cast<Floats>(magnitude << 13) * 0x1p112F);
    const Ints special = magnitude >= 0x7c00;
    *out = (special & (0x7f800000 | magnitude << 13)) | (~special & scaled) | (half & 0x8000) << 16;
  }
}

void SplitWords(const Ints& words, Element element, uint32_t n, bool negated, Split* out, Ints* special) {
  Ints bits;
  GetFloats(words, element, n, &bits);
  if (negated) bits ^= INT32_MIN;
  SplitFloats(bits, element == Element::kHalf ? kLeastOfHalves : kLeastOfFloats, out, special);
}

// Registers hold word `row * 4 + q` of 8 rows in each lane. To 16 rows for each q, and back.
void ToRows(const uint32_t* upper, const uint32_t* lower, Column* out) {
#ifdef __AVX512F__
  Ints from[4];
  Get(upper, &from[0]), Get(upper + 16, &from[1]), Get(lower, &from[2]), Get(lower + 16, &from[3]);
  const auto pair = [](const Ints& a, const Ints& b, bool last) {
    return last ? __builtin_shufflevector(a, b, 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31)
                : __builtin_shufflevector(a, b, 0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
  };
  for (uint32_t two = 0; two < 2; ++two) {
    const Ints a = pair(from[0], from[1], two != 0), b = pair(from[2], from[3], two != 0);
    Put(__builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23), out[2 * two].word);
    Put(__builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31),
        out[2 * two + 1].word);
  }
#else
  for (uint32_t r = 0; r < 8; ++r) {
    for (uint32_t q = 0; q < 4; ++q) {
      out[q].word[r] = static_cast<int32_t>(upper[r * 4 + q]);
      out[q].word[r + 8] = static_cast<int32_t>(lower[r * 4 + q]);
    }
  }
#endif
}
void FromRows(const Column* rows, uint32_t* upper, uint32_t* lower) {
#ifdef __AVX512F__
  Ints of[4];
  for (uint32_t q = 0; q < 4; ++q) Get(rows[q].word, &of[q]);
  // Rows 0 to 7 of q and q + 1 side by side, then rows in turn.
  const Ints a = __builtin_shufflevector(of[0], of[1], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const Ints b = __builtin_shufflevector(of[2], of[3], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const Ints c = __builtin_shufflevector(of[0], of[1], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  const Ints d = __builtin_shufflevector(of[2], of[3], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  const auto put = [](const Ints& x, const Ints& y, uint32_t* to) {
    Put(__builtin_shufflevector(x, y, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23), to);
    Put(__builtin_shufflevector(x, y, 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31), to + 16);
  };
  if (upper != nullptr) put(a, b, upper);
  if (lower != nullptr) put(c, d, lower);
#else
  for (uint32_t r = 0; r < 8; ++r) {
    for (uint32_t q = 0; q < 4; ++q) {
      if (upper != nullptr) upper[r * 4 + q] = static_cast<uint32_t>(rows[q].word[r]);
      if (lower != nullptr) lower[r * 4 + q] = static_cast<uint32_t>(rows[q].word[r + 8]);
    }
  }
#endif
}

// Masks of the elements of a strip that need slower code.
struct Found {
  Ints special = {}, immoderate = {};
};

void PutA(const Column& rows, Element element, bool negated, uint32_t at, uint32_t along, StripA* out, Found* found) {
  for (uint32_t n = 0; n < PerRegister(element); ++n) {
    for (uint32_t r = 0; r < kStripRows; r += kWide) {
      Ints words;
      Get(rows.word + r, &words);
      Split split;
      SplitWords(words, element, n, negated, &split, &found->special);
      found->immoderate |= IsImmoderate(split.exponent);
      Put(split.fraction, out->fraction[n * along + at] + r);
      Put(split.exponent, out->exponent[n * along + at] + r);
      Put(GetValue(split), out->value[n * along + at] + r);
    }
  }
}

void Note(const Found& found, StripA* out) {
  out->special = IsAny(found.special), out->moderate = !IsAny(found.immoderate);
}

void TakeA(const uint32_t* const* registers, uint32_t pairs, Element element, bool negated, StripA* out) {
  Found found;
  for (uint32_t p = 0; p < pairs; ++p) {
    Column rows[4];
    ToRows(registers[2 * p], registers[2 * p + 1], rows);
    for (uint32_t q = 0; q < 4; ++q) PutA(rows[q], element, negated, 4 * p + q, 4 * pairs, out, &found);
  }
  Note(found, out);
}

void ReadA(const uint32_t* words, Element element, bool negated, StripA* out) {
  Found found;
  for (uint32_t w = 0; w < kWordsAlongK; ++w) {
    Column column;
    for (uint32_t r = 0; r < kStripRows; ++r) column.word[r] = static_cast<int32_t>(words[r * kWordsAlongK + w]);
    PutA(column, element, negated, w, kWordsAlongK, out, &found);
  }
  Note(found, out);
}

bool SplitAll(const uint32_t* words, uint32_t count, uint32_t each, Element element, bool negated, float* fraction,
              int32_t* exponent) {
  const uint32_t kept = PerRegister(element), step = each < kWide ? each : kWide;
  Ints special = {};
  for (uint32_t w = 0; w < count; w += kWide) {
    Ints of;
    Get(words + w, &of);
    for (uint32_t n = 0; n < kept; ++n) {
      Split split;
      SplitWords(of, element, n, negated, &split, &special);
      for (uint32_t part = 0; part < kWide; part += step) {
        const uint32_t at = ((w + part) / each * kept + n) * each + (w + part) % each;
        std::memcpy(fraction + at, reinterpret_cast<const float*>(&split.fraction) + part, sizeof(float) * step);
        std::memcpy(exponent + at, reinterpret_cast<const int32_t*>(&split.exponent) + part, sizeof(int32_t) * step);
      }
    }
  }
  return IsAny(special);
}

// Each fourth element along K. Of the usual depth, which is known when this is compiled, without a loop.
using UsualDepth = std::integral_constant<uint32_t, 16>;
template <class F>
void ForFours(uint32_t depth, F f) {
  for (uint32_t n = 0; n < depth; n += 4) f(n);
}
template <class F>
void ForFours(UsualDepth, F f) {
  f(0), f(4), f(8), f(12);
}

// The values of B's columns, if all are moderate.
bool GetValues(const StripB& b, uint32_t depth, float* out) {
  const uint32_t count = kColumns * depth;
  if ((kColumns - 1) * b.column + (depth / 4 - 1) * b.four + 4 != count) return false;  // they don't lie side by side
  Ints immoderate = {};
  for (uint32_t n = 0; n < count; n += kWide) {
    Split split;
    Get(b.fraction + n, &split.fraction), Get(b.exponent + n, &split.exponent);
    immoderate |= IsImmoderate(split.exponent);
    Put(GetValue(split), out + n);
  }
  return !IsAny(immoderate);
}

// All products of a column, and what is there, are cut off at the same bit, and added without further loss. Of kWide rows from
// `first_row` on; to doubles in two halves. of_b: b's fractions, or values where both sides are moderate. `special`: gets bits where
// what is there isn't finite.
template <bool kModerate, class Depth>
void SumColumn(const StripA& a, uint32_t first_row, const float* of_b, const int32_t* exponents, uint32_t four,
               Depth depth, const Ints& before, Doubles* out, Ints* special) {
  Split sum;
  SplitFloats(before, kLeastOfFloats, &sum, special);
  Ints greatest = Greater(sum.exponent, Ints{} + kLeastOfSums);
  ForFours(depth, [&](uint32_t n) __attribute__((always_inline)) {
    const int32_t* const column = exponents + size_t{n} / 4 * four;
    const auto compare = [&](uint32_t j) {
      Ints of_a;
      Get(a.exponent[n + j] + first_row, &of_a);
      greatest = Greater(greatest, of_a + column[j]);
    };
    compare(0), compare(1), compare(2), compare(3);
  });
  // 2 to the power of `exponent`, beginning at the least normal number: what is smaller is cut off anyway.
  const Ints shift = kKept + 127 - greatest;
  const auto cut = [&](const Floats& fraction, const Ints& exponent) {
    const Ints one = Ints{} + 1, power = Greater(exponent + shift, one) << 23;
    return __builtin_convertvector(fraction * reinterpret_cast<Floats>(power), Ints);
  };
  // Beyond the greatest power, all products are zeros.
  const Ints most = Ints{} + 254, power = (shift < most ? shift : most) << 23;
  const auto scale = reinterpret_cast<Floats>(power);
  Ints total = {};  // of at most 16 products of 27 bits
  ForFours(depth, [&](uint32_t n) __attribute__((always_inline)) {
    const size_t at = size_t{n} / 4 * four;
    const auto add = [&](uint32_t j) {
      Floats of_a;
      if constexpr (kModerate) {
        Get(a.value[n + j] + first_row, &of_a);
        total += __builtin_convertvector(of_a * of_b[at + j] * scale, Ints);
      } else {
        Ints exponent;
        Get(a.fraction[n + j] + first_row, &of_a), Get(a.exponent[n + j] + first_row, &exponent);
        total += cut(of_a * of_b[at + j], exponent + exponents[at + j]);
      }
    };
    add(0), add(1), add(2), add(3);
  });
  const Ints first = cut(sum.fraction, sum.exponent);
  for (uint32_t half = 0; half < 2; ++half) {
    HalfInts of_products, of_first, power;
    Get(reinterpret_cast<const int32_t*>(&total) + kWide / 2 * half, &of_products);
    Get(reinterpret_cast<const int32_t*>(&first) + kWide / 2 * half, &of_first);
    Get(reinterpret_cast<const int32_t*>(&greatest) + kWide / 2 * half, &power);
    const Longs scale = __builtin_convertvector(power + (1023 - kKept), Longs) << 52;
    out[half] = (__builtin_convertvector(of_products, Doubles) + __builtin_convertvector(of_first, Doubles)) *
                reinterpret_cast<Doubles>(scale);
  }
}

// As ToFloat.
void ToFloats(const Doubles* sums, int32_t* out) {
  for (uint32_t half = 0; half < 2; ++half) {
    const auto bits = reinterpret_cast<Longs>(sums[half]);
    const auto kept = reinterpret_cast<Doubles>(bits & ~int64_t{0x1fffffff});
    HalfFloats floats = __builtin_convertvector(kept, HalfFloats);
    const auto magnitude = reinterpret_cast<Doubles>(bits & INT64_MAX);
    const Longs small = (magnitude < 0x1p-126) & (magnitude != 0);
    if (IsAny(small)) {
      for (uint32_t l = 0; l < kWide / 2; ++l) floats[l] = static_cast<float>(ToFloat(sums[half][l]));
    }
    Put(floats, out + kWide / 2 * half);
  }
}

void ToHalves(const Doubles* sums, uint32_t place, int32_t* out) {
  for (uint32_t r = 0; r < kWide; ++r) {
    const uint32_t half = Half::Write(ToHalf(sums[r / (kWide / 2)][r % (kWide / 2)]));
    out[r] |= static_cast<int32_t>(half << (16 * place));
  }
}

bool Sum(const StripA& a, const StripB& b, uint32_t depth, const StripSums& sums) {
  const bool halves = sums.element == Element::kHalf, zeros = sums.from[0] == nullptr;
  Column from[2][4], to[2][4];  // of f32: the even columns, then the odd ones
  if (zeros) std::memset(from, 0, sizeof from);
  if (halves) std::memset(to[0], 0, sizeof to[0]);
  if (!zeros) {
    ToRows(sums.from[0], sums.from[halves ? 1 : 2], from[0]);
    if (!halves) ToRows(sums.from[1], sums.from[3], from[1]);
  }
  float values[kMostDepth * kColumns];
  const bool moderate = a.moderate && GetValues(b, depth, values);
  Ints special = {};
  for (uint32_t c = 0; c < kColumns; ++c) {
    for (uint32_t r = 0; r < kStripRows; r += kWide) {
      Ints before;
      Get(from[halves ? 0 : c % 2][c / 2].word + r, &before);
      if (halves) GetFloats(before, Element::kHalf, c % 2, &before);
      Doubles of[2];
      const size_t at = size_t{c} * b.column;
      if (moderate && depth == UsualDepth::value) {
        SumColumn<true>(a, r, values + at, b.exponent + at, b.four, UsualDepth(), before, of, &special);
      } else if (moderate) {
        SumColumn<true>(a, r, values + at, b.exponent + at, b.four, depth, before, of, &special);
      } else {
        SumColumn<false>(a, r, b.fraction + at, b.exponent + at, b.four, depth, before, of, &special);
      }
      if (halves) {
        ToHalves(of, c % 2, to[0][c / 2].word + r);
      } else {
        ToFloats(of, to[c % 2][c / 2].word + r);
      }
    }
  }
  if (IsAny(special)) return false;
  FromRows(to[0], sums.to[0], sums.to[halves ? 1 : 2]);
  if (!halves) FromRows(to[1], sums.to[1], sums.to[3]);
  return true;
}

}  // namespace

extern const StripCode kStripCode;
const StripCode kStripCode{TakeA, ReadA, SplitAll, Sum};

}  // namespace kernpack::emulator::KP_ISA
