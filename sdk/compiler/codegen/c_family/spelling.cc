#include "codegen/c_family/spelling.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ir/scalar.h"

namespace kernpack::sdk::ir {

std::string CElement(Type t) {
  if (IsBool(t)) return "bool";
  if (IsFloat(t)) return t.bits == 32 ? "float" : "double";
  return std::string(IsSigned(t) ? "int" : "uint") + std::to_string(t.bits) + "_t";
}

std::string CMemory(Type t) { return IsBool(t) ? "uint8_t" : CElement(t); }

Type CVector(Type t) {
  if (IsBool(t)) return WithLanes(kI32, t.lanes);
  return IsStorage(t) ? Type(KP_DTYPE_UINT, t.bits, t.lanes) : t;
}

std::string CType(Type t) { return t.lanes == 1 ? CElement(t) : TypeName(CVector(t)); }

namespace {

std::string FloatConst(Type t, double v) {
  const bool narrow = t.bits == 32;
  if (std::isnan(v)) return narrow ? "NAN" : "(double)NAN";
  if (std::isinf(v)) return std::string(v < 0 ? "(-" : "(") + (narrow ? "" : "(double)") + "INFINITY)";
  char text[48];
  char* const last = text + sizeof text;
  std::string number(text, narrow
                               ? std::to_chars(text, last, static_cast<float>(v)).ptr  // the shortest that reads back
                               : std::to_chars(text, last, v).ptr);
  if (number.find_first_of(".e") == std::string::npos) number += ".0";
  if (narrow) number += "f";
  return std::signbit(v) ? "(" + number + ")" : number;
}

}  // namespace

std::string CConst(Type type, uint64_t bits) {
  const Type t = ElementOf(type);
  if (IsBool(t)) return bits ? "true" : "false";
  if (IsFloat(t)) return FloatConst(t, DoubleFromLane(t, bits));
  if (IsStorage(t)) return std::to_string(bits) + "u";
  if (IsUnsigned(t)) {
    const std::string number = std::to_string(bits);
    return t.bits == 64 ? "UINT64_C(" + number + ")" : number + "u";
  }
  const auto v = static_cast<int64_t>(bits);
  // -2147483648 would be an operator on a constant that does not fit.
  if (v == INT64_MIN || (v == INT32_MIN && t.bits == 32)) {
    return "(" + CConst(t, static_cast<uint64_t>(v + 1)) + " - 1)";
  }
  const bool wide = v > INT32_MAX || v < -INT32_MAX;
  const std::string digits = std::to_string(v < 0 ? -v : v), number = wide ? "INT64_C(" + digits + ")" : digits;
  return v < 0 ? "(-" + number + ")" : number;
}

std::string CMin(Type t) {
  return IsSigned(t) ? CConst(t, static_cast<uint64_t>(INT64_MIN >> (64 - t.bits))) : CConst(t, 0);
}
std::string CMax(Type t) { return CConst(t, (~uint64_t{0} >> (64 - t.bits)) >> (IsSigned(t) ? 1 : 0)); }

std::string CWord(Op op) {
  switch (op) {
    case Op::kAdd:
      return "add";
    case Op::kSub:
      return "sub";
    case Op::kMul:
      return "mul";
    case Op::kDiv:
      return "div";
    case Op::kRem:
      return "rem";
    case Op::kAnd:
      return "and";
    case Op::kOr:
      return "or";
    case Op::kXor:
      return "xor";
    case Op::kShl:
      return "shl";
    case Op::kShr:
      return "shr";
    case Op::kEq:
      return "eq";
    case Op::kNe:
      return "ne";
    case Op::kLt:
      return "lt";
    case Op::kLe:
      return "le";
    case Op::kGt:
      return "gt";
    case Op::kGe:
      return "ge";
    default:
      return std::string(OpName(op));
  }
}

std::string FormatCall(const std::string& function, const std::vector<std::string>& args) {
  std::string out = function + "(";
  for (size_t i = 0; i < args.size(); ++i) out += (i ? ", " : "") + Bare(args[i]);
  return out + ")";
}

std::string CString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?') {  // "??/" would be a trigraph
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      // Three octal digits end by themselves; \x would go on into the next letter.
      for (const char digit : {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + (byte >> 3 & 7)),
                               static_cast<char>('0' + (byte & 7))}) {
        out += digit;
      }
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string Bare(const std::string& e) {
  if (e.empty() || e.front() != '(' || e.back() != ')') return e;
  int depth = 0;
  for (size_t i = 0; i + 1 < e.size(); ++i) {
    depth += e[i] == '(' ? 1 : e[i] == ')' ? -1 : 0;
    if (depth == 0) return e;
  }
  return e.substr(1, e.size() - 2);
}

bool IsCWord(std::string_view name) {
  static constexpr std::string_view kWords[] = {
      "auto",     "break",  "case",     "char",     "const",  "continue", "default", "do",     "double",  "else",
      "enum",     "extern", "float",    "for",      "goto",   "if",       "inline",  "int",    "long",    "register",
      "restrict", "return", "short",    "signed",   "sizeof", "static",   "struct",  "switch", "typedef", "union",
      "unsigned", "void",   "volatile", "while",    "bool",   "true",     "false",   "asm",    "typeof",  "host",
      "self",     "args",   "result",   "captured", "NAN",    "INFINITY", "LANE",    "NULL",   "main",    "errno",
      "linux",    "unix",   "stdin",    "stdout",   "stderr", "signgam",  "environ",
  };
  Type t;
  // Functions of the C library, also those for float ("floorf"): bodies call some of them, and no variable may hide one.
  static constexpr std::string_view kFunctions[] = {
      "abs",   "acos",   "asin",   "atan",   "ceil",   "cos",    "cosh",  "div",   "erf",    "erfc", "exit",
      "exp",   "exp2",   "expm1",  "fabs",   "fdim",   "floor",  "fma",   "fmax",  "fmin",   "fmod", "free",
      "frexp", "gamma",  "hypot",  "index",  "j0",     "j1",     "jn",    "labs",  "ldexp",  "log",  "log10",
      "log1p", "log2",   "logb",   "malloc", "memcpy", "memset", "modf",  "pow",   "printf", "puts", "rand",
      "read",  "remove", "rename", "rint",   "round",  "sin",    "sinh",  "sqrt",  "tan",    "tanh", "time",
      "trunc", "write",  "y0",     "y1",     "yn",     "abort",  "clock", "close", "link",   "open",
  };
  const auto is = [name](std::string_view word) { return word == name; };
  const auto starts = [name](std::string_view with) { return name.substr(0, with.size()) == with; };
  if (starts("_") || starts("kp_") || starts("Kp") || starts("KP_") || TypeFromName(name, &t)) return true;
  if (name.size() > 2 && name.substr(name.size() - 2) == "_t") return true;
  const auto is_function = [&](std::string_view word) {
    return is(word) || (starts(word) && name.size() == word.size() + 1 && name.back() == 'f');
  };
  return std::any_of(std::begin(kWords), std::end(kWords), is) ||
         std::any_of(std::begin(kFunctions), std::end(kFunctions), is_function);
}

}  // namespace kernpack::sdk::ir
