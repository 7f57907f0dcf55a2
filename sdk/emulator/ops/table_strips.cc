// The sums of mma and wgmma in 16 rows at once, with the bits of table_sums.cc's AddAligned.
#include <cmath>
#include <cstring>

#include "ops/rounding.h"
#include "ops/rows.h"
#include "ops/small_float.h"
#include "ops/strip.h"

namespace kernpack::emulator::KP_ISA {
namespace {

// A processor without such wide vectors takes several for each.
using Ints = int32_t __attribute__((vector_size(64)));
using Floats = float __attribute__((vector_size(64)));
using EightInts = int32_t __attribute__((vector_size(32)));
using EightFloats = float __attribute__((vector_size(32)));
using Longs = int64_t __attribute__((vector_size(64)));
using Doubles = double __attribute__((vector_size(64)));

template <class V, class T>
void Get(const T* from, V* out) {
  std::memcpy(out, from, sizeof *out);
}
template <class V, class T>
void Put(const V& value, T* to) {
  std::memcpy(to, &value, sizeof value);
}

bool IsAny(const Ints& mask) {
  int32_t any = 0;
  for (uint32_t l = 0; l < 16; ++l) any |= mask[l];
  return any != 0;
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
void ToRows(const uint32_t* upper, const uint32_t* lower, Ints* out) {
  Ints from[4];
  Get(upper, &from[0]), Get(upper + 16, &from[1]), Get(lower, &from[2]), Get(lower + 16, &from[3]);
  const auto pair = [](const Ints& a, const Ints& b, bool last) {
    return last ? __builtin_shufflevector(a, b, 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31)
                : __builtin_shufflevector(a, b, 0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
  };
  for (uint32_t two = 0; two < 2; ++two) {
    const Ints a = pair(from[0], from[1], two != 0), b = pair(from[2], from[3], two != 0);
    out[2 * two] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
    out[2 * two + 1] = __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  }
}
void FromRows(const Ints* rows, uint32_t* upper, uint32_t* lower) {
  // Rows 0 to 7 of q and q + 1 side by side, then rows in turn.
  const Ints a = __builtin_shufflevector(rows[0], rows[1], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const Ints b = __builtin_shufflevector(rows[2], rows[3], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const Ints c =
      __builtin_shufflevector(rows[0], rows[1], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  const Ints d =
      __builtin_shufflevector(rows[2], rows[3], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  const auto put = [](const Ints& x, const Ints& y, uint32_t* to) {
    const Ints first = __builtin_shufflevector(x, y, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23);
    const Ints last = __builtin_shufflevector(x, y, 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31);
    Put(first, to), Put(last, to + 16);
  };
  if (upper != nullptr) put(a, b, upper);
  if (lower != nullptr) put(c, d, lower);
}

void PutA(const Ints& words, Element element, bool negated, uint32_t at, uint32_t along, StripA* out, Ints* special) {
  for (uint32_t n = 0; n < PerRegister(element); ++n) {
    Split split;
    SplitWords(words, element, n, negated, &split, special);
    Put(split.fraction, out->fraction[n * along + at]);
    Put(split.exponent, out->exponent[n * along + at]);
  }
}

void TakeA(const uint32_t* const* registers, uint32_t pairs, Element element, bool negated, StripA* out) {
  Ints special = {};
  for (uint32_t p = 0; p < pairs; ++p) {
    Ints rows[4];
    ToRows(registers[2 * p], registers[2 * p + 1], rows);
    for (uint32_t q = 0; q < 4; ++q) PutA(rows[q], element, negated, 4 * p + q, 4 * pairs, out, &special);
  }
  out->special = IsAny(special);
}

void ReadA(const uint32_t* words, Element element, bool negated, StripA* out) {
  Ints special = {};
  for (uint32_t w = 0; w < kWordsAlongK; ++w) {
    Ints column;
    for (uint32_t r = 0; r < kStripRows; ++r) column[r] = static_cast<int32_t>(words[r * kWordsAlongK + w]);
    PutA(column, element, negated, w, kWordsAlongK, out, &special);
  }
  out->special = IsAny(special);
}

bool SplitAll(const uint32_t* words, uint32_t count, uint32_t each, Element element, bool negated, float* fraction,
              int32_t* exponent) {
  const uint32_t kept = PerRegister(element);
  Ints special = {};
  for (uint32_t w = 0; w < count; w += 16) {
    Ints of;
    Get(words + w, &of);
    for (uint32_t n = 0; n < kept; ++n) {
      Split split;
      SplitWords(of, element, n, negated, &split, &special);
      const uint32_t step = each < 16 ? each : 16;
      for (uint32_t part = 0; part < 16; part += step) {
        const uint32_t at = ((w + part) / each * kept + n) * each + (w + part) % each;
        std::memcpy(fraction + at, reinterpret_cast<const float*>(&split.fraction) + part, sizeof(float) * step);
        std::memcpy(exponent + at, reinterpret_cast<const int32_t*>(&split.exponent) + part, sizeof(int32_t) * step);
      }
    }
  }
  return IsAny(special);
}

// All products of a column, and what is there, are cut off at the same bit, and added without further loss. To doubles in two halves.
bool SumColumn(const StripA& a, const float* fractions, const int32_t* exponents, uint32_t four, uint32_t depth,
               const Ints& before, Doubles* out) {
  Ints special = {};
  Split sum;
  SplitFloats(before, kLeastOfFloats, &sum, &special);
  if (IsAny(special)) return false;
  const auto greater = [](const Ints& x, const Ints& y) { return x > y ? x : y; };
  Ints greatest = greater(sum.exponent, Ints{} + kLeastOfSums);
  for (uint32_t n = 0; n < depth; n += 4) {
    const int32_t* const of_b = exponents + size_t{n} / 4 * four;
    const auto compare = [&](uint32_t j) {
      Ints of_a;
      Get(a.exponent[n + j], &of_a);
      greatest = greater(greatest, of_a + of_b[j]);
    };
    compare(0), compare(1), compare(2), compare(3);
  }
  // 2 to the power of `exponent`, beginning at the least normal number: what is smaller is cut off anyway.
  const Ints shift = kKept + 127 - greatest;
  const auto cut = [&](const Floats& fraction, const Ints& exponent) {
    const Ints one = Ints{} + 1, power = greater(exponent + shift, one) << 23;
    return __builtin_convertvector(fraction * reinterpret_cast<Floats>(power), Ints);
  };
  Ints total = {};  // of at most 16 products of 27 bits
  for (uint32_t n = 0; n < depth; n += 4) {
    const size_t at = size_t{n} / 4 * four;
    const auto add = [&](uint32_t j) {
      Floats fraction;
      Ints exponent;
      Get(a.fraction[n + j], &fraction), Get(a.exponent[n + j], &exponent);
      total += cut(fraction * fractions[at + j], exponent + exponents[at + j]);
    };
    add(0), add(1), add(2), add(3);
  }
  const Ints first = cut(sum.fraction, sum.exponent);
  for (uint32_t half = 0; half < 2; ++half) {
    EightInts of_products, of_first, power;
    Get(reinterpret_cast<const int32_t*>(&total) + 8 * half, &of_products);
    Get(reinterpret_cast<const int32_t*>(&first) + 8 * half, &of_first);
    Get(reinterpret_cast<const int32_t*>(&greatest) + 8 * half, &power);
    const Longs scale = __builtin_convertvector(power + (1023 - kKept), Longs) << 52;
    out[half] = (__builtin_convertvector(of_products, Doubles) + __builtin_convertvector(of_first, Doubles)) *
                reinterpret_cast<Doubles>(scale);
  }
  return true;
}

// As ToFloat.
void ToFloats(const Doubles* sums, Ints* out) {
  for (uint32_t half = 0; half < 2; ++half) {
    const auto bits = reinterpret_cast<Longs>(sums[half]);
    const auto kept = reinterpret_cast<Doubles>(bits & ~int64_t{0x1fffffff});
    EightFloats floats = __builtin_convertvector(kept, EightFloats);
    const Longs magnitude = bits & INT64_MAX;
    const Longs small = (magnitude < __builtin_bit_cast(int64_t, 0x1p-126)) & (magnitude != 0);
    int64_t any = 0;
    for (uint32_t l = 0; l < 8; ++l) any |= small[l];
    if (any != 0) {
      for (uint32_t l = 0; l < 8; ++l) floats[l] = static_cast<float>(ToFloat(sums[half][l]));
    }
    Put(floats, reinterpret_cast<int32_t*>(out) + 8 * half);
  }
}

void ToHalves(const Doubles* sums, uint32_t place, Ints* out) {
  for (uint32_t r = 0; r < kStripRows; ++r) {
    const uint32_t half = Half::Write(ToHalf(sums[r / 8][r % 8]));
    (*out)[r] |= static_cast<int32_t>(half << (16 * place));
  }
}

bool Sum(const StripA& a, const StripB& b, uint32_t depth, const StripSums& sums) {
  const bool halves = sums.element == Element::kHalf, zeros = sums.from[0] == nullptr;
  Ints from[2][4] = {}, to[2][4] = {};  // of f32: the even columns, then the odd ones
  if (!zeros) {
    ToRows(sums.from[0], sums.from[halves ? 1 : 2], from[0]);
    if (!halves) ToRows(sums.from[1], sums.from[3], from[1]);
  }
  for (uint32_t c = 0; c < kColumns; ++c) {
    Ints before = from[halves ? 0 : c % 2][c / 2];
    if (halves) GetFloats(before, Element::kHalf, c % 2, &before);
    Doubles of[2];
    const size_t at = size_t{c} * b.column;
    if (!SumColumn(a, b.fraction + at, b.exponent + at, b.four, depth, before, of)) return false;
    if (halves) {
      ToHalves(of, c % 2, &to[0][c / 2]);
    } else {
      ToFloats(of, &to[c % 2][c / 2]);
    }
  }
  FromRows(to[0], sums.to[0], sums.to[halves ? 1 : 2]);
  if (!halves) FromRows(to[1], sums.to[1], sums.to[3]);
  return true;
}

}  // namespace

extern const StripCode kStripCode;
const StripCode kStripCode{TakeA, ReadA, SplitAll, Sum};

}  // namespace kernpack::emulator::KP_ISA
