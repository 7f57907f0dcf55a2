// Runs the code of an expression over what a check bound.
#ifndef KERNPACK_SIGNATURE_EVALUATE_H_
#define KERNPACK_SIGNATURE_EVALUATE_H_

#include <kernpack/signature/extents.h>
#include <kernpack/signature/program.h>

KP_NAMESPACE_BEGIN
namespace signature {

enum class Value { kOk, kUnbound, kOverflow, kZeroDivisor, kNegative };

// Floor or ceiling of a / b, as Python's // and -(-a // b). b is not 0; INT64_MIN / -1 overflows.
inline Value Divide(int64_t a, int64_t b, bool ceiling, int64_t* out) {
  if (b == -1) return __builtin_sub_overflow(int64_t{0}, a, out) ? Value::kOverflow : Value::kOk;
  const bool same_sign = (a < 0) == (b < 0);
  *out = a / b;
  if (a % b != 0 && same_sign == ceiling) *out += ceiling ? 1 : -1;
  return Value::kOk;
}

KP_COLD inline Value Apply(Op op, int64_t a, int64_t b, int64_t* out) {
  switch (op) {
    case Op::kAdd:
      return __builtin_add_overflow(a, b, out) ? Value::kOverflow : Value::kOk;
    case Op::kSubtract:
      return __builtin_sub_overflow(a, b, out) ? Value::kOverflow : Value::kOk;
    case Op::kMultiply:
      return __builtin_mul_overflow(a, b, out) ? Value::kOverflow : Value::kOk;
    case Op::kMin:
      *out = a < b ? a : b;
      return Value::kOk;
    case Op::kMax:
      *out = a < b ? b : a;
      return Value::kOk;
    default:
      break;
  }
  if (b == 0) return Value::kZeroDivisor;
  if (op != Op::kModulo) return Divide(a, b, op == Op::kCeilDivide, out);
  const int64_t rest = b == -1 ? 0 : a % b;
  *out = rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  return Value::kOk;
}

// The item of a list of ints; NULL where there is none, which a check has refused.
inline const KpAny* ItemAt(const KpAny& list, uint32_t index) {
  if (list.type_index != KP_TYPE_ARRAY && list.type_index != KP_TYPE_LIST) return nullptr;
  const auto* items = reinterpret_cast<const KpSequenceObject*>(list.v.v_obj);
  return index < static_cast<uint64_t>(items->size) ? &items->data[index] : nullptr;
}

// Evaluates the code at *code and moves *code behind its end, also when the value has none. kUnbound: a dim that nothing bound, or
// what is known in the run only.
template <class Extents = KnownExtents>
KP_COLD inline Value Evaluate(const KpSigFrame& frame, const uint32_t** code, int64_t* out,
                              const Extents& extents = Extents()) {
  int64_t stack[kMaxStack + 1];
  int n = 0;
  Value status = Value::kOk;
  const uint32_t* at = *code;
  for (; static_cast<Op>(*at & 0xff) != Op::kEnd; ++at) {
    const Op op = static_cast<Op>(*at & 0xff);
    const uint32_t operand = Operand(*at);
    Value now = Value::kOk;
    switch (op) {
      case Op::kConst:
        stack[n++] = operand;
        break;
      case Op::kWide:
        stack[n++] = static_cast<int64_t>(at[1] | static_cast<uint64_t>(at[2]) << 32);
        at += 2;
        break;
      case Op::kDim:
        stack[n] = frame.dims[operand];
        if (!(frame.bound >> operand & 1) || !extents.Read(&stack[n])) {
          now = Value::kUnbound;
          stack[n] = 1;
        }
        ++n;
        break;
      case Op::kInt: {
        const KpAny& a = frame.args[View{frame.program}.IntParam(operand)];
        if (!extents.HasValue(a)) now = Value::kUnbound;
        stack[n++] = a.v.v_int;
        break;
      }
      case Op::kItem: {
        const KpAny& list = frame.args[View{frame.program}.IntParam(operand & 0xff)];
        const KpAny* item = extents.HasType(list) ? ItemAt(list, operand >> 8) : nullptr;
        const bool known = item && extents.HasValue(*item);
        if (!known) now = Value::kUnbound;
        stack[n++] = known ? item->v.v_int : 1;
        break;
      }
      case Op::kNumel:
        if (!extents.Numel(frame.args[operand], &stack[n])) now = Value::kUnbound;
        ++n;
        break;
      case Op::kItemSize:
        if (!extents.HasDType(frame.dtypes[operand])) now = Value::kUnbound;
        stack[n++] = (frame.dtypes[operand].bits * frame.dtypes[operand].lanes + 7) / 8;
        break;
      // NOLINTBEGIN(clang-analyzer-core.*): a compiled program has operands before their operator
      case Op::kNegate:
        now = Apply(Op::kSubtract, 0, stack[n - 1], &stack[n - 1]);
        break;
      default:
        --n;
        now = Apply(op, stack[n - 1], stack[n], &stack[n - 1]);
    }
    if (now != Value::kOk && (status == Value::kOk || now == Value::kUnbound)) status = now;
    if (now != Value::kOk && now != Value::kUnbound) stack[n - 1] = 1;
  }
  *code = at + 1;
  *out = stack[0];
  // NOLINTEND(clang-analyzer-core.*)
  return status;
}

KP_COLD inline bool Holds(Relation relation, int64_t a, int64_t b) {
  switch (relation) {
    case Relation::kLess:
      return a < b;
    case Relation::kLessEqual:
      return a <= b;
    case Relation::kGreater:
      return a > b;
    case Relation::kGreaterEqual:
      return a >= b;
    case Relation::kEqual:
      return a == b;
    default:
      return a != b;
  }
}

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_EVALUATE_H_
