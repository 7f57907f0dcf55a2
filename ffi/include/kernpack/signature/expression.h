// Compiles expressions, and with them the dims of a shape.
#ifndef KERNPACK_SIGNATURE_EXPRESSION_H_
#define KERNPACK_SIGNATURE_EXPRESSION_H_

#include <kernpack/signature/names.h>
#include <kernpack/signature/number.h>

KP_NAMESPACE_BEGIN
namespace signature {

struct Expressions : Names {
  using Names::Names;
  static constexpr uint32_t kMaxNesting = 32;
  static constexpr uint32_t kMaxItems = 64;  // of a list of ints that expressions may name

  uint32_t stack = 0;    // values on the stack here
  uint32_t nesting = 0;  // of parentheses and signs

  // Emits code without its kEnd.
  constexpr bool Expression() {
    stack = 0;
    return Sum();
  }

 private:
  constexpr bool Push(Op op, uint32_t operand) {
    if (++stack > kMaxStack) return Fail(Reason::kExpressionTooDeep);
    Emit(op, operand);
    return true;
  }
  constexpr void Apply(Op op) {
    --stack;
    Emit(op);
  }

  constexpr bool Sum() {
    if (!Product()) return false;
    while (Is('+') || Is('-')) {
      const Op op = Is('+') ? Op::kAdd : Op::kSubtract;
      Next();
      if (!Product()) return false;
      Apply(op);
    }
    return true;
  }

  constexpr bool Product() {
    if (!Unary()) return false;
    while (Is('*') || Is('%') || now.kind == Tok::kFloorDivide) {
      const Op op = Is('*') ? Op::kMultiply : Is('%') ? Op::kModulo : Op::kFloorDivide;
      Next();
      if (!Unary()) return false;
      Apply(op);
    }
    return true;
  }

  constexpr bool Unary() {
    if (++nesting > kMaxNesting) return Fail(Reason::kExpressionTooDeep);
    bool ok = false;
    if (Accept('-')) {
      ok = Unary();
      Emit(Op::kNegate);
    } else {
      ok = Primary();
    }
    --nesting;
    return ok;
  }

  constexpr bool Primary() {
    if (Accept('(')) return Sum() && Expect(')', Reason::kExpectedClosingParenthesis);
    if (now.kind == Tok::kNumber) return Integer();
    if (now.kind == Tok::kVar) return Dim();
    if (now.kind != Tok::kName || IsWord("_")) return Fail(Reason::kExpectedExpression);
    const Token name = now;
    Next();
    return Is('(') ? Call(name) : IntParameter(name);
  }

  constexpr bool Integer() {
    const Decimal d = ReadDecimal(text, now.begin, now.end);
    if (d.is_float) return Fail(Reason::kExpectedExpression);
    if (!d.fits || d.digits > 0x7fffffffffffffffu) return Fail(Reason::kNumberOutOfRange);
    if (d.digits < 1u << 24) {
      if (!Push(Op::kConst, static_cast<uint32_t>(d.digits))) return false;
    } else {
      if (!Push(Op::kWide, 0)) return false;
      Emit(static_cast<uint32_t>(d.digits));
      Emit(static_cast<uint32_t>(d.digits >> 32));
    }
    Next();
    return true;
  }

  constexpr bool Dim() {
    uint32_t i = Find(dims, now);
    if (place == Place::kParams) {
      if (!AddVariable(&dims, KP_SIG_MAX_DIMS, Reason::kTooManyDims, &i)) return false;
    } else if (i == kNotFound) {
      const bool other = Find(stars, now) != kNotFound || Find(dtypes, now) != kNotFound;
      return Fail(other ? Reason::kVariableIsBothDTypeAndDim : Reason::kDimNeverBound);
    } else if (place != Place::kWhere && !(dims.sure >> i & 1)) {
      return Fail(Reason::kDimMayBeAbsent);
    }
    if (!Push(Op::kDim, i)) return false;
    Next();
    return true;
  }

