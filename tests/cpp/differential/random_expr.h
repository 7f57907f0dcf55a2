// Random expressions of the IR. What they read is given; they are in bounds and do no more than a few operations.
#pragma once

#include <kernpack/sdk/ir/builder.h>

#include "ir/arguments.h"

namespace ir_test {

inline const std::vector<Type>& ComputedTypes() {
  static const std::vector<Type> types = [] {
    std::vector<Type> all;
    for (const char* name : {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"}) {
      TypeFromName(name, &all.emplace_back());
    }
    return all;
  }();
  return types;
}

class RandomExpr {
 public:
  explicit RandomExpr(uint64_t seed) : values_(seed) {}

  // The variables and tensors of a function at one place. Tensors have their first extent `n`, which is not 0 where they are read.
  std::vector<Buffer> readable;
  std::vector<Expr> scalars;
  Expr n;
  // Small numbers (i64) that reductions may run to.
  std::vector<Expr> bounds;
  // Of a hundred indices, how many memory holds.
  int gathers = 0;
  // Only what a vectorized loop can turn into vectors.
  bool widenable = false;

  int64_t Below(int64_t count) { return values_.Below(count); }
  template <class T>
  const T& OneOf(const std::vector<T>& all) {
    return all[static_cast<size_t>(Below(static_cast<int64_t>(all.size())))];
  }
  bool In(int percent) { return Below(100) < percent; }
  Type AnyType() { return OneOf(ComputedTypes()); }

  Expr Make(Type type, int depth) {
    if (depth <= 0 || Below(5) == 0) return Leaf(type);
    const Type element = ElementOf(type);
    switch (Below(type.lanes == 1 && !widenable ? 8 : 6)) {
      case 0:
        return Select(Make(WithLanes(kBool, type.lanes), depth - 1), Make(type, depth - 1), Make(type, depth - 1));
      case 1:
        return Cast(type, Make(WithLanes(AnyType(), type.lanes), depth - 1));
      case 2:
        return OneOperand(type, depth);
      case 3:
        if (IsBool(element)) return Compared(type.lanes, depth);
        return widenable ? TwoOperands(type, depth) : Shuffled(type, depth);
      case 6:
        return Reduced(type, depth);
      case 7:
        return ReduceLanes(OneOf(Reductions(type)), Make(WithLanes(type, 1 << (1 + Below(3))), depth - 2));
      default:
        return TwoOperands(type, depth);
    }
  }

  // An element at a loaded index. There is a readable tensor.
  Expr Gathered(Type type) {
    const int before = gathers;
    gathers = 100;
    const Expr made = Cast(type, Read(OneOf(readable), type.lanes));
    gathers = before;
    return made;
  }

  // One that a function reads once, modulo `count`: from 0 on. Something is readable.
  Expr LoadedBound(int64_t count) { return Binary(Op::kFloorMod, Cast(kI64, Read(OneOf(readable), 1)), Expr(count)); }

  // A reduction of order `any`, up to one of `bounds` where there are some and `to_bound` says so.
  Expr ReducedInAnyOrder(Type type, bool to_bound) {
    const Expr end = to_bound && !bounds.empty() ? OneOf(bounds) : Below(2) ? n : Expr(Below(40));
    return ReducedTo(type, end, 2 << Below(6), 2);
  }
  Expr ReducedToBound(Type type) { return ReducedTo(type, OneOf(bounds), Below(2) ? 2 << Below(4) : 0, 2); }

  // The place of the largest or smallest of some values, of which several may be equal, or -1.
  Expr Placed(bool to_bound) {
    Type type = AnyType();
    while (IsBool(type)) type = AnyType();
    const Expr end = to_bound && !bounds.empty() ? OneOf(bounds) : Below(2) ? n : Expr(Below(12));
    const Var j = MakeVar("j", kI64);
    scalars.push_back(Expr(j));
    const Expr body = Make(type, 2);
    scalars.pop_back();
    return Reduce(Below(2) ? Op::kArgMax : Op::kArgMin, j, Expr(Below(3)), end, 0, body);
  }

  // Two values as one.
  Expr Joined(const Expr& a, const Expr& b) { return Binary(OneOf(Reductions(a->type)), a, b); }

 private:
  Values values_;
  int reading_ = 0;  // nested loads

  static std::vector<Op> Reductions(Type t) {
    if (IsBool(t)) return {Op::kAnd, Op::kOr, Op::kXor};
    if (IsFloat(t)) return {Op::kAdd, Op::kMul, Op::kMin, Op::kMax, Op::kMinimum, Op::kMaximum};
    return {Op::kAdd, Op::kMul, Op::kMin, Op::kMax, Op::kAnd, Op::kOr, Op::kXor};
  }

  Expr Constant(Type type) {
    const Type t = ElementOf(type);
    return Const(type, IsSigned(t) ? Extended(t, values_.Bits(t)) : values_.Bits(t));
  }
  static uint64_t Extended(Type t, uint64_t bits) {
    const int drop = 64 - t.bits;
    return static_cast<uint64_t>(static_cast<int64_t>(bits << drop) >> drop);
  }

  Expr Leaf(Type type) {
    const int64_t kind = Below(4);
    if (kind == 0 || (scalars.empty() && readable.empty())) return Constant(type);
    if (kind == 1 && !scalars.empty()) return Broadcast(Cast(ElementOf(type), OneOf(scalars)), type.lanes);
    if (readable.empty()) return Constant(type);
    return Cast(type, Read(OneOf(readable), type.lanes));
  }

  // Any element: the indices are taken modulo the extents, or masked.
  Expr Read(const Buffer& buffer, int lanes) {
    std::vector<Expr> indices;
    for (const Expr& extent : buffer->shape) indices.push_back(Binary(Op::kFloorMod, Index(), extent));
    if (lanes == 1 || indices.empty()) return Broadcast(Load(buffer, indices), lanes);
    const Expr extent = buffer->shape.back();
    const Expr at = Ramp(indices.back(), Expr(Below(4) == 0 ? int64_t{2} : int64_t{1}), lanes);
    if (Below(3) == 0) {
      indices.back() = Binary(Op::kFloorMod, at, Broadcast(extent, lanes));
      return Load(buffer, indices);
    }
    indices.back() = at;
    return MaskedLoad(buffer, indices, at < Broadcast(extent, lanes), Const(buffer->element, 0));
  }
  Expr Index() {
    const Expr shift(Below(7));
    if (In(gathers) && reading_ < 2) {
      ++reading_;
      const Expr index = Cast(kI64, Read(OneOf(readable), 1)) + shift;
      --reading_;
      return index;
    }
    return scalars.empty() ? shift : Cast(kI64, OneOf(scalars)) + shift;
  }

  Expr OneOperand(Type type, int depth) {
    const Type t = ElementOf(type);
    const Expr a = Make(type, depth - 1);
    if (IsBool(t)) return Unary(Op::kNot, a);
    if (IsUnsigned(t)) return Below(2) ? Unary(Op::kNot, a) : Reinterpreted(type, depth);
    if (IsSigned(t)) {
      const int64_t kind = Below(4);
      return kind == 3 ? Reinterpreted(type, depth)
                       : Unary(std::vector<Op>{Op::kNot, Op::kNeg, Op::kAbs}[static_cast<size_t>(kind)], a);
    }
    std::vector<Op> ops = {Op::kNeg, Op::kAbs, Op::kSqrt, Op::kFloor, Op::kCeil, Op::kTrunc, Op::kRound};
    if (Below(t == kF32 ? 3 : 12) == 0)
      ops = {Op::kExp, Op::kLog, Op::kTanh, Op::kErf, Op::kSigmoid, Op::kSin, Op::kCos};
    return Unary(OneOf(ops), a);
  }
  // Bits of another type of that size. The bits of a NaN are nobody's business.
  Expr Reinterpreted(Type type, int depth) {
    const Type other(IsSigned(type) ? KP_DTYPE_UINT : KP_DTYPE_INT, type.bits, type.lanes);
    if (type.bits < 32 || Below(2)) return Bitcast(type, Make(other, depth - 1));
    const Type real(KP_DTYPE_FLOAT, type.bits, type.lanes);
    const Expr a = Make(real, depth - 2);
    return Bitcast(type, Select(a == a, a, Const(real, 0)));
  }

  Expr Compared(int lanes, int depth) {
    const Type t = WithLanes(OneOf(ComputedTypes()), lanes);
    const Expr a = Make(t, depth - 1), b = Make(t, depth - 1);
    if (IsBool(t)) return Binary(Below(2) ? Op::kEq : Op::kNe, a, b);
    return Binary(OneOf(std::vector<Op>{Op::kEq, Op::kNe, Op::kLt, Op::kLe, Op::kGt, Op::kGe}), a, b);
  }

  Expr TwoOperands(Type type, int depth) {
    std::vector<Op> ops = {Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kRem, Op::kFloorDiv, Op::kFloorMod,
                           Op::kMin, Op::kMax, Op::kAnd, Op::kOr,  Op::kXor, Op::kShl,      Op::kShr};
    if (IsBool(type)) ops = {Op::kAnd, Op::kOr, Op::kXor, Op::kEq, Op::kNe};
    if (IsFloat(type)) ops = {Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kMin, Op::kMax, Op::kMinimum, Op::kMaximum};
    if (IsFloat(type) && Below(ElementOf(type) == kF32 ? 16 : 64) == 0) ops = {Op::kPow};
    return Binary(OneOf(ops), Make(type, depth - 1), Make(type, depth - 1));
  }

  Expr Shuffled(Type type, int depth) {
    const Type from = WithLanes(type, 1 << Below(3));
    std::vector<int> lanes;
    for (int i = 0; i < type.lanes; ++i) lanes.push_back(static_cast<int>(Below(2 * from.lanes)));
    return Shuffle(Make(from, depth - 2), Make(from, depth - 2), lanes);
  }

  Expr Reduced(Type type, int depth) {
    if (depth < 2) return Leaf(type);
    const int64_t kind = Below(4);
    const Expr end = kind == 0 ? n : kind == 1 && !bounds.empty() ? OneOf(bounds) : Expr(Below(12));
    return ReducedTo(type, end, Below(3) ? 2 << Below(3) : 0, depth - 2);
  }
  Expr ReducedTo(Type type, const Expr& end, int lanes, int depth) {
    const Var j = MakeVar("j", kI64);
    scalars.push_back(Expr(j));
    const Expr body = Make(type, depth);
    scalars.pop_back();
    return Reduce(OneOf(Reductions(type)), j, Expr(Below(3)), end, lanes, body);
  }
};

}  // namespace ir_test
