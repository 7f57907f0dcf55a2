// Table: integer arithmetic, logic, shifts and bits.
#include "ops/integer.h"
#include "ops/lanes.h"

namespace kernpack::emulator::KP_ISA {
namespace {

// add, sub and mad with the carry of extended precision.
template <class T, bool kIn, bool kSubtract>
void WithCarry(Warp& warp, const Instruction& i, uint32_t mask) {
  alignas(64) Word<T> out[kLanes];
  const Word<T>* a = In<T>(warp, i.op[1]);
  const Word<T>* b = In<T>(warp, i.op[2]);
  uint32_t carry = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const T in = kIn ? warp.carry >> l & 1 : 0;
    const T first = kSubtract ? a[l] - b[l] : a[l] + b[l];
    const bool over = kSubtract ? a[l] < b[l] : first < a[l];
    out[l] = kSubtract ? first - in : first + in;
    carry |= uint32_t(over || (kSubtract ? first < in : out[l] < first)) << l;
  }
  Store(warp, i.op[0], mask, out);
  if ((i.flags & kCarryOut) != 0) warp.carry = (warp.carry & ~mask) | (carry & mask);
}

template <class T, bool kIn, bool kHigh>
void MadCarry(Warp& warp, const Instruction& i, uint32_t mask) {
  alignas(64) Word<T> out[kLanes];
  const Word<T>* a = In<T>(warp, i.op[1]);
  const Word<T>* b = In<T>(warp, i.op[2]);
  const Word<T>* c = In<T>(warp, i.op[3]);
  uint32_t carry = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const T product = kHigh ? MulHi<T>()(a[l], b[l]) : MulLo<T>()(a[l], b[l]);
    const T first = product + c[l];
    out[l] = first + (kIn ? warp.carry >> l & 1 : 0);
    carry |= uint32_t(first < product || out[l] < first) << l;
  }
  Store(warp, i.op[0], mask, out);
  if ((i.flags & kCarryOut) != 0) warp.carry = (warp.carry & ~mask) | (carry & mask);
}

template <bool kSubtract>
void AddSat(Warp& warp, const Instruction& i, uint32_t mask) {
  if ((i.flags & kSat) == 0) {
    if (kSubtract) return Binary<int32_t, int32_t, int32_t, Sub<int32_t>>(warp, i, mask);
    return Binary<int32_t, int32_t, int32_t, Add<int32_t>>(warp, i, mask);
  }
  Map2<int32_t, int32_t, int32_t>(warp, i, mask, [](int32_t a, int32_t b) {
    const int64_t sum = kSubtract ? int64_t{a} - b : int64_t{a} + b;
    return int32_t(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
  });
}

void MadHiSat(Warp& warp, const Instruction& i, uint32_t mask) {
  if ((i.flags & kSat) == 0) return Ternary<int32_t, int32_t, int32_t, int32_t, MadHi<int32_t>>(warp, i, mask);
  Map3<int32_t, int32_t, int32_t, int32_t>(warp, i, mask, [](int32_t a, int32_t b, int32_t c) {
    const int64_t sum = (int64_t{a} * b >> 32) + c;
    return int32_t(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
  });
}

template <class T>
void Bfi(Warp& warp, const Instruction& i, uint32_t mask) {
  alignas(64) Word<T> out[kLanes];
  const Word<T>* a = In<T>(warp, i.op[1]);
  const Word<T>* b = In<T>(warp, i.op[2]);
  const uint32_t* c = In<uint32_t>(warp, i.op[3]);
  const uint32_t* d = In<uint32_t>(warp, i.op[4]);
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint32_t at = c[l] & 255, length = d[l] & 255;
    const T ones = length >= kBits<T> ? ~T(0) : (T(1) << length) - 1;
    const T field = at >= kBits<T> ? T(0) : static_cast<T>(ones << at);
    out[l] = (b[l] & ~field) | (at >= kBits<T> ? T(0) : static_cast<T>(a[l] << at) & field);
  }
  Store(warp, i.op[0], mask, out);
}

// lop3: any function of three bits, as a table of eight.
void Lop3(Warp& warp, const Instruction& i, uint32_t mask) {
  alignas(64) uint32_t out[kLanes];
  const uint32_t* a = In<uint32_t>(warp, i.op[1]);
  const uint32_t* b = In<uint32_t>(warp, i.op[2]);
  const uint32_t* c = In<uint32_t>(warp, i.op[3]);
  const uint32_t table = *In<uint32_t>(warp, i.op[4]);
  for (uint32_t l = 0; l < kLanes; ++l) out[l] = 0;
  for (uint32_t row = 0; row < 8; ++row) {
    if ((table >> row & 1) == 0) continue;
    const uint32_t x = (row & 4) != 0 ? 0 : ~0U, y = (row & 2) != 0 ? 0 : ~0U, z = (row & 1) != 0 ? 0 : ~0U;
    for (uint32_t l = 0; l < kLanes; ++l) out[l] |= (a[l] ^ x) & (b[l] ^ y) & (c[l] ^ z);
  }
  Store(warp, i.op[0], mask, out);
}

// Halves of a word, each by itself.
template <class T, class F>
struct Halves {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    const auto low = uint16_t(F()(T(a), T(b)));
    const auto high = uint16_t(F()(T(a >> 16), T(b >> 16)));
    return uint32_t(high) << 16 | low;
  }
};

