// Compiles shapes and remembers what they would bind.
#ifndef KERNPACK_SIGNATURE_SHAPE_H_
#define KERNPACK_SIGNATURE_SHAPE_H_

#include <kernpack/signature/expression.h>

KP_NAMESPACE_BEGIN
namespace signature {

struct Shapes : Expressions {
  using Expressions::Expressions;

  // Of the shape read last.
  uint32_t shape_dims = 0;  // bits: dims that stand by themselves
  uint32_t shape_stars = 0;
  uint32_t shape_rank = 0;
  Batch shape_batch = Batch::kNone;

  // "[" [ dims ] "]"
  constexpr bool Shape(uint32_t* out_offset) {
    uint32_t found[KP_MAX_NDIM]{};
    const uint32_t begin = now.begin;
    int star = -1;
    shape_dims = shape_stars = shape_rank = 0;
    shape_batch = Batch::kNone;
    if (!Expect('[', Reason::kExpectedShape)) return false;
    if (!ReadBatch()) return false;
    bool more = shape_batch == Batch::kNone ? !Is(']') : Accept(',');
    for (; more; more = Accept(',')) {
      if (shape_rank == KP_MAX_NDIM) return Fail(Reason::kTooManyShapeDims);
      if (Is('*')) {
        if (star >= 0 || (shape_batch != Batch::kNone && place == Place::kParams)) return Fail(Reason::kOneStarATensor);
        star = static_cast<int>(shape_rank);
      }
      if (!ShapeDim(&found[shape_rank++])) return false;
    }
    if (!Expect(']', Reason::kExpectedClosingBracket)) return false;
    *out_offset = used;
    Emit(shape_rank | static_cast<uint32_t>(shape_batch) << 8 | static_cast<uint32_t>(star + 1) << 16);
    Emit(Intern(begin, previous_end));
    for (uint32_t i = 0; i < shape_rank; ++i) Emit(found[i]);
    return true;
  }

 private:
  constexpr bool ReadBatch() {
    if (now.kind == Tok::kEllipsis) shape_batch = Batch::kSame;
    if (now.kind == Tok::kBroadcast) shape_batch = Batch::kBroadcast;
    if (shape_batch == Batch::kNone) return true;
    if (place == Place::kResults) {
      if (shape_batch == Batch::kBroadcast) return Fail(Reason::kBroadcastBatchInResult);
      if (!batch_sure) return Fail(Reason::kBatchNeverBound);
    }
    Next();
    return true;
  }

  static constexpr uint32_t Pack(DimOp op, uint32_t operand) { return static_cast<uint32_t>(op) | operand << 8; }

  constexpr bool ShapeDim(uint32_t* out) {
    if (now.kind == Tok::kEllipsis || now.kind == Tok::kBroadcast) return Fail(Reason::kBatchMustComeFirst);
    if (Accept('*')) return Star(out);
    if (IsWord("_")) {
      if (place == Place::kResults) return Fail(Reason::kAnyDimInResult);
      *out = Pack(DimOp::kAny, 0);
      Next();
      return true;
    }
    const uint32_t start = used;
    if (!Expression()) return false;
    const uint32_t operand = Operand(words[start]);
    const Op op = static_cast<Op>(words[start] & 0xff);
    if (used == start + 1 && op != Op::kItem) {  // a value by itself needs no code
      used = start;
      *out = Pack(op == Op::kConst ? DimOp::kConst : op == Op::kDim ? DimOp::kVar : DimOp::kInt, operand);
      if (op == Op::kDim) shape_dims |= 1u << operand;
      return true;
    }
    Emit(Op::kEnd);
    *out = Pack(DimOp::kCode, start);
    return true;
  }

  constexpr bool Star(uint32_t* out) {
    if (now.kind != Tok::kVar) return Fail(Reason::kStarNeedsVariable);
    uint32_t i = Find(stars, now);
    if (place == Place::kParams) {
      if (!AddVariable(&stars, kMaxStars, Reason::kTooManyStars, &i)) return false;
    } else if (i == kNotFound || !(stars.sure >> i & 1)) {
      return Fail(Reason::kStarNeverBound);
    }
    shape_stars |= 1u << i;
    *out = Pack(DimOp::kStar, i);
    Next();
    return true;
  }
};

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_SHAPE_H_
