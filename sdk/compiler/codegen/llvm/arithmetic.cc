// Arithmetic, comparisons and what is done to whole vectors.
#include <kernpack/error.h>
#include <llvm/IR/Intrinsics.h>

#include <numeric>

#include "codegen/llvm/types.h"
#include "codegen/llvm/values.h"

namespace kernpack::sdk::ir {

llvm::Type* Values::GetType(Type t) { return ValueType(b_.getContext(), t); }

llvm::Value* Values::Int(llvm::Type* type, uint64_t value) {
  return llvm::ConstantInt::get(type, llvm::APInt(type->getScalarSizeInBits(), value, false, true));
}

llvm::Value* Values::Const(Type type, uint64_t bits) {
  llvm::Type* t = GetType(type);
  if (!IsFloat(type)) return Int(t, bits);
  const llvm::APInt raw(type.bits, bits, false, true);
  return llvm::ConstantFP::get(
      t, llvm::APFloat(type.bits == 32 ? llvm::APFloat::IEEEsingle() : llvm::APFloat::IEEEdouble(), raw));
}

llvm::Value* Values::Splat(Type type, llvm::Value* scalar) { return b_.CreateVectorSplat(type.lanes, scalar); }

llvm::Value* Values::Ramp(Type type, llvm::Value* base, llvm::Value* stride) {
  std::vector<llvm::Constant*> lanes;
  for (int i = 0; i < type.lanes; ++i) {
    lanes.push_back(llvm::ConstantInt::get(GetType(ElementOf(type)), static_cast<uint64_t>(i)));
  }
  llvm::Value* offsets = b_.CreateMul(llvm::ConstantVector::get(lanes), Splat(type, stride));
  return b_.CreateAdd(Splat(type, base), offsets);
}

llvm::Value* Values::Compare(Op op, Type type, llvm::Value* a, llvm::Value* b) {
  using P = llvm::CmpInst::Predicate;
  const auto choose = [&](P on_float, P on_signed, P on_unsigned) {
    return IsFloat(type) ? on_float : IsSigned(type) ? on_signed : on_unsigned;
  };
  P p = P::ICMP_EQ;
  switch (op) {
    case Op::kEq:
      p = choose(P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ);
      break;
    case Op::kNe:
      p = choose(P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE);
      break;
    case Op::kLt:
      p = choose(P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT);
      break;
    case Op::kLe:
      p = choose(P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE);
      break;
    case Op::kGt:
      p = choose(P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT);
      break;
    default:
      p = choose(P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE);
      break;
  }
  return b_.CreateCmp(p, a, b);
}

// Divides by 1 where the quotient has no meaning in LLVM, and corrects the result there.
llvm::Value* Values::Divide(Op op, Type type, llvm::Value* a, llvm::Value* b) {
  llvm::Type* t = a->getType();
  llvm::Value *zero = Int(t, 0), *one = Int(t, 1);
  llvm::Value* by_zero = b_.CreateICmpEQ(b, zero);
  llvm::Value* unsafe = by_zero;
  if (IsSigned(type)) {
    llvm::Value* least = llvm::ConstantInt::get(t, llvm::APInt::getSignedMinValue(type.bits));
    llvm::Value* overflows = b_.CreateAnd(b_.CreateICmpEQ(a, least), b_.CreateICmpEQ(b, Int(t, ~uint64_t{0})));
    unsafe = b_.CreateOr(by_zero, overflows);  // least / 1 is what least / -1 wraps to
  }
  llvm::Value* divisor = b_.CreateSelect(unsafe, one, b);
  if (!IsSigned(type)) {
    const bool quotient = op == Op::kDiv || op == Op::kFloorDiv;
    llvm::Value* result = quotient ? b_.CreateUDiv(a, divisor) : b_.CreateURem(a, divisor);
    return b_.CreateSelect(by_zero, zero, result);
  }
  if (op == Op::kDiv) return b_.CreateSelect(by_zero, zero, b_.CreateSDiv(a, divisor));
  llvm::Value* rest = b_.CreateSRem(a, divisor);
  if (op == Op::kRem) return rest;
  llvm::Value* apart = b_.CreateICmpSLT(b_.CreateXor(rest, divisor), zero);
  llvm::Value* rounds = b_.CreateAnd(apart, b_.CreateICmpNE(rest, zero));
  if (op == Op::kFloorMod) return b_.CreateAdd(rest, b_.CreateSelect(rounds, divisor, zero));
  llvm::Value* quotient = b_.CreateSub(b_.CreateSDiv(a, divisor), b_.CreateZExt(rounds, t));
  return b_.CreateSelect(by_zero, zero, quotient);
}

llvm::Value* Values::IntBinary(Op op, Type type, llvm::Value* a, llvm::Value* b) {
  const auto shift_count = [&] { return b_.CreateAnd(b, Int(b->getType(), type.bits - 1u)); };
  switch (op) {
    case Op::kAdd:
      return b_.CreateAdd(a, b);
    case Op::kSub:
      return b_.CreateSub(a, b);
    case Op::kMul:
      return b_.CreateMul(a, b);
    case Op::kMin:
      return b_.CreateBinaryIntrinsic(IsSigned(type) ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b);
    case Op::kMax:
      return b_.CreateBinaryIntrinsic(IsSigned(type) ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b);
    case Op::kAnd:
      return b_.CreateAnd(a, b);
    case Op::kOr:
      return b_.CreateOr(a, b);
    case Op::kXor:
      return b_.CreateXor(a, b);
    case Op::kShl:
      return b_.CreateShl(a, shift_count());
    case Op::kShr:
      return IsSigned(type) ? b_.CreateAShr(a, shift_count()) : b_.CreateLShr(a, shift_count());
    default:
      return Divide(op, type, a, b);
  }
}

llvm::Value* Values::FloatBinary(Op op, llvm::Value* a, llvm::Value* b) {
  // Of a comparison that NaN or two zeros make false, the second operand is taken, as by x86's own minimum.
  const auto least = [&] { return b_.CreateSelect(b_.CreateFCmpOLT(a, b), a, b); };
  const auto most = [&] { return b_.CreateSelect(b_.CreateFCmpOGT(a, b), a, b); };
  const auto first_if_nan = [&](llvm::Value* asked, llvm::Value* otherwise) {
    return b_.CreateSelect(b_.CreateFCmpUNO(asked, asked), a, otherwise);
  };
  switch (op) {
    case Op::kAdd:
      return b_.CreateFAdd(a, b);
    case Op::kSub:
      return b_.CreateFSub(a, b);
    case Op::kMul:
      return b_.CreateFMul(a, b);
    case Op::kDiv:
      return b_.CreateFDiv(a, b);
    case Op::kMin:
      return first_if_nan(b, least());
    case Op::kMax:
      return first_if_nan(b, most());
    case Op::kMinimum:
      return first_if_nan(a, least());
    case Op::kMaximum:
      return first_if_nan(a, most());
    default:
      KP_THROW(NotImplementedError) << "the kind llvm cannot generate '" << OpName(op) << "'; expand it first";
  }
}

llvm::Value* Values::Binary(Op op, Type type, llvm::Value* a, llvm::Value* b) {
  if (ClassOf(op) == OpClass::Compare) return Compare(op, type, a, b);
  return IsFloat(type) ? FloatBinary(op, a, b) : IntBinary(op, type, a, b);
}

llvm::Value* Values::Unary(Op op, Type type, llvm::Value* a) {
  const auto rounding = [&](llvm::Intrinsic::ID id) { return b_.CreateUnaryIntrinsic(id, a); };
  switch (op) {
    case Op::kNeg:
      return IsFloat(type) ? b_.CreateFNeg(a) : b_.CreateNeg(a);
    case Op::kNot:
      return b_.CreateNot(a);
    case Op::kAbs:
      if (IsFloat(type)) return rounding(llvm::Intrinsic::fabs);
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, b_.getFalse());
    case Op::kSqrt:
      return rounding(llvm::Intrinsic::sqrt);
    case Op::kFloor:
      return rounding(llvm::Intrinsic::floor);
    case Op::kCeil:
      return rounding(llvm::Intrinsic::ceil);
    case Op::kTrunc:
      return rounding(llvm::Intrinsic::trunc);
    case Op::kRound:
      return rounding(llvm::Intrinsic::roundeven);
    default:
      KP_THROW(NotImplementedError) << "the kind llvm cannot generate '" << OpName(op) << "' of " << TypeName(type)
                                    << "; expand it first";
  }
}