#define KP_INTEGERS(name, F)                                        \
  Row2<int16_t, int16_t, int16_t, F<int16_t>>(name ".s16"),         \
      Row2<uint16_t, uint16_t, uint16_t, F<uint16_t>>(name ".u16"), \
      Row2<int32_t, int32_t, int32_t, F<int32_t>>(name ".s32"),     \
      Row2<uint32_t, uint32_t, uint32_t, F<uint32_t>>(name ".u32"), \
      Row2<int64_t, int64_t, int64_t, F<int64_t>>(name ".s64"),     \
      Row2<uint64_t, uint64_t, uint64_t, F<uint64_t>>(name ".u64")
#define KP_INTEGERS3(name, F)                                                 \
  Row3<int16_t, int16_t, int16_t, int16_t, F<int16_t>>(name ".s16"),          \
      Row3<uint16_t, uint16_t, uint16_t, uint16_t, F<uint16_t>>(name ".u16"), \
      Row3<int32_t, int32_t, int32_t, int32_t, F<int32_t>>(name ".s32"),      \
      Row3<uint32_t, uint32_t, uint32_t, uint32_t, F<uint32_t>>(name ".u32"), \
      Row3<int64_t, int64_t, int64_t, int64_t, F<int64_t>>(name ".s64"),      \
      Row3<uint64_t, uint64_t, uint64_t, uint64_t, F<uint64_t>>(name ".u64")
#define KP_BITS2(name, F)                                           \
  Row2<uint16_t, uint16_t, uint16_t, F<uint16_t>>(name ".b16"),     \
      Row2<uint32_t, uint32_t, uint32_t, F<uint32_t>>(name ".b32"), \
      Row2<uint64_t, uint64_t, uint64_t, F<uint64_t>>(name ".b64")
#define KP_BITS1(name, F)                                                                                 \
  Row1<uint16_t, uint16_t, F<uint16_t>>(name ".b16"), Row1<uint32_t, uint32_t, F<uint32_t>>(name ".b32"), \
      Row1<uint64_t, uint64_t, F<uint64_t>>(name ".b64")
#define KP_SIGNED1(name, F)                                                                         \
  Row1<int16_t, int16_t, F<int16_t>>(name ".s16"), Row1<int32_t, int32_t, F<int32_t>>(name ".s32"), \
      Row1<int64_t, int64_t, F<int64_t>>(name ".s64")
#define KP_SHIFTS(name, F, s, S)                                 \
  Row2<S##16_t, S##16_t, uint32_t, F<S##16_t>>(name s "16"),     \
      Row2<S##32_t, S##32_t, uint32_t, F<S##32_t>>(name s "32"), \
      Row2<S##64_t, S##64_t, uint32_t, F<S##64_t>>(name s "64")

