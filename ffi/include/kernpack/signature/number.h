// Decimal text to the bits of the nearest double, exactly, in a constant expression (strtod is not constexpr, and a
// default of 1e-6 must be the same double that Python reads).
#ifndef KERNPACK_SIGNATURE_NUMBER_H_
#define KERNPACK_SIGNATURE_NUMBER_H_

#include <kernpack/config.h>

KP_NAMESPACE_BEGIN
namespace signature {

constexpr uint64_t kInfinityBits = 0x7ff0000000000000u;
constexpr uint64_t kNanBits = 0x7ff8000000000000u;
constexpr uint64_t kSignBit = 0x8000000000000000u;

// digits * 10^exponent.
struct Decimal {
  uint64_t digits = 0;  // of the significant figures
  int32_t exponent = 0;
  bool is_float = false;  // written with a fraction or an exponent
  bool fits = true;       // at most 19 significant digits
};

constexpr Decimal ReadDecimal(const char* text, uint32_t begin, uint32_t end) {
  Decimal d{};
  uint32_t i = begin;
  int significant = 0;
  for (; i < end && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.') {
      d.is_float = true;
      continue;
    }
    if (d.is_float) --d.exponent;
    if (text[i] != '0' || significant) ++significant;
    if (significant > 19) {
      d.fits = false;
      return d;
    }
    d.digits = d.digits * 10 + static_cast<uint64_t>(text[i] - '0');
  }
  if (i == end) return d;
  d.is_float = true;
  ++i;
  const bool negative = text[i] == '-';
  if (text[i] == '-' || text[i] == '+') ++i;
  int32_t exponent = 0;
  for (; i < end; ++i) {
    exponent = exponent * 10 + (text[i] - '0');
    if (exponent > 9999) exponent = 9999;
  }
  d.exponent += negative ? -exponent : exponent;
  return d;
}

// Little-endian limbs, large enough for 19 digits * 10^310.
struct Big {
  uint32_t limb[44]{};
  int used = 0;

  constexpr void Multiply(uint32_t by) {
    uint64_t carry = 0;
    for (int i = 0; i < used; ++i) {
      carry += static_cast<uint64_t>(limb[i]) * by;
      limb[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry) limb[used++] = static_cast<uint32_t>(carry);
  }
  // Returns the remainder.
  constexpr uint32_t Divide(uint32_t by) {
    uint64_t rest = 0;
    for (int i = used; i-- > 0;) {
      rest = rest << 32 | limb[i];
      limb[i] = static_cast<uint32_t>(rest / by);
      rest %= by;
    }
    while (used && !limb[used - 1]) --used;
    return static_cast<uint32_t>(rest);
  }
  constexpr int BitLength() const {
    if (!used) return 0;
    int bits = 32 * (used - 1);
    for (uint32_t top = limb[used - 1]; top; top >>= 1) ++bits;
    return bits;
  }
  constexpr uint64_t Bit(int i) const { return limb[i / 32] >> (i % 32) & 1; }
};

// The nearest double (ties to even) of a value without sign; infinity where it overflows.
constexpr uint64_t DoubleBits(const Decimal& d) {
  if (!d.digits || d.exponent < -345) return 0;
  if (d.exponent > 310) return kInfinityBits;
  Big n{};
  int shift = 0;  // the value is n * 2^shift (and a little, when sticky)
  bool sticky = false;
  if (d.exponent < 0) {
    // Enough low zero limbs that the quotient keeps 64 bits: 10^k < 2^(3.33 k).
    const int zeros = (-d.exponent * 10 / 3 + 64) / 32 + 1;
    n.used = zeros;
    shift = -32 * zeros;
  }
  n.limb[n.used++] = static_cast<uint32_t>(d.digits);
  n.limb[n.used++] = static_cast<uint32_t>(d.digits >> 32);
  while (n.used && !n.limb[n.used - 1]) --n.used;
  int tens = d.exponent < 0 ? -d.exponent : d.exponent;
  while (tens > 0) {
    uint32_t by = 1;
    for (; tens > 0 && by < 1000000000; --tens) by *= 10;
    if (d.exponent < 0) {
      sticky |= n.Divide(by) != 0;
    } else {
      n.Multiply(by);
    }
  }
  const int top = n.BitLength() - 1 + shift;  // exponent of the leading bit
  if (top > 1023) return kInfinityBits;
  int last = top - 52;  // exponent of the last bit kept; fixed for subnormals
  if (last < -1074) last = -1074;
  uint64_t mantissa = 0;
  for (int i = n.BitLength() - 1; i >= 0 && i + shift >= last; --i) mantissa = mantissa << 1 | n.Bit(i);
  if (shift > last) mantissa <<= shift - last;  // fewer bits than a double keeps
  const int half = last - 1 - shift;
  if (half >= 0 && half < n.BitLength() && n.Bit(half)) {
    bool above = sticky || (mantissa & 1);
    for (int i = 0; i < half && !above; ++i) above = n.Bit(i) != 0;
    if (above) ++mantissa;
  }
  // A carry out of the mantissa runs into the exponent field, which is what rounding up to a power of two means.
  return (static_cast<uint64_t>(last + 1074) << 52) + mantissa;
}

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_NUMBER_H_
