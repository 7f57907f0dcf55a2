// Casts. Storage types go by way of f32, in integer arithmetic where the processor has no instruction for it.
#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/types.h"
#include "codegen/llvm/values.h"

namespace kernpack::sdk::ir {
namespace {

constexpr uint32_t kF32Bias = 127, kF32Mantissa = 23, kF32Infinity = 0x7f800000;

}  // namespace

llvm::Value* Values::Cast(Type from, Type to, llvm::Value* v) {
  to = WithLanes(to, from.lanes);
  if (from == to) return v;
  if (IsStorage(from)) return Cast(WithLanes(kF32, from.lanes), to, Widen(from, v));
  if (IsStorage(to)) return Narrow(to, FloatFrom(from, WithLanes(kF32, from.lanes), v));
  llvm::Type* type = GetType(to);
  if (IsFloat(to)) return FloatFrom(from, to, v);
  if (IsBool(to)) {
    llvm::Value* zero = llvm::Constant::getNullValue(v->getType());
    return IsFloat(from) ? b_.CreateFCmpUNE(v, zero) : b_.CreateICmpNE(v, zero);
  }
  if (IsFloat(from)) {
    const auto saturating = IsSigned(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return b_.CreateIntrinsic(saturating, {type, v->getType()}, {v});
  }
  return IsSigned(from) ? b_.CreateSExtOrTrunc(v, type) : b_.CreateZExtOrTrunc(v, type);
}

llvm::Value* Values::FloatFrom(Type from, Type to, llvm::Value* v) {
  llvm::Type* type = GetType(to);
  if (IsFloat(from)) return b_.CreateFPCast(v, type);
  return IsSigned(from) ? b_.CreateSIToFP(v, type) : b_.CreateUIToFP(v, type);
}

llvm::Value* Values::Bitcast(Type to, llvm::Value* v) { return b_.CreateBitCast(v, GetType(to)); }

llvm::Value* Values::Widen(Type from, llvm::Value* v) {
  llvm::Type* f32_type = GetType(WithLanes(kF32, from.lanes));
  llvm::Type* word = GetType(WithLanes(kI32, from.lanes));
  if (ElementOf(from) == bf16) {
    return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(v, word), Int(word, 16)), f32_type);
  }
  if (native_f16_ && ElementOf(from) == f16) {
    llvm::Type* half = f32_type->getWithNewType(llvm::Type::getHalfTy(b_.getContext()));
    return b_.CreateFPExt(b_.CreateBitCast(v, half), f32_type);
  }
  return WidenBits(from, GetFormat(from), v);
}

llvm::Value* Values::Narrow(Type to, llvm::Value* v) {
  if (!native_f16_ || ElementOf(to) != f16) return NarrowBits(to, GetFormat(to), v);
  llvm::Type* half = v->getType()->getWithNewType(llvm::Type::getHalfTy(b_.getContext()));
  llvm::Value* bits = b_.CreateBitCast(b_.CreateFPTrunc(v, half), GetType(to));
  return b_.CreateSelect(b_.CreateFCmpUNO(v, v), Int(bits->getType(), GetFormat(to).nan), bits);
}

// The code's exponent and mantissa are put where f32 has them. Subnormal codes get an implicit one that does not belong to
// them, which a subtraction takes away exactly.
llvm::Value* Values::WidenBits(Type from, const StorageFormat& format, llvm::Value* v) {
  llvm::Type* f32_type = GetType(WithLanes(kF32, from.lanes));
  llvm::Type* word = GetType(WithLanes(kI32, from.lanes));
  const uint32_t shift = kF32Mantissa - format.mantissa;
  llvm::Value* code = b_.CreateZExt(v, word);
  llvm::Value* magnitude = b_.CreateAnd(code, Int(word, format.magnitude(from)));
  llvm::Value* sign = b_.CreateShl(b_.CreateXor(code, magnitude), Int(word, 32u - from.bits));
  llvm::Value* placed =
      b_.CreateAdd(b_.CreateShl(magnitude, Int(word, shift)), Int(word, (kF32Bias - format.bias) << kF32Mantissa));
  const uint32_t least_normal = (kF32Bias - format.bias + 1) << kF32Mantissa;
  llvm::Value* implicit = b_.CreateBitCast(Int(word, least_normal), f32_type);
  llvm::Value* as_subnormal = b_.CreateBitCast(b_.CreateAdd(placed, Int(word, 1u << kF32Mantissa)), f32_type);
  llvm::Value* exact = b_.CreateBitCast(b_.CreateFSub(as_subnormal, implicit), word);
  llvm::Value* bits = b_.CreateSelect(b_.CreateICmpULT(magnitude, Int(word, 1u << format.mantissa)), exact, placed);
  llvm::Value* beyond = b_.CreateOr(b_.CreateShl(magnitude, Int(word, shift)), Int(word, kF32Infinity));
  bits = b_.CreateSelect(b_.CreateICmpUGE(magnitude, Int(word, format.limit)), beyond, bits);
  return b_.CreateBitCast(b_.CreateOr(bits, sign), f32_type);
}

// Rounds to nearest even: subnormal results by adding a float whose last place is theirs, others by integer addition, whose
// carry goes into the exponent as it should.
llvm::Value* Values::NarrowBits(Type to, const StorageFormat& format, llvm::Value* v) {
  llvm::Type* f32_type = v->getType();
  llvm::Type* word = GetType(WithLanes(kI32, to.lanes));
  const uint32_t shift = kF32Mantissa - format.mantissa;
  llvm::Value* bits = b_.CreateBitCast(v, word);
  llvm::Value* magnitude = b_.CreateAnd(bits, Int(word, 0x7fffffff));
  llvm::Value* sign = b_.CreateXor(bits, magnitude);
  const uint32_t magic_bits = (kF32Bias + kF32Mantissa + 1 - format.bias - format.mantissa) << kF32Mantissa;
  llvm::Value* magic = b_.CreateBitCast(Int(word, magic_bits), f32_type);
  llvm::Value* sum = b_.CreateFAdd(b_.CreateBitCast(magnitude, f32_type), magic);
  llvm::Value* subnormal = b_.CreateSub(b_.CreateBitCast(sum, word), Int(word, magic_bits));
  llvm::Value* odd = b_.CreateAnd(b_.CreateLShr(magnitude, Int(word, shift)), Int(word, 1));
  const uint32_t rebias = (format.bias - kF32Bias) << kF32Mantissa;  // wraps
  llvm::Value* rounded = b_.CreateAdd(b_.CreateAdd(magnitude, Int(word, rebias + (1u << (shift - 1)) - 1)), odd);
  llvm::Value* normal = b_.CreateLShr(rounded, Int(word, shift));
  const uint32_t least_normal = (kF32Bias + 1 - format.bias) << kF32Mantissa;
  llvm::Value* code = b_.CreateSelect(b_.CreateICmpULT(magnitude, Int(word, least_normal)), subnormal, normal);
  code = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, code, Int(word, format.limit));
  code = b_.CreateOr(code, b_.CreateLShr(sign, Int(word, 32u - to.bits)));
  // Past the largest finite number e4m3fn has its NaN, which has no sign here.
  llvm::Value* is_nan = format.has_infinity
                            ? b_.CreateFCmpUNO(v, v)
                            : b_.CreateICmpEQ(b_.CreateAnd(code, Int(word, format.limit)), Int(word, format.limit));
  code = b_.CreateSelect(is_nan, Int(word, format.nan), code);
  return b_.CreateTrunc(code, GetType(to));
}

}  // namespace kernpack::sdk::ir
