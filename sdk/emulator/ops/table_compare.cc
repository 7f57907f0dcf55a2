// Table: comparisons, predicates and selection.
#include "ops/float.h"
#include "ops/integer.h"
#include "ops/small_float.h"

namespace kernpack::emulator::KP_ISA {
namespace {

struct Eq {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct Ne {
  template <class T>
  bool operator()(T a, T b) const {
    return a != b && a == a && b == b;
  }
};
struct Lt {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct Le {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Gt {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct Ge {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};
struct Num {
  template <class T>
  bool operator()(T a, T b) const {
    return a == a && b == b;
  }
};
struct Nan {
  template <class T>
  bool operator()(T a, T b) const {
    return a != a || b != b;
  }
};
template <class F>
struct Unordered {
  template <class T>
  bool operator()(T a, T b) const {
    return Nan()(a, b) || F()(a, b);
  }
};

// How words are read: as they are, or as floats.
template <class T>
struct Plain {
  using Raw = T;
  static T Read(T a, uint32_t flags) {
    if constexpr (__is_same(T, float)) return Start(a, flags);
    return a;
  }
};
template <class S>
struct AsSmall {
  using Raw = uint16_t;
  static double Read(uint16_t a, uint32_t flags) {
    if ((flags & kFtz) != 0 && (a & S::kInfinity) == 0) a &= 0x8000;
    return S::Read(a);
  }
};

// A bit for each lane, right for those of the mask.
template <class C, class F>
inline uint32_t Compared(const Warp& warp, const Instruction& i, uint32_t mask) {
  using Raw = typename C::Raw;
  const Word<Raw>* a = In<Raw>(warp, i.op[1]);
  const Word<Raw>* b = In<Raw>(warp, i.op[2]);
  const uint32_t flags = i.flags;
  if (IsOneLane(mask)) {
    const uint32_t l = FirstLane(mask);
    return F()(C::Read(FromWord<Raw>(a[l]), flags), C::Read(FromWord<Raw>(b[l]), flags)) ? mask : 0;
  }
  alignas(64) uint32_t bits[kLanes];
  // Apart, so that the compiler takes 32 lanes at once where nothing is flushed.
  const auto compare = [&](uint32_t modifiers) {
    for (uint32_t l = 0; l < kLanes; ++l) {
      bits[l] = uint32_t(F()(C::Read(FromWord<Raw>(a[l]), modifiers), C::Read(FromWord<Raw>(b[l]), modifiers))) << l;
    }
  };
  if ((flags & kFtz) != 0) {
    compare(kFtz);
  } else {
    compare(0);
  }
  uint32_t out = 0;
  for (uint32_t l = 0; l < kLanes; ++l) out |= bits[l];
  return out;
}

inline uint32_t Combined(Warp& warp, const Instruction& i, uint32_t compared) {
  if (i.op[3] == kNoOperand) return compared;
  uint32_t c = Predicate(warp, i.op[3]);
  if ((i.flags & kNegateC) != 0) c = ~c;
  return (i.flags & kAnd) != 0 ? compared & c : (i.flags & kOr) != 0 ? compared | c : compared ^ c;
}

// setp: one predicate, and its opposite in a second.
template <class C, class F>
void Setp(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t compared = Compared<C, F>(warp, i, mask);
  const uint32_t first = Combined(warp, i, compared), second = Combined(warp, i, ~compared);
  if (i.op[0] != kNoOperand) {
    uint32_t& p = Predicate(warp, i.op[0]);
    p = (p & ~mask) | (first & mask);
  }
  if (i.op[4] == kNoOperand) return;
  uint32_t& q = Predicate(warp, i.op[4]);
  q = (q & ~mask) | (second & mask);
}

// set: all ones, or 1.0, for true.
template <class C, class F, uint32_t kTrue>
void Set(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t bits = Combined(warp, i, Compared<C, F>(warp, i, mask));
  alignas(64) uint32_t out[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) out[l] = (bits >> l & 1) != 0 ? kTrue : 0;
  Store(warp, i.op[0], mask, out);
}

// Each half by itself: the bits of the lanes whose lower half, or whose upper half, compares so.
template <class S, class F>
uint32_t ComparedHalf(const Warp& warp, const Instruction& i, uint32_t shift) {
  const uint32_t* a = In<uint32_t>(warp, i.op[1]);
  const uint32_t* b = In<uint32_t>(warp, i.op[2]);
  const auto read = [&](uint32_t word) { return AsSmall<S>::Read(uint16_t(word >> shift), i.flags); };
  uint32_t out = 0;
  for (uint32_t l = 0; l < kLanes; ++l) out |= uint32_t(F()(read(a[l]), read(b[l]))) << l;
  return out;
}
template <class S, class F, uint32_t kTrue>
void SetPair(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t low = ComparedHalf<S, F>(warp, i, 0), high = ComparedHalf<S, F>(warp, i, 16);
  alignas(64) uint32_t out[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) out[l] = (low >> l & 1) * kTrue | ((high >> l & 1) * kTrue) << 16;
  Store(warp, i.op[0], mask, out);
}
// One predicate per half.
template <class S, class F>
void SetpPair(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t found[2] = {ComparedHalf<S, F>(warp, i, 0), ComparedHalf<S, F>(warp, i, 16)};
  const uint32_t slots[2] = {i.op[0], i.op[4]};
  for (int half = 0; half < 2; ++half) {
    if (slots[half] == kNoOperand) continue;
    uint32_t& p = Predicate(warp, slots[half]);
    p = (p & ~mask) | (found[half] & mask);
  }
}

template <class W>
void Select(Warp& warp, const Instruction& i, uint32_t mask) {
  alignas(64) W out[kLanes];
  const W* a = reinterpret_cast<const W*>(warp.registers + i.op[1]);
  const W* b = reinterpret_cast<const W*>(warp.registers + i.op[2]);
  const uint32_t p = Predicate(warp, i.op[3]);
  for (uint32_t l = 0; l < kLanes; ++l) out[l] = (p >> l & 1) != 0 ? a[l] : b[l];
  Store(warp, i.op[0], mask, out);
}
template <class T, class C>
struct Slct {
  T operator()(T a, T b, C c) const { return c >= 0 ? a : b; }
};

template <class T>
void SlctByFloat(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t flags = i.flags;
  Map3<T, T, T, float>(warp, i, mask, [flags](T a, T b, float c) { return Slct<T, float>()(a, b, Start(c, flags)); });
}

template <int kKind>
void Logic(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t a = Predicate(warp, i.op[1]), b = Predicate(warp, i.op[2]);
  uint32_t& d = Predicate(warp, i.op[0]);
  d = (d & ~mask) | ((kKind == 0 ? a & b : kKind == 1 ? a | b : a ^ b) & mask);
}
template <bool kNot>
void Copy(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t a = Predicate(warp, i.op[1]);
  uint32_t& d = Predicate(warp, i.op[0]);
  d = (d & ~mask) | ((kNot ? ~a : a) & mask);
}

struct Finite {
  template <class T>
  bool operator()(T a, T /*b*/) const {
    return __builtin_fabs(a) < __builtin_inf();
  }
};
struct Infinite {
  template <class T>
  bool operator()(T a, T /*b*/) const {
    return __builtin_fabs(a) == __builtin_inf();
  }
};
struct NotNumber {
  template <class T>
  bool operator()(T a, T /*b*/) const {
    return a != a;
  }
};
struct IsNumber {
  template <class T>
  bool operator()(T a, T /*b*/) const {
    return a == a;
  }
};
struct Normal {  // zeros too, as seen on an H200
  bool operator()(float a, float b) const { return Finite()(a, b) && (a == 0 || __builtin_fabsf(a) >= 0x1p-126F); }
  bool operator()(double a, double b) const { return Finite()(a, b) && (a == 0 || __builtin_fabs(a) >= 0x1p-1022); }
};
struct Subnormal {
  template <class T>
  bool operator()(T a, T b) const {
    return Finite()(a, b) && !Normal()(a, b);
  }
};
// testp has one source, which is given twice.
template <class T, class F>
void Testp(Warp& warp, const Instruction& i, uint32_t mask) {
  Instruction twice = i;
  twice.op[2] = i.op[1];
  Setp<Plain<T>, F>(warp, twice, mask);
}

constexpr Held W = Held::kWord, L = Held::kLong, F = Held::kFloat, D = Held::kDouble, P = Held::kPredicate;
constexpr uint32_t kBool = kAnd | kOr | kXor;

#define KP_SETP(op, type, C, H, ...)                                                     \
  {"setp." op "." type, &Setp<C, __VA_ARGS__>, kBool | kFtz, {P, H, H, P, P}},           \
      {"set." op ".u32." type, &Set<C, __VA_ARGS__, ~0U>, kBool | kFtz, {W, H, H, P}}, { \
    "set." op ".s32." type, &Set<C, __VA_ARGS__, ~0U>, kBool | kFtz, { W, H, H, P }      \
  }
#define KP_SET1(op, type, C, H, ...)                                                        \
  KP_SETP(op, type, C, H, __VA_ARGS__), {                                                   \
    "set." op ".f32." type, &Set<C, __VA_ARGS__, 0x3f800000U>, kBool | kFtz, { W, H, H, P } \
  }
// Of 16-bit floats, alone and in pairs; `one` is 1.0.
#define KP_SMALL(op, type, S, one, ...)                                                              \
  KP_SETP(op, type, AsSmall<S>, W, __VA_ARGS__),                                                     \
      {"set." op ".u16." type, &Set<AsSmall<S>, __VA_ARGS__, 0xffffU>, kBool | kFtz, {W, W, W, P}},  \
      {"set." op ".s16." type, &Set<AsSmall<S>, __VA_ARGS__, 0xffffU>, kBool | kFtz, {W, W, W, P}},  \
      {"set." op "." type "." type, &Set<AsSmall<S>, __VA_ARGS__, one>, kBool | kFtz, {W, W, W, P}}, \
      {"set." op ".u32." type "x2", &SetPair<S, __VA_ARGS__, 0xffffU>, kFtz, {W, W, W, P}},          \
      {"set." op "." type "x2." type "x2", &SetPair<S, __VA_ARGS__, one>, kFtz, {W, W, W, P}}, {     \
    "setp." op "." type "x2", &SetpPair<S, __VA_ARGS__>, kFtz, { P, W, W, P, P }                     \
  }
#define KP_EQUAL(type, T, H) KP_SET1("eq", type, Plain<T>, H, Eq), KP_SET1("ne", type, Plain<T>, H, Ne)
#define KP_ORDER(type, T, H)                                                                        \
  KP_EQUAL(type, T, H), KP_SET1("lt", type, Plain<T>, H, Lt), KP_SET1("le", type, Plain<T>, H, Le), \
      KP_SET1("gt", type, Plain<T>, H, Gt), KP_SET1("ge", type, Plain<T>, H, Ge)
#define KP_UNSIGNED(type, T, H)                                                                     \
  KP_ORDER(type, T, H), KP_SET1("lo", type, Plain<T>, H, Lt), KP_SET1("ls", type, Plain<T>, H, Le), \
      KP_SET1("hi", type, Plain<T>, H, Gt), KP_SET1("hs", type, Plain<T>, H, Ge)
#define KP_FLOATS(type, C, H)                                                                      \
  KP_SET1("eq", type, C, H, Eq), KP_SET1("ne", type, C, H, Ne), KP_SET1("lt", type, C, H, Lt),     \
      KP_SET1("le", type, C, H, Le), KP_SET1("gt", type, C, H, Gt), KP_SET1("ge", type, C, H, Ge), \
      KP_SET1("equ", type, C, H, Unordered<Eq>), KP_SET1("neu", type, C, H, Unordered<Ne>),        \
      KP_SET1("ltu", type, C, H, Unordered<Lt>), KP_SET1("leu", type, C, H, Unordered<Le>),        \
      KP_SET1("gtu", type, C, H, Unordered<Gt>), KP_SET1("geu", type, C, H, Unordered<Ge>),        \
      KP_SET1("num", type, C, H, Num), KP_SET1("nan", type, C, H, Nan)
#define KP_SMALLS(type, S, one)                                                                             \
  KP_SMALL("eq", type, S, one, Eq), KP_SMALL("ne", type, S, one, Ne), KP_SMALL("lt", type, S, one, Lt),     \
      KP_SMALL("le", type, S, one, Le), KP_SMALL("gt", type, S, one, Gt), KP_SMALL("ge", type, S, one, Ge), \
      KP_SMALL("equ", type, S, one, Unordered<Eq>), KP_SMALL("neu", type, S, one, Unordered<Ne>),           \
      KP_SMALL("ltu", type, S, one, Unordered<Lt>), KP_SMALL("leu", type, S, one, Unordered<Le>),           \
      KP_SMALL("gtu", type, S, one, Unordered<Gt>), KP_SMALL("geu", type, S, one, Unordered<Ge>),           \
      KP_SMALL("num", type, S, one, Num), KP_SMALL("nan", type, S, one, Nan)
#define KP_SLCT(type, T)                                                                     \
  Row3<T, T, T, int32_t, Slct<T, int32_t>>("slct." type ".s32"), {                           \
    "slct." type ".f32", &SlctByFloat<T>, kFtz, { HeldAs<T>(), HeldAs<T>(), HeldAs<T>(), F } \
  }
#define KP_SELECT(type, Word, H)                   \
  {                                                \
    "selp." type, &Select<Word>, 0, { H, H, H, P } \
  }
#define KP_TESTP(op, Fn)                                \
  {"testp." op ".f32", &Testp<float, Fn>, 0, {P, F}}, { \
    "testp." op ".f64", &Testp<double, Fn>, 0, { P, D } \
  }

constexpr Row kRows[] = {
    KP_EQUAL("b16", uint16_t, W),
    KP_EQUAL("b32", uint32_t, W),
    KP_EQUAL("b64", uint64_t, L),
    KP_UNSIGNED("u16", uint16_t, W),
    KP_UNSIGNED("u32", uint32_t, W),
    KP_UNSIGNED("u64", uint64_t, L),
    KP_ORDER("s16", int16_t, W),
    KP_ORDER("s32", int32_t, W),
    KP_ORDER("s64", int64_t, L),
    KP_FLOATS("f32", Plain<float>, F),
    KP_FLOATS("f64", Plain<double>, D),
    KP_SMALLS("f16", Half, 0x3c00U),
    KP_SMALLS("bf16", Brain, 0x3f80U),
    KP_SELECT("b16", uint32_t, W),
    KP_SELECT("u16", uint32_t, W),
    KP_SELECT("s16", uint32_t, W),
    KP_SELECT("b32", uint32_t, W),
    KP_SELECT("u32", uint32_t, W),
    KP_SELECT("s32", uint32_t, W),
    KP_SELECT("f32", uint32_t, F),
    KP_SELECT("b64", uint64_t, L),
    KP_SELECT("u64", uint64_t, L),
    KP_SELECT("s64", uint64_t, L),
    KP_SELECT("f64", uint64_t, D),
    KP_SLCT("b16", uint16_t),
    KP_SLCT("u16", uint16_t),
    KP_SLCT("s16", uint16_t),
    KP_SLCT("b32", uint32_t),
    KP_SLCT("u32", uint32_t),
    KP_SLCT("s32", uint32_t),
    KP_SLCT("b64", uint64_t),
    KP_SLCT("u64", uint64_t),
    KP_SLCT("s64", uint64_t),
    KP_SLCT("f32", float),
    KP_SLCT("f64", double),
    {"and.pred", &Logic<0>, 0, {P, P, P}},
    {"or.pred", &Logic<1>, 0, {P, P, P}},
    {"xor.pred", &Logic<2>, 0, {P, P, P}},
    {"not.pred", &Copy<true>, 0, {P, P}},
    {"mov.pred", &Copy<false>, 0, {P, P}},
    KP_TESTP("finite", Finite),
    KP_TESTP("infinite", Infinite),
    KP_TESTP("notanumber", NotNumber),
    KP_TESTP("number", IsNumber),
    KP_TESTP("normal", Normal),
    KP_TESTP("subnormal", Subnormal),
};

}  // namespace

extern const Table kCompareTable;
const Table kCompareTable{kRows, sizeof kRows / sizeof kRows[0]};

}  // namespace kernpack::emulator::KP_ISA