llvm::Value* Values::Shuffle(Type type, llvm::Value* a, llvm::Value* b, const std::vector<int>& lanes) {
  const auto count = [](llvm::Value* v) {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
    return vector ? static_cast<int>(vector->getNumElements()) : 1;
  };
  const int from_a = count(a);
  if (from_a > 1 && from_a == count(b)) {
    llvm::Value* v = b_.CreateShuffleVector(a, b, lanes);
    return type.lanes == 1 ? b_.CreateExtractElement(v, uint64_t{0}) : v;
  }
  llvm::Value* out = llvm::PoisonValue::get(GetType(type));
  for (size_t i = 0; i < lanes.size(); ++i) {
    llvm::Value* source = lanes[i] < from_a ? a : b;
    const int lane = lanes[i] < from_a ? lanes[i] : lanes[i] - from_a;
    if (count(source) > 1) source = b_.CreateExtractElement(source, static_cast<uint64_t>(lane));
    if (type.lanes == 1) return source;
    out = b_.CreateInsertElement(out, source, i);
  }
  return out;
}

llvm::Value* Values::ReduceLanes(Op op, Type from, llvm::Value* v) {
  for (int half = from.lanes / 2; half; half /= 2) {
    std::vector<int> low(static_cast<size_t>(half)), high(static_cast<size_t>(half));
    std::iota(low.begin(), low.end(), 0);
    std::iota(high.begin(), high.end(), half);
    const Type t = WithLanes(from, half);
    v = Binary(op, t, Shuffle(t, v, v, low), Shuffle(t, v, v, high));
  }
  return v;
}

}  // namespace kernpack::sdk::ir