constexpr Held W = Held::kWord, L = Held::kLong;

#define KP_CARRY(name, kIn, kSubtract)                                             \
  {name ".u32", &WithCarry<uint32_t, kIn, kSubtract>, kCarryOut, {W, W, W}},       \
      {name ".s32", &WithCarry<uint32_t, kIn, kSubtract>, kCarryOut, {W, W, W}},   \
      {name ".u64", &WithCarry<uint64_t, kIn, kSubtract>, kCarryOut, {L, L, L}}, { \
    name ".s64", &WithCarry<uint64_t, kIn, kSubtract>, kCarryOut, { L, L, L }      \
  }

#define KP_PERMUTE(name, kMode) Row3<uint32_t, uint32_t, uint32_t, uint32_t, PrmtMode<Permute::kMode>>("prmt.b32." name)
#define KP_DP2A(name, kBegin)                                                                                       \
  Row3<int32_t, uint32_t, uint32_t, int32_t, Dp2a<int16_t, int8_t, int32_t, kBegin>>("dp2a." name ".s32.s32"),      \
      Row3<int32_t, uint32_t, uint32_t, int32_t, Dp2a<int16_t, uint8_t, int32_t, kBegin>>("dp2a." name ".s32.u32"), \
      Row3<int32_t, uint32_t, uint32_t, int32_t, Dp2a<uint16_t, int8_t, int32_t, kBegin>>("dp2a." name ".u32.s32"), \
      Row3<uint32_t, uint32_t, uint32_t, uint32_t, Dp2a<uint16_t, uint8_t, uint32_t, kBegin>>("dp2a." name ".u32.u32")

