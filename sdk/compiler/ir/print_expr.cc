#include "ir/print_expr.h"

#include <kernpack/sdk/ir/text.h>

#include <charconv>
#include <cmath>

#include "ir/scalar.h"

namespace kernpack::sdk::ir {

int GetPrecedence(Op op) {
  switch (op) {
    case Op::kOr:
      return 1;
    case Op::kXor:
      return 2;
    case Op::kAnd:
      return 3;
    case Op::kShl:
    case Op::kShr:
      return 5;
    case Op::kAdd:
    case Op::kSub:
      return 6;
    case Op::kMul:
    case Op::kDiv:
    case Op::kRem:
      return 7;
    default:
      return ClassOf(op) == OpClass::Compare ? 4 : 0;
  }
}

std::string Quote(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 32 || u == 127) {
      out += {'\\', 'x', kHex[u >> 4], kHex[u & 15]};
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string PrintConst(Type type, uint64_t bits) {
  const Type t = ElementOf(type);
  if (IsBool(t)) return bits ? "true" : "false";
  char digits[40];
  const auto text = [&digits](auto value) {
    return std::string(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  };
  if (IsInteger(t)) {
    const std::string number = IsSigned(t) ? text(static_cast<int64_t>(bits)) : text(bits);
    return t == kI64 ? number : number + TypeName(t);
  }
  const double value = DoubleFromLane(t, bits);
  const std::string suffix = t == kF32 ? "" : TypeName(t);
  if (!std::isfinite(value)) {
    const std::string word = std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    return suffix.empty() ? word : word + "_" + suffix;
  }
  std::string number = t == kF64 ? text(value) : text(static_cast<float>(value));
  if (number.find_first_of(".e") == std::string::npos) number += ".0";
  return number + suffix;
}

std::string PrintList(const std::vector<Expr>& list, Names* names) {
  std::string out;
  for (const Expr& e : list) {
    if (!out.empty()) out += ", ";
    out += PrintExpr(e, names);
  }
  return out;
}

namespace {

// With its type, whatever stands beside it.
std::string PrintTyped(uint64_t f32_bits) {
  const std::string number = PrintConst(kF32, f32_bits);
  return number + (std::isfinite(DoubleFromLane(kF32, f32_bits)) ? "f32" : "_f32");
}

std::string PrintPlace(const ExprNode& e, Names* names, size_t trailing) {
  const std::vector<Expr> indices(e.args.begin(), e.args.end() - static_cast<long>(trailing));
  return names->Get(e.buffer().get(), e.buffer()->name) + "[" + PrintList(indices, names) + "]";
}

std::string PrintForm(const ExprNode& e, Names* names) {
  const auto lanes = [&e] { return ", " + std::to_string(e.type.lanes) + ")"; };
  switch (e.op) {
    case Op::kConst:
      return PrintConst(e.type, e.bits());
    case Op::kVar:
      return names->Get(e.var().get(), e.var()->name);
    case Op::kThreadIndex:
    case Op::kBlockIndex:
      return std::string(OpName(e.op)) + "." + "xyz"[e.bits()];
    case Op::kCast:
      // A literal without a type would take this one.
      if (e.args[0]->op == Op::kConst && e.args[0]->type == kF32 && e.type.is_floating_point())
        return TypeName(ElementOf(e.type)) + "(" + PrintTyped(e.args[0]->bits()) + ")";
      return TypeName(ElementOf(e.type)) + "(" + PrintList(e.args, names) + ")";
    case Op::kBitcast:
      return "bitcast(" + TypeName(ElementOf(e.type)) + ", " + PrintList(e.args, names) + ")";
    case Op::kLoad:
      return PrintPlace(e, names, 0);
    case Op::kMaskedLoad:
      return "load_if(" + PrintPlace(e, names, 2) + ", " + PrintList({e.args.end() - 2, e.args.end()}, names) + ")";
    case Op::kBroadcast:
    case Op::kRamp:
      return std::string(OpName(e.op)) + "(" + PrintList(e.args, names) + lanes();
    case Op::kShuffle: {
      std::string list;
      for (const int lane : std::get<std::vector<int>>(e.detail)) {
        list += (list.empty() ? "" : ", ") + std::to_string(lane);
      }
      return "shuffle(" + PrintList(e.args, names) + ", [" + list + "])";
    }
    case Op::kReduceLanes:
      return "lanes(" + std::string(OpName(std::get<Op>(e.detail))) + ", " + PrintList(e.args, names) + ")";
    case Op::kReduce: {
      const Reduction& r = std::get<Reduction>(e.detail);
      const std::string range = PrintExpr(e.args[0], names) + ".." + PrintExpr(e.args[1], names);
      const std::string var = names->Define(r.var.get(), r.var->name);
      const std::string order = r.lanes ? "any " + std::to_string(r.lanes) : "sequential";
      return "reduce(" + std::string(OpName(r.op)) + ", " + var + " in " + range + ", " + order + ", " +
             PrintExpr(e.args[2], names) + ")";
    }
    case Op::kExtern: {
      const std::string head = "extern(" + Quote(std::get<std::string>(e.detail)) + ", " + TypeName(e.type);
      return e.args.empty() ? head + ")" : head + ", " + PrintList(e.args, names) + ")";
    }
    default:
      return std::string(OpName(e.op)) + "(" + PrintList(e.args, names) + ")";
  }
}

}  // namespace

std::string PrintExpr(const Expr& e, Names* names, int outer) {
  if (e->op == Op::kNeg || e->op == Op::kNot) {
    // A minus sign before digits would be read as a negative constant.
    const bool parens = e->op == Op::kNeg && e->args[0]->op == Op::kConst;
    const std::string operand = PrintExpr(e->args[0], names, parens ? 0 : kUnaryPrecedence);
    return std::string(e->op == Op::kNeg ? "-" : "~") + (parens ? "(" + operand + ")" : operand);
  }
  const int precedence = GetPrecedence(e->op);
  if (!precedence) return PrintForm(*e, names);
  // Comparisons do not chain; the others group to the left.
  const int left = precedence + (ClassOf(e->op) == OpClass::Compare ? 1 : 0);
  const std::string text = PrintExpr(e->args[0], names, left) + " " + std::string(OpName(e->op)) + " " +
                           PrintExpr(e->args[1], names, precedence + 1);
  return precedence < outer ? "(" + text + ")" : text;
}

std::string Print(const Expr& e) {
  Names names(nullptr);
  return PrintExpr(e, &names);
}

}  // namespace kernpack::sdk::ir