  constexpr bool IntParameter(const Token& name) {
    uint32_t item = 0;
    const bool is_item = Is('[') && !IsDType(name);  // "Optional[f32[N]]" isn't a shape: the bracket is what is wrong
    if (is_item && !Index(&item)) return false;
    const uint32_t needed = is_item ? item + 1 : 0;
    uint32_t i = Find(ints, name);
    if (i == kNotFound) {
      if (ints.size == kMaxInts) return Fail(Reason::kTooManyIntReferences, name.begin);
      i = ints.size++;
      ints.at[i] = name;
      int_items[i] = needed;
      if (place != Place::kParams && !ResolveInt(i)) return false;
    } else if ((int_items[i] != 0) != is_item) {
      return Fail(is_item ? Reason::kNotAListOfInts : Reason::kListNeedsAnIndex, name.begin);
    } else if (needed > int_items[i]) {
      int_items[i] = needed;
      if (place != Place::kParams && !ResolveInt(i)) return false;
    }
    return is_item ? Push(Op::kItem, i | item << 8) : Push(Op::kInt, i);
  }

  // "[" number "]" of an item of a list of ints.
  constexpr bool Index(uint32_t* out) {
    Next();
    if (now.kind != Tok::kNumber) return Fail(Reason::kExpectedIndex);
    const Decimal d = ReadDecimal(text, now.begin, now.end);
    if (d.is_float || !d.fits || d.digits >= kMaxItems) return Fail(Reason::kExpectedIndex);
    *out = static_cast<uint32_t>(d.digits);
    Next();
    return Expect(']', Reason::kExpectedClosingBracket);
  }

  constexpr bool Call(const Token& name) {
    Next();
    if (Spells(name, "numel") || Spells(name, "itemsize")) {
      if (place != Place::kWorkspace) return Fail(Reason::kOnlyInWorkspace, name.begin);
      return (Spells(name, "numel") ? NumelArgument() : ItemSizeArgument()) &&
             Expect(')', Reason::kExpectedClosingParenthesis);
    }
    const Op op = Spells(name, "min")       ? Op::kMin
                  : Spells(name, "max")     ? Op::kMax
                  : Spells(name, "ceildiv") ? Op::kCeilDivide
                                            : Op::kEnd;
    if (op == Op::kEnd) return Fail(Reason::kNoSuchFunction, name.begin);
    if (++nesting > kMaxNesting) return Fail(Reason::kExpressionTooDeep);
    if (!Sum()) return false;
    uint32_t count = 1;
    while (Accept(',')) {
      if (!Sum()) return false;
      Apply(op);
      ++count;
    }
    --nesting;
    if (count < 2 || (count > 2 && op == Op::kCeilDivide)) return Fail(Reason::kWrongArgumentCount, name.begin);
    return Expect(')', Reason::kExpectedClosingParenthesis);
  }

  constexpr bool NumelArgument() {
    const uint32_t p = FindParam(now);
    if (now.kind != Tok::kName || p == kNotFound || GetKind(params + p * kRecord) != KP_PARAM_TENSOR ||
        (GetFlags(params + p * kRecord) & (KP_PARAM_OPTIONAL | KP_PARAM_LIST))) {
      return Fail(Reason::kNotATensorParameter);
    }
    if (!Push(Op::kNumel, p)) return false;
    Next();
    return true;
  }

  constexpr bool ItemSizeArgument() {
    const uint32_t t = now.kind == Tok::kVar ? Find(dtypes, now) : kNotFound;
    if (t == kNotFound) return Fail(Reason::kDTypeVariableNeverUsed);
    if (!(dtypes.sure >> t & 1)) return Fail(Reason::kDTypeMayBeAbsent);
    if (!Push(Op::kItemSize, t)) return false;
    Next();
    return true;
  }
};

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_EXPRESSION_H_
