// sin and cos of f64: the angle is reduced to a quadrant and what is left of it, a pair of f64 within pi / 4.
#include <array>

#include "pass/math_f64.h"

namespace kernpack::sdk::ir {
namespace {

struct AngleF64 {
  Expr quadrant;  // i64; its lowest two bits count
  Pair left;
};

// Of angles up to 2^20 * pi / 2: pi / 2 in parts of 33 bits, whose products with 20 bits are exact, and a fourth one.
constexpr double kLargestByParts = 1647099.0;

AngleF64 ReduceByParts(const Expr& x, const Binder& bind) {
  constexpr double kParts[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69, 0x1.b839a252049c1p-104};
  const Expr n = bind("n", Unary(Op::kRound, x * Constant(x, 0.63661977236758134308)));
  const auto part = [&](int i) { return bind("part", n * Constant(x, kParts[i])); };
  const Pair a = Sum(bind("r", x - part(0)), -part(1), bind);
  const Pair b = Sum(a.high, -part(2), bind);
  return {Cast(kI64, n), SumOfOrdered(b.high, bind("low", (a.low + b.low) - part(3)), bind)};
}

// The upper 64 bits of a product of two u64.
Expr HighProduct(const Expr& a, const Expr& b, const Binder& bind) {
  const Expr half = BitsLike(a, 32), mask = BitsLike(a, 0xffffffff);
  const Expr a1 = bind("a1", a >> half), a0 = bind("a0", a & mask), b1 = bind("b1", b >> half),
             b0 = bind("b0", b & mask);
  const Expr cross = bind("cross", a1 * b0), other = bind("other", a0 * b1);
  const Expr carry = ((a0 * b0) >> half) + (cross & mask) + (other & mask);
  return bind("high", a1 * b1 + (cross >> half) + (other >> half) + (carry >> half));
}

// (high * 2^64 + low) * 2^-126: a sum of four f64 of 32 bits, each exact.
Pair FromFixedPoint(const Expr& high, const Expr& low, const Binder& bind) {
  const auto term = [&](const Expr& value, double unit) {
    return bind("term", Cast(kF64, Bitcast(kI64, value)) * ConstFloat(WithLanes(kF64, value->type.lanes), unit));
  };
  const Expr mask = LongLike(high, 0xffffffff);
  const Pair a = SumOfOrdered(term(high >> LongLike(high, 32), 0x1p-30), term(high & mask, 0x1p-62), bind);
  const Pair b = SumOfOrdered(a.high, term(low >> BitsLike(low, 32), 0x1p-94), bind);
  const Expr last = term(low & BitsLike(low, 0xffffffff), 0x1p-126);
  return SumOfOrdered(b.high, bind("low", (a.low + b.low) + last), bind);
}

Pair TimesHalfPi(const Pair& x, const Binder& bind) {
  constexpr double kHalfPi = 0x1.921fb54442d18p+0, kFirst = 0x1.921fb5p+0, kRest = 0x1.110b4611a6263p-26;
  const Expr first = bind("first", High(x.high));
  const Expr inexact = first * Constant(first, kRest) + ((x.high - first) + x.low) * Constant(first, kHalfPi);
  return SumOfOrdered(bind("exact", first * Constant(first, kFirst)), bind("inexact", inexact), bind);
}

// The bits of 2 / pi, behind 64 zeros.
constexpr std::array<uint64_t, 19> kTwoOverPi = {0,
                                                 0xa2f9836e4e441529,
                                                 0xfc2757d1f534ddc0,
                                                 0xdb6295993c439041,
                                                 0xfe5163abdebbc561,
                                                 0xb7246e3a424dd2e0,
                                                 0x06492eea09d1921c,
                                                 0xfe1deb1cb129a73e,
                                                 0xe88235f52ebb4484,
                                                 0xe99c7026b45f7e41,
                                                 0x3991d639835339f4,
                                                 0x9c845f8bbdf9283b,
                                                 0x1ff897ffde05980f,
                                                 0xef2f118b5a0a6d1f,
                                                 0x6d367ecf27cb09b7,
                                                 0x4f463f669e5fea2d,
                                                 0x7527bac7ebe5f17b,
                                                 0x3d0739f78a5292ea,
                                                 0x6bfb5fb11f8d5d08};

// Payne and Hanek, of angles from 1 on: the 192 bits of 2 / pi that decide, times the mantissa, in fixed point. Of the 128
// bits kept 2 are the quadrant; no f64 comes nearer to a multiple of pi / 2 than 2^-61, so at least 64 are left of the rest.
AngleF64 ReduceByBits(const Expr& x, const Binder& bind) {
  const Buffer table = MakeBuffer("two_over_pi", kU64, {Expr(static_cast<int64_t>(kTwoOverPi.size()))}, Scope::kLocal);
  bind.out->push_back(Alloc(table));
  for (int64_t i = 0; const uint64_t w : kTwoOverPi) bind.out->push_back(Store(table, {Expr(i++)}, Const(kU64, w)));
  const Expr bits = bind("bits", GetBits(x));
  const Expr biased = Cast(kI64, (bits >> BitsLike(x, 52)) & BitsLike(x, 0x7ff));
  const Expr first = bind("first", Binary(Op::kMax, biased, LongLike(x, 1024)) - LongLike(x, 1024));
  const Expr word = bind("word", first >> LongLike(x, 6)), shift = bind("shift", Cast(kU64, first) & BitsLike(x, 63));
  std::array<Expr, 4> words;
  for (int i = 0; i < 4; ++i) words[i] = bind("word", Load(table, {word + LongLike(x, i)}));
  const auto window = [&](int i) {
    const Expr next = (words[i + 1] >> BitsLike(x, 1)) >> (BitsLike(x, 63) - shift);
    return bind("window", (words[i] << shift) | next);
  };
  const Expr m = bind("m", (bits << BitsLike(x, 11)) | BitsLike(x, uint64_t{1} << 63));
  const Expr middle = window(1);
  const Expr part = bind("part", m * middle);
  const Expr low = bind("low", part + HighProduct(m, window(2), bind));
  const Expr carry = Cast(kU64, low < part);
  const Expr high = bind("high", m * window(0) + HighProduct(m, middle, bind) + carry);
  // To the nearest quadrant: what is left is from -1/2 to 1/2.
  const Expr rounded = bind("rounded", (high + BitsLike(x, uint64_t{1} << 61)) >> BitsLike(x, 62));
  const Expr left = bind("left", Bitcast(kI64, high - (rounded << BitsLike(x, 62))));

  const Pair r = TimesHalfPi(FromFixedPoint(left, low, bind), bind);
  const Expr negative = bind("negative", x < Constant(x, 0.0)), quadrant = bind("quadrant", Bitcast(kI64, rounded));
  return {Select(negative, -quadrant, quadrant), {Select(negative, -r.high, r.high), Select(negative, -r.low, r.low)}};
}

AngleF64 ReduceAngleF64(const Expr& x, const Binder& bind) {
  const AngleF64 simple = ReduceByParts(x, bind);
  const auto large = [&x](const Binder& inner) {
    const AngleF64 a = ReduceByBits(x, inner);
    return std::vector<Expr>{a.quadrant, a.left.high, a.left.low};
  };
  const std::vector<Expr> parts = OrWhereRare({simple.quadrant, simple.left.high, simple.left.low},
                                              Unary(Op::kAbs, x) > Constant(x, kLargestByParts), large, bind);
  return {parts[0], {parts[1], parts[2]}};
}

// sin(left + quadrant * pi / 2)
Expr SinOfF64(const Expr& quadrant, const Pair& left, const Binder& bind) {
  const Expr &r = left.high, &low = left.low;
  const Expr z = bind("z", r * r);
  const Expr half = bind("half", z * Constant(r, 0.5));
  const Expr about = bind("about", Constant(r, 1.0) - half);  // cos r, to a few bits
  const Expr s = Polynomial(z, {1.5896822455793648e-10, -2.5050758640552681e-08, 2.7557313695770826e-06,
                                -1.984126982982062e-04, 8.3333333333224322e-03, -1.6666666666666632e-01});
  const Expr sine = r + (r * z * s + low * about);
  const Expr c = Polynomial(z, {-1.1359657210634993e-11, 2.0875723457058928e-09, -2.755731435372966e-07,
                                2.4801587289487338e-05, -1.3888888888874133e-03, 4.1666666666666602e-02});
  const Expr cosine = about + (((Constant(r, 1.0) - about) - half) + (z * z * c - r * low));
  const Expr odd = (quadrant & LongLike(r, 1)) != LongLike(r, 0),
             negative = (quadrant & LongLike(r, 2)) != LongLike(r, 0);
  const Expr y = bind("y", Select(odd, cosine, sine));
  return Select(negative, -y, y);
}

}  // namespace

Expr ExpandSinF64(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const AngleF64 a = ReduceAngleF64(x, bind);
  const Expr y = SinOfF64(a.quadrant, a.left, bind);
  return Select(x == Constant(x, 0.0), x, Select(IsFinite(x), y, Constant(x, kNan)));
}

Expr ExpandCosF64(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const AngleF64 a = ReduceAngleF64(x, bind);
  const Expr y = SinOfF64(a.quadrant + LongLike(x, 1), a.left, bind);
  return Select(IsFinite(x), y, Constant(x, kNan));
}

}  // namespace kernpack::sdk::ir