constexpr Row kRows[] = {
    {"add.s32", &AddSat<false>, kSat, {W, W, W}},
    {"sub.s32", &AddSat<true>, kSat, {W, W, W}},
    {"mad.hi.s32", &MadHiSat, kSat, {W, W, W, W}},
    KP_INTEGERS("add", Add),
    KP_INTEGERS("sub", Sub),
    KP_INTEGERS("mul.lo", MulLo),
    KP_INTEGERS("mul.hi", MulHi),
    KP_INTEGERS("div", Div),
    KP_INTEGERS("rem", Rem),
    KP_INTEGERS("min", Min),
    KP_INTEGERS("max", Max),
    KP_INTEGERS3("mad.lo", MadLo),
    KP_INTEGERS3("mad.hi", MadHi),
    KP_INTEGERS3("sad", Sad),
    KP_SIGNED1("neg", Neg),
    KP_SIGNED1("abs", Abs),
    Row2<int32_t, int16_t, int16_t, MulWide<int16_t, int32_t>>("mul.wide.s16"),
    Row2<uint32_t, uint16_t, uint16_t, MulWide<uint16_t, uint32_t>>("mul.wide.u16"),
    Row2<int64_t, int32_t, int32_t, MulWide<int32_t, int64_t>>("mul.wide.s32"),
    Row2<uint64_t, uint32_t, uint32_t, MulWide<uint32_t, uint64_t>>("mul.wide.u32"),
    Row3<int32_t, int16_t, int16_t, int32_t, MadWide<int16_t, int32_t>>("mad.wide.s16"),
    Row3<uint32_t, uint16_t, uint16_t, uint32_t, MadWide<uint16_t, uint32_t>>("mad.wide.u16"),
    Row3<int64_t, int32_t, int32_t, int64_t, MadWide<int32_t, int64_t>>("mad.wide.s32"),
    Row3<uint64_t, uint32_t, uint32_t, uint64_t, MadWide<uint32_t, uint64_t>>("mad.wide.u32"),
    Row2<int32_t, int32_t, int32_t, Mul24<int32_t>>("mul24.lo.s32"),
    Row2<uint32_t, uint32_t, uint32_t, Mul24<uint32_t>>("mul24.lo.u32"),
    Row2<int32_t, int32_t, int32_t, Mul24Hi<int32_t>>("mul24.hi.s32"),
    Row2<uint32_t, uint32_t, uint32_t, Mul24Hi<uint32_t>>("mul24.hi.u32"),
    Row3<int32_t, int32_t, int32_t, int32_t, Mad24Hi<int32_t>>("mad24.hi.s32"),
    Row3<uint32_t, uint32_t, uint32_t, uint32_t, Mad24Hi<uint32_t>>("mad24.hi.u32"),
    Row3<int32_t, int32_t, int32_t, int32_t, Mad24<int32_t>>("mad24.lo.s32"),
    Row3<uint32_t, uint32_t, uint32_t, uint32_t, Mad24<uint32_t>>("mad24.lo.u32"),
    KP_BITS2("and", And),
    KP_BITS2("or", Or),
    KP_BITS2("xor", Xor),
    KP_BITS1("not", Not),
    KP_BITS1("cnot", CNot),
    KP_SHIFTS("shl", Shl, ".b", uint),
    KP_SHIFTS("shr", Shr, ".b", uint),
    KP_SHIFTS("shr", Shr, ".u", uint),
    KP_SHIFTS("shr", Shr, ".s", int),
    Row3<uint32_t, uint32_t, uint32_t, uint32_t, ShfLWrap>("shf.l.wrap.b32"),
    Row3<uint32_t, uint32_t, uint32_t, uint32_t, ShfRWrap>("shf.r.wrap.b32"),
    Row3<uint32_t, uint32_t, uint32_t, uint32_t, ShfLClamp>("shf.l.clamp.b32"),
    Row3<uint32_t, uint32_t, uint32_t, uint32_t, ShfRClamp>("shf.r.clamp.b32"),
    Row1<uint32_t, uint32_t, Popc<uint32_t>>("popc.b32"),
    Row1<uint32_t, uint64_t, Popc<uint64_t>>("popc.b64"),
    Row1<uint32_t, uint32_t, Clz<uint32_t>>("clz.b32"),
    Row1<uint32_t, uint64_t, Clz<uint64_t>>("clz.b64"),
    Row1<uint32_t, uint32_t, Brev<uint32_t>>("brev.b32"),
    Row1<uint64_t, uint64_t, Brev<uint64_t>>("brev.b64"),
    Row1<uint32_t, uint32_t, Bfind<uint32_t, false>>("bfind.u32"),
    Row1<uint32_t, int32_t, Bfind<int32_t, false>>("bfind.s32"),
    Row1<uint32_t, uint64_t, Bfind<uint64_t, false>>("bfind.u64"),
    Row1<uint32_t, int64_t, Bfind<int64_t, false>>("bfind.s64"),
    Row1<uint32_t, uint32_t, Bfind<uint32_t, true>>("bfind.shiftamt.u32"),
    Row1<uint32_t, int32_t, Bfind<int32_t, true>>("bfind.shiftamt.s32"),
    Row1<uint32_t, uint64_t, Bfind<uint64_t, true>>("bfind.shiftamt.u64"),
    Row1<uint32_t, int64_t, Bfind<int64_t, true>>("bfind.shiftamt.s64"),
    Row3<uint32_t, uint32_t, uint32_t, uint32_t, Bfe<uint32_t>>("bfe.u32"),
    Row3<int32_t, int32_t, uint32_t, uint32_t, Bfe<int32_t>>("bfe.s32"),
    Row3<uint64_t, uint64_t, uint32_t, uint32_t, Bfe<uint64_t>>("bfe.u64"),
    Row3<int64_t, int64_t, uint32_t, uint32_t, Bfe<int64_t>>("bfe.s64"),
    {"bfi.b32", &Bfi<uint32_t>, 0, {W, W, W, W, W}},
    {"bfi.b64", &Bfi<uint64_t>, 0, {L, L, L, W, W}},
    Row2<uint32_t, uint32_t, uint32_t, Bmsk<uint32_t>>("bmsk.clamp.b32"),
    Row2<uint32_t, uint32_t, uint32_t, BmskWrap>("bmsk.wrap.b32"),
    Row2<uint32_t, uint32_t, uint32_t, Szext<uint32_t, false>>("szext.clamp.u32"),
    Row2<uint32_t, uint32_t, uint32_t, Szext<uint32_t, true>>("szext.wrap.u32"),
    Row2<int32_t, int32_t, uint32_t, Szext<int32_t, false>>("szext.clamp.s32"),
    Row2<int32_t, int32_t, uint32_t, Szext<int32_t, true>>("szext.wrap.s32"),
    Row3<uint32_t, uint32_t, uint32_t, uint32_t, Prmt>("prmt.b32"),
    KP_PERMUTE("f4e", kForward),
    KP_PERMUTE("b4e", kBackward),
    KP_PERMUTE("rc8", kReplicate8),
    KP_PERMUTE("ecl", kClampLeft),
    KP_PERMUTE("ecr", kClampRight),
    KP_PERMUTE("rc16", kReplicate16),
    {"lop3.b32", &Lop3, 0, {W, W, W, W, W}},
    KP_DP2A("lo", 0),
    KP_DP2A("hi", 16),
    Row3<int32_t, uint32_t, uint32_t, int32_t, Dp4a<int8_t, int8_t, int32_t>>("dp4a.s32.s32"),
    Row3<int32_t, uint32_t, uint32_t, int32_t, Dp4a<int8_t, uint8_t, int32_t>>("dp4a.s32.u32"),
    Row3<int32_t, uint32_t, uint32_t, int32_t, Dp4a<uint8_t, int8_t, int32_t>>("dp4a.u32.s32"),
    Row3<uint32_t, uint32_t, uint32_t, uint32_t, Dp4a<uint8_t, uint8_t, uint32_t>>("dp4a.u32.u32"),
    KP_CARRY("add.cc", false, false),
    KP_CARRY("addc", true, false),
    KP_CARRY("sub.cc", false, true),
    KP_CARRY("subc", true, true),
    {"mad.lo.cc.u32", &MadCarry<uint32_t, false, false>, kCarryOut, {W, W, W, W}},
    {"mad.hi.cc.u32", &MadCarry<uint32_t, false, true>, kCarryOut, {W, W, W, W}},
    {"madc.lo.u32", &MadCarry<uint32_t, true, false>, kCarryOut, {W, W, W, W}},
    {"madc.hi.u32", &MadCarry<uint32_t, true, true>, kCarryOut, {W, W, W, W}},
    {"mad.lo.cc.u64", &MadCarry<uint64_t, false, false>, kCarryOut, {L, L, L, L}},
    {"mad.hi.cc.u64", &MadCarry<uint64_t, false, true>, kCarryOut, {L, L, L, L}},
    {"madc.lo.u64", &MadCarry<uint64_t, true, false>, kCarryOut, {L, L, L, L}},
    {"madc.hi.u64", &MadCarry<uint64_t, true, true>, kCarryOut, {L, L, L, L}},
    Row2<uint32_t, uint32_t, uint32_t, Halves<int16_t, Add<int16_t>>>("add.s16x2"),
    Row2<uint32_t, uint32_t, uint32_t, Halves<uint16_t, Add<uint16_t>>>("add.u16x2"),
    Row2<uint32_t, uint32_t, uint32_t, Halves<int16_t, Min<int16_t>>>("min.s16x2"),
    Row2<uint32_t, uint32_t, uint32_t, Halves<uint16_t, Min<uint16_t>>>("min.u16x2"),
    Row2<uint32_t, uint32_t, uint32_t, Halves<int16_t, Max<int16_t>>>("max.s16x2"),
    Row2<uint32_t, uint32_t, uint32_t, Halves<uint16_t, Max<uint16_t>>>("max.u16x2"),
};

}  // namespace

extern const Table kIntegerTable;
const Table kIntegerTable{kRows, sizeof kRows / sizeof kRows[0]};

}  // namespace kernpack::emulator::KP_ISA
