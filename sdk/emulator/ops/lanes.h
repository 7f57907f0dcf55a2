// Loops over the lanes of a warp, for the tables. Compiled several times, for different processors: everything is in a namespace
// of its own (KP_ISA), so that no code for a newer processor is linked in place of that for an older one.
#ifndef KERNPACK_SDK_EMULATOR_OPS_LANES_H_
#define KERNPACK_SDK_EMULATOR_OPS_LANES_H_

#include <cstdint>

#include "exec/warp.h"
#include "ops/table.h"

namespace kernpack::emulator::KP_ISA {

// The word that holds a T.
template <int kBytes>
struct WordOf {
  using Type = uint32_t;
};
template <>
struct WordOf<8> {
  using Type = uint64_t;
};
template <class T>
using Word = typename WordOf<sizeof(T)>::Type;

template <class T>
inline T FromWord(Word<T> word) {
  if constexpr (sizeof(T) >= 4) {
    return __builtin_bit_cast(T, word);
  } else {
    return static_cast<T>(word);
  }
}
// Narrow integers are kept extended, by their sign where they have one.
template <class T>
inline Word<T> ToWord(T value) {
  if constexpr (sizeof(T) == 8 || sizeof(T) == 4) {
    return __builtin_bit_cast(Word<T>, value);
  } else if constexpr (T(-1) < T(0)) {
    return static_cast<uint32_t>(static_cast<int32_t>(value));
  } else {
    return static_cast<uint32_t>(value);
  }
}

template <class T>
inline const Word<T>* In(const Warp& warp, uint32_t slot) {
  return reinterpret_cast<const Word<T>*>(warp.registers + slot);
}

inline uint32_t& Predicate(Warp& warp, uint32_t slot) { return *reinterpret_cast<uint32_t*>(warp.registers + slot); }

template <class W>
inline void Store(Warp& warp, uint32_t slot, uint32_t mask, const W* out) {
  W* to = reinterpret_cast<W*>(warp.registers + slot);
  if (mask == ~0U) {
    for (uint32_t l = 0; l < kLanes; ++l) to[l] = out[l];
  } else {
    for (uint32_t l = 0; l < kLanes; ++l) to[l] = (mask >> l & 1) != 0 ? out[l] : to[l];
  }
}

// A block of one thread, or a warp of which one thread works, would else pay for all 32.
inline bool IsOneLane(uint32_t mask) { return (mask & (mask - 1)) == 0; }
inline uint32_t FirstLane(uint32_t mask) { return static_cast<uint32_t>(__builtin_ctz(mask)); }

template <class D>
inline Word<D>& GetOutput(Warp& warp, uint32_t slot, uint32_t lane) {
  return reinterpret_cast<Word<D>*>(warp.registers + slot)[lane];
}

template <class D, class A, class F>
inline void Map1(Warp& warp, const Instruction& i, uint32_t mask, F f) {
  const Word<A>* a = In<A>(warp, i.op[1]);
  if (IsOneLane(mask)) {
    const uint32_t l = FirstLane(mask);
    GetOutput<D>(warp, i.op[0], l) = ToWord<D>(f(FromWord<A>(a[l])));
    return;
  }
  alignas(64) Word<D> out[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) out[l] = ToWord<D>(f(FromWord<A>(a[l])));
  Store(warp, i.op[0], mask, out);
}

template <class D, class A, class B, class F>
inline void Map2(Warp& warp, const Instruction& i, uint32_t mask, F f) {
  const Word<A>* a = In<A>(warp, i.op[1]);
  const Word<B>* b = In<B>(warp, i.op[2]);
  if (IsOneLane(mask)) {
    const uint32_t l = FirstLane(mask);
    GetOutput<D>(warp, i.op[0], l) = ToWord<D>(f(FromWord<A>(a[l]), FromWord<B>(b[l])));
    return;
  }
  alignas(64) Word<D> out[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) out[l] = ToWord<D>(f(FromWord<A>(a[l]), FromWord<B>(b[l])));
  Store(warp, i.op[0], mask, out);
}

template <class D, class A, class B, class C, class F>
inline void Map3(Warp& warp, const Instruction& i, uint32_t mask, F f) {
  const Word<A>* a = In<A>(warp, i.op[1]);
  const Word<B>* b = In<B>(warp, i.op[2]);
  const Word<C>* c = In<C>(warp, i.op[3]);
  if (IsOneLane(mask)) {
    const uint32_t l = FirstLane(mask);
    GetOutput<D>(warp, i.op[0], l) = ToWord<D>(f(FromWord<A>(a[l]), FromWord<B>(b[l]), FromWord<C>(c[l])));
    return;
  }
  alignas(64) Word<D> out[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) {
    out[l] = ToWord<D>(f(FromWord<A>(a[l]), FromWord<B>(b[l]), FromWord<C>(c[l])));
  }
  Store(warp, i.op[0], mask, out);
}

// The same as handlers, for what no modifier changes. F is a type whose operator() does it.
template <class D, class A, class F>
void Unary(Warp& warp, const Instruction& i, uint32_t mask) {
  Map1<D, A>(warp, i, mask, F());
}
template <class D, class A, class B, class F>
void Binary(Warp& warp, const Instruction& i, uint32_t mask) {
  Map2<D, A, B>(warp, i, mask, F());
}
template <class D, class A, class B, class C, class F>
void Ternary(Warp& warp, const Instruction& i, uint32_t mask) {
  Map3<D, A, B, C>(warp, i, mask, F());
}

template <class T>
constexpr Held HeldAs() {
  if constexpr (__is_same(T, float)) {
    return Held::kFloat;
  } else if constexpr (__is_same(T, double)) {
    return Held::kDouble;
  } else {
    return sizeof(T) == 8 ? Held::kLong : Held::kWord;
  }
}

template <class D, class A, class F>
constexpr Row Row1(const char* name) {
  return {name, &Unary<D, A, F>, 0, {HeldAs<D>(), HeldAs<A>()}};
}
template <class D, class A, class B, class F>
constexpr Row Row2(const char* name) {
  return {name, &Binary<D, A, B, F>, 0, {HeldAs<D>(), HeldAs<A>(), HeldAs<B>()}};
}
template <class D, class A, class B, class C, class F>
constexpr Row Row3(const char* name) {
  return {name, &Ternary<D, A, B, C, F>, 0, {HeldAs<D>(), HeldAs<A>(), HeldAs<B>(), HeldAs<C>()}};
}

}  // namespace kernpack::emulator::KP_ISA

#endif  // KERNPACK_SDK_EMULATOR_OPS_LANES_H_
