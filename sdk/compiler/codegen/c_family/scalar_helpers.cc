// Operations on scalars, where C's own do not mean what the IR's mean.
#include <kernpack/error.h>

#include "codegen/c_family/helpers.h"

namespace kernpack::sdk::ir {
namespace {

// Arithmetic that wraps: narrow types are promoted to int, so they go by way of 32 bits too.
std::string Unsigned(Type t) { return "uint" + std::to_string(t.bits < 32 ? 32 : t.bits) + "_t"; }

std::string FloatBody(Op op) {
  switch (op) {
    case Op::kMin:
      return "return a < b || b != b ? a : b;";
    case Op::kMax:
      return "return a > b || b != b ? a : b;";
    case Op::kMinimum:
      return "return a < b || a != a ? a : b;";
    case Op::kMaximum:
      return "return a > b || a != a ? a : b;";
    default:
      return "";
  }
}

std::string DivisionBody(Op op, Type t) {
  const std::string c = CElement(t), u = Unsigned(t);
  const bool quotient = op == Op::kDiv || op == Op::kFloorDiv;
  const std::string sign = quotient ? "/" : "%", zero = "return b == 0 ? 0 : ";
  if (!IsSigned(t)) return zero + "(" + c + ")(a " + sign + " b);";
  const std::string negated = quotient ? "(" + c + ")(0u - (" + u + ")a)" : "0";
  const std::string head = zero + "b == -1 ? " + negated + " : ";
  const std::string inexact = "(a % b != 0 && (a < 0) != (b < 0)";
  if (op == Op::kFloorDiv) return head + "(" + c + ")(a / b - " + inexact + "));";
  if (op == Op::kFloorMod) return head + "(" + c + ")(a % b + " + inexact + " ? b : 0));";
  return head + "(" + c + ")(a " + sign + " b);";
}

// The body of a function of a and b, or "" where the operator does.
std::string BinaryBody(Op op, Type t) {
  if (IsFloat(t)) return FloatBody(op);
  const std::string c = CElement(t), u = Unsigned(t), sign(OpName(op));
  const std::string count = "((uint32_t)b & " + std::to_string(t.bits - 1) + "u)";
  switch (op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
      if (IsUnsigned(t) && t.bits >= 32) return "";
      return "return (" + c + ")((" + u + ")a " + sign + " (" + u + ")b);";
    case Op::kDiv:
    case Op::kRem:
    case Op::kFloorDiv:
    case Op::kFloorMod:
      return DivisionBody(op, t);
    case Op::kMin:
      return "return a < b ? a : b;";
    case Op::kMax:
      return "return a > b ? a : b;";
    case Op::kShl:
      return "return (" + c + ")((" + u + ")a << " + count + ");";
    case Op::kShr:
      return "return (" + c + ")(a >> " + count + ");";
    default:
      return "";
  }
}

}  // namespace

std::string Helpers::ScalarBinary(Op op, Type t, const std::string& a, const std::string& b) {
  const std::string own = IsFloat(t) ? "" : dialect_.IntegerBody(op, t), body = own.empty() ? BinaryBody(op, t) : own;
  if (body.empty()) {
    const std::string plain = "(" + a + " " + std::string(OpName(op)) + " " + b + ")";
    const bool promoted = t.bits < 32 && IsInteger(t) && ClassOf(op) == OpClass::Bits;
    return promoted ? "((" + CElement(t) + ")" + plain + ")" : plain;
  }
  const std::string name = "kp_" + CWord(op) + "_" + TypeName(t);
  if (First(name)) {
    const std::string c = CElement(t);
    scalars_ += dialect_.Inline() + c + " " + name + "(" + c + " a, " + c + " b) { " + body + " }\n";
  }
  return FormatCall(name, {a, b});
}

std::string Helpers::ScalarUnary(Op op, Type t, const std::string& a) {
  if (op == Op::kNot) return IsBool(t) ? "(!" + a + ")" : "((" + CElement(t) + ")~" + a + ")";
  if (op == Op::kNeg) return IsFloat(t) ? "(-" + a + ")" : ScalarBinary(Op::kSub, t, "0", a);
  if (op == Op::kAbs && !IsFloat(t)) {
    const std::string name = "kp_abs_" + TypeName(t), c = CElement(t), negated = ScalarBinary(Op::kSub, t, "0", "a");
    if (First(name)) {
      scalars_ += dialect_.Inline() + c + " " + name + "(" + c + " a) { return a < 0 ? " + negated + " : a; }\n";
    }
    return FormatCall(name, {a});
  }
  if (op != Op::kAbs && ClassOf(op) != OpClass::Rounding) {
    KP_THROW(NotImplementedError) << "the kind " << dialect_.Kind() << " has no " << OpName(op) << " of "
                                  << TypeName(t);
  }
  return FormatCall(dialect_.Function(op, t), {a});
}

std::string Helpers::Saturate(Type from, Type to, const std::string& a) {
  const std::string name = "kp_" + TypeName(to) + "_from_" + TypeName(from), c = CElement(to), f = CElement(from);
  if (First(name)) {
    // 2^(bits - 1) or 2^bits, which both float types hold.
    const std::string end =
        "0x1p" + std::to_string(IsSigned(to) ? to.bits - 1 : to.bits) + (from.bits == 32 ? "f" : "");
    const std::string low = IsSigned(to) ? "a < -" + end + " ? " + CMin(to) : "a <= 0 ? 0";
    scalars_ += dialect_.Inline() + c + " " + name + "(" + f + " a) { return a != a ? 0 : a >= " + end + " ? " +
                CMax(to) + " : " + low + " : (" + c + ")a; }\n";
  }
  return FormatCall(name, {a});
}

std::string Helpers::ScalarCast(Type from, Type to, const std::string& a) {
  if (from == to) return a;
  if (IsStorage(from)) {
    StorageConversions(from);
    return ScalarCast(kF32, to, FormatCall("kp_f32_from_" + TypeName(from), {a}));
  }
  if (IsStorage(to)) {
    StorageConversions(to);
    return FormatCall("kp_" + TypeName(to) + "_from_f32", {ScalarCast(from, kF32, a)});
  }
  if (IsBool(to)) return "(" + a + " != 0)";
  if (IsFloat(from) && IsInteger(to)) return Saturate(from, to, a);
  return "((" + CElement(to) + ")" + a + ")";
}

std::string Helpers::ScalarBitcast(Type from, Type to, const std::string& a) {
  if (CElement(from) == CElement(to)) return a;
  if (!IsFloat(from) && !IsFloat(to)) return "((" + CElement(to) + ")" + a + ")";
  const std::string name = "kp_bits_" + TypeName(to) + "_" + TypeName(from);
  if (First(name)) {
    scalars_ += dialect_.Inline() + CElement(to) + " " + name + "(" + CElement(from) + " a) {\n  union {\n    " +
                CElement(from) + " from;\n    " + CElement(to) +
                " to;\n  } both;\n  both.from = a;\n  return both.to;\n}\n";
  }
  return FormatCall(name, {a});
}

std::string Helpers::Extern(const std::string& name, Type type, const std::vector<Type>& args) {
  std::string list;
  for (const Type t : args) list += (list.empty() ? "" : ", ") + CElement(t);
  if (First("extern " + name)) {
    scalars_ += "extern " + CElement(type) + " " + name + "(" + (list.empty() ? "void" : list) + ");\n";
  }
  return name;
}

}  // namespace kernpack::sdk::ir
