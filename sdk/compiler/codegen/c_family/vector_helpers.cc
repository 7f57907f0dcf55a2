// Operations on vectors: a GNU C expression where there is one, else lane by lane through the scalar operation.
#include "codegen/c_family/helpers.h"

namespace kernpack::sdk::ir {
namespace {

constexpr const char kLaneA[] = "LANE(a, i)", kLaneB[] = "LANE(b, i)";

std::string Lanes(Type t) { return std::to_string(t.lanes); }
Type GetMaskType(Type t) { return WithLanes(kBool, t.lanes); }
bool IsMinMax(Op op) { return op == Op::kMin || op == Op::kMax || op == Op::kMinimum || op == Op::kMaximum; }

}  // namespace

std::string Helpers::Text() const {
  if (structs_.empty() || !dialect_.HasGnuVectors()) return scalars_ + structs_;
  return scalars_ + "\n#if KP_VECTORS\n" + gnu_ + "#else\n" + structs_ + "#endif\n";
}

void Helpers::DefineVector(const std::string& text) {
  gnu_ += text;
  structs_ += text;
}

void Helpers::Need(Type type) {
  const Type t = CVector(type);
  if (t.lanes == 1 || !First("type " + TypeName(t))) return;
  const std::string c = CElement(t), name = TypeName(t);
  gnu_ += "typedef " + c + " " + name + " __attribute__((vector_size(" + std::to_string(t.itemsize()) + ")));\n";
  structs_ += "typedef struct {\n  " + c + " v[" + Lanes(t) + "];\n} " + name + ";\n";
}

std::string Helpers::VectorFunction(const std::string& name, Type result, const Params& params,
                                    const std::string& native, const std::string& lane) {
  if (!First(name)) return name;
  Need(result);
  std::string list;
  for (const auto& [type, param] : params) {
    Need(type);
    list += (list.empty() ? "" : ", ") + CType(type) + " " + param;
  }
  const std::string head = dialect_.Inline() + CType(result) + " " + name + "(" + list + ") {";
  const std::string loop = head + "\n  " + CType(result) + " r;\n  for (int i = 0; i < " + Lanes(result) +
                           "; ++i) LANE(r, i) = " + Bare(lane) + ";\n  return r;\n}\n";
  structs_ += loop;
  gnu_ += native.empty() ? loop : head + " return " + Bare(native) + "; }\n";
  return name;
}

// `lane` as a value of which the compiler knows nothing.
std::string Helpers::Opaque(Type t, const std::string& lane) {
  const std::string name = "kp_lane_" + TypeName(t), c = CElement(t);
  if (First(name)) {
    scalars_ += dialect_.Inline() + c + " " + name + "(" + c + " a) {\n  KP_OPAQUE(a);\n  return a;\n}\n";
  }
  return FormatCall(name, {lane});
}

std::string Helpers::NativeMinMax(Op op, Type t) {
  const bool less = op == Op::kMin || op == Op::kMinimum, ignores = op == Op::kMin || op == Op::kMax;
  std::string first = Binary(less ? Op::kLt : Op::kGt, t, "a", "b");
  if (IsFloat(t)) first = "(" + first + " | " + Binary(Op::kNe, t, ignores ? "b" : "a", ignores ? "b" : "a") + ")";
  return Select(t, first, "a", "b");
}

// The GNU expression for a and b, or "".
std::string Helpers::NativeBinary(Op op, Type t) {
  const std::string plain = "(a " + std::string(OpName(op)) + " b)";
  const bool integer = IsInteger(t);
  const Type u(KP_DTYPE_UINT, t.bits, t.lanes);
  switch (op) {
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
      return plain;
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
      if (!IsSigned(t)) return plain;
      Need(u);
      return "(" + CType(t) + ")((" + CType(u) + ")a " + std::string(OpName(op)) + " (" + CType(u) + ")b)";
    case Op::kDiv:
      return integer ? "" : plain;
    case Op::kShl:
    case Op::kShr: {
      const std::string count = "(b & " + std::to_string(t.bits - 1) + ")";
      if (op == Op::kShr) return "(a >> " + count + ")";
      Need(u);
      return "(" + CType(t) + ")((" + CType(u) + ")a << (" + CType(u) + ")" + count + ")";
    }
    default:
      break;
  }
  if (IsMinMax(op)) return NativeMinMax(op, t);
  if (ClassOf(op) != OpClass::Compare) return "";
  // A comparison is as wide as its operands; masks are 32 bits wide.
  const std::string mask = CType(GetMaskType(t));
  const bool fits = IsBool(t) || t.bits == 32;
  return fits ? "(" + mask + ")" + plain : "__builtin_convertvector(" + Bare(plain) + ", " + mask + ")";
}

std::string Helpers::Binary(Op op, Type t, const std::string& a, const std::string& b) {
  if (t.lanes == 1) return ScalarBinary(op, t, a, b);
  const std::string name = "kp_" + CWord(op) + "_" + TypeName(t);
  if (!defined_.count(name)) {
    const bool compares = ClassOf(op) == OpClass::Compare;
    Need(t);
    Need(GetMaskType(t));
    // Lanes of bool are 0 and -1, on which the operators of integers do.
    const std::string native = NativeBinary(op, t);
    std::string lane = ScalarBinary(op, CVector(ElementOf(t)), kLaneA, kLaneB);
    if (compares) lane = "-" + lane;
    if (native.empty() && IsInteger(t) && dialect_.HasGnuVectors()) lane = Opaque(ElementOf(t), lane);
    VectorFunction(name, compares ? GetMaskType(t) : t, {{t, "a"}, {t, "b"}}, native, lane);
  }
  return FormatCall(name, {a, b});
}

std::string Helpers::Unary(Op op, Type t, const std::string& a) {
  if (t.lanes == 1) return ScalarUnary(op, t, a);
  const Type e = ElementOf(t);
  if (op == Op::kNeg && !IsFloat(e)) return Binary(Op::kSub, t, Broadcast(t, "0"), a);
  const std::string lane = ScalarUnary(op, CVector(e), kLaneA);
  std::string native;
  if (op == Op::kNeg) native = "-a";
  if (op == Op::kNot) native = "~a";
  if (op == Op::kAbs && IsFloat(e)) {
    const Type bits(KP_DTYPE_INT, t.bits, t.lanes);
    Need(t);
    Need(bits);
    native = "(" + CType(t) + ")((" + CType(bits) + ")a & " + CMax(bits) + ")";
  }
  return FormatCall(VectorFunction("kp_" + CWord(op) + "_" + TypeName(t), t, {{t, "a"}}, native, lane), {a});
}

// Only what fits is converted: for the rest the operator is undefined.
std::string Helpers::NativeSaturate(Type from, Type to) {
  const Type e = ElementOf(to);
  const std::string end = "0x1p" + std::to_string(IsSigned(to) ? to.bits - 1 : to.bits) + (from.bits == 32 ? "f" : "");
  const std::string limit = Broadcast(from, end), low = Broadcast(from, IsSigned(to) ? "-" + end : "0");
  const std::string above = Binary(Op::kGe, from, "a", limit), below = Binary(Op::kLt, from, "a", low);
  const std::string inside = "(" + Binary(Op::kLt, from, "a", limit) + " & " + Binary(Op::kGe, from, "a", low) + ")";
  const std::string fits = Select(from, inside, "a", Broadcast(from, "0"));
  return Select(to, above, Broadcast(to, CMax(e)),
                Select(to, below, Broadcast(to, CMin(e)), "__builtin_convertvector(" + fits + ", " + CType(to) + ")"));
}

std::string Helpers::NativeCast(Type from, Type to) {
  if (IsStorage(from) || IsStorage(to) || IsBool(to)) return "";
  Need(from);
  Need(to);
  if (IsFloat(from) && IsInteger(to)) return NativeSaturate(from, to);
  return "__builtin_convertvector(" + std::string(IsBool(from) ? "-a" : "a") + ", " + CType(to) + ")";
}

std::string Helpers::Cast(Type from, Type to, const std::string& a) {
  if (from == to) return a;
  if (from.lanes == 1) return ScalarCast(from, to, a);
  const std::string name = "kp_" + TypeName(to) + "_from_" + TypeName(from);
  if (!defined_.count(name)) {
    const Type f = ElementOf(from), t = ElementOf(to);
    // A lane of bool is 0 or -1, a bool alone 0 or 1.
    std::string lane = ScalarCast(f, t, IsBool(f) ? "(" + std::string(kLaneA) + " != 0)" : kLaneA);
    if (IsBool(t)) lane = "-" + lane;
    VectorFunction(name, to, {{from, "a"}}, NativeCast(from, to), lane);
  }
  return FormatCall(name, {a});
}

std::string Helpers::Bitcast(Type from, Type to, const std::string& a) {
  if (from.lanes == 1) return ScalarBitcast(from, to, a);
  if (CType(from) == CType(to)) return a;
  const std::string lane = ScalarBitcast(CVector(ElementOf(from)), CVector(ElementOf(to)), kLaneA);
  const std::string name = "kp_bits_" + TypeName(to) + "_" + TypeName(from);
  return FormatCall(VectorFunction(name, to, {{from, "a"}}, "(" + CType(to) + ")a", lane), {a});
}

std::string Helpers::Select(Type t, const std::string& c, const std::string& a, const std::string& b) {
  if (t.lanes == 1) return "(" + c + " ? " + a + " : " + b + ")";
  const std::string name = "kp_select_" + TypeName(t);
  if (!defined_.count(name)) {
    const Type bits(KP_DTYPE_INT, CVector(t).bits, t.lanes);
    Need(t);
    Need(bits);
    // Compared with 0, gcc sees a choice between whole lanes, for which processors have an instruction. Of masks that it
    // converted first, gcc 12 may make that choice in a way that it cannot compile.
    const std::string w = CType(bits), mask = bits.bits == 32 ? "(c != 0)" : "__builtin_convertvector(c, " + w + ")";
    VectorFunction(name, t, {{GetMaskType(t), "c"}, {t, "a"}, {t, "b"}},
                   "(" + CType(t) + ")((" + mask + " & (" + w + ")a) | (~" + mask + " & (" + w + ")b))",
                   "LANE(c, i) ? LANE(a, i) : LANE(b, i)");
  }
  return FormatCall(name, {c, a, b});
}

std::string Helpers::Broadcast(Type to, const std::string& a) {
  if (to.lanes == 1) return a;
  const std::string value = IsBool(to) ? "-(int32_t)a" : "a", name = "kp_broadcast_" + TypeName(to);
  std::string list;
  for (int i = 0; i < to.lanes; ++i) list += (i ? ", " : "") + value;
  return FormatCall(VectorFunction(name, to, {{ElementOf(to), "a"}}, "(" + CType(to) + "){" + list + "}", value), {a});
}

std::string Helpers::Ramp(Type to, const std::string& base, const std::string& stride) {
  const Type e = ElementOf(to);
  const std::string name = "kp_ramp_" + TypeName(to);
  if (!defined_.count(name)) {
    std::string steps;
    for (int i = 0; i < to.lanes; ++i) steps += (i ? ", " : "") + std::to_string(i);
    Need(to);
    const std::string scaled = Binary(Op::kMul, to, Broadcast(to, "stride"), "(" + CType(to) + "){" + steps + "}");
    const std::string step = ScalarBinary(Op::kMul, e, "stride", "(" + CElement(e) + ")i");
    VectorFunction(name, to, {{e, "base"}, {e, "stride"}}, Binary(Op::kAdd, to, Broadcast(to, "base"), scaled),
                   ScalarBinary(Op::kAdd, e, "base", step));
  }
  return FormatCall(name, {base, stride});
}

std::string Helpers::Shuffle(Type at, Type bt, Type to, const std::vector<int>& lanes, const std::string& a,
                             const std::string& b) {
  const auto pick = [&](int lane) {
    const bool first = lane < at.lanes;
    const std::string v = first ? "a" : "b", i = std::to_string(first ? lane : lane - at.lanes);
    const std::string value = (first ? at : bt).lanes == 1 ? v : "LANE(" + v + ", " + i + ")";
    if (!IsBool(to)) return value;
    return to.lanes == 1 ? value + " != 0" : "-(" + value + " != 0)";
  };
  std::string name = "kp_shuffle_" + TypeName(at) + "_" + std::to_string(bt.lanes), body;
  for (size_t i = 0; i < lanes.size(); ++i) {
    name += "_" + std::to_string(lanes[i]);
    body += (to.lanes == 1 ? "  r = " : "  LANE(r, " + std::to_string(i) + ") = ") + pick(lanes[i]) + ";\n";
  }
  if (First(name)) {
    for (const Type t : {at, bt, to}) Need(t);
    const std::string head =
        dialect_.Inline() + CType(to) + " " + name + "(" + CType(at) + " a, " + CType(bt) + " b) {\n";
    const std::string lane_by_lane = "  " + CType(to) + " r;\n  (void)a;\n  (void)b;\n" + body + "  return r;\n";
    structs_ += head + lane_by_lane + "}\n";
    const std::string whole = NativeShuffle(at, bt, to, lanes);
    gnu_ += head +
            (whole.empty() ? lane_by_lane : "#ifdef KP_SHUFFLES\n" + whole + "#else\n" + lane_by_lane + "#endif\n") +
            "}\n";
  }
  return FormatCall(name, {a, b});
}

// Code that compilers with the builtin translate into one instruction, while LANE() takes the lanes one by one; or "".
std::string Helpers::NativeShuffle(Type at, Type bt, Type to, const std::vector<int>& lanes) {
  if (at != bt || at.lanes == 1 || to.lanes == 1 || IsBool(to)) return "";
  std::string list;
  for (const int lane : lanes) list += ", " + std::to_string(lane);
  return "  return __builtin_shufflevector(a, b" + list + ");\n";
}

std::string Helpers::ReduceLanes(Op op, Type t, const std::string& a) {
  if (t.lanes == 1) return a;
  const Type e = CVector(ElementOf(t));
  const std::string name = "kp_lanes_" + CWord(op) + "_" + TypeName(t);
  if (!defined_.count(name)) {
    Need(t);
    // Written out: compilers make vectors of the halves, but keep a loop that halves its own bound.
    const std::string c = CElement(e);
    std::string lines, from = "LANE(a, ";
    std::string behind = ")";
    for (int n = t.lanes / 2; n > 0; n /= 2) {
      const std::string to = "t" + std::to_string(n) + "_";
      for (int i = 0; i < n; ++i) {
        const auto lane = [&](int at) { return from + std::to_string(at) + behind; };
        lines += "  const " + c + " " + to + std::to_string(i) + " = " +
                 Bare(ScalarBinary(op, e, lane(i), lane(i + n))) + ";\n";
      }
      from = to;
      behind = "";
    }
    First(name);
    DefineVector(dialect_.Inline() + CElement(ElementOf(t)) + " " + name + "(" + CType(t) + " a) {\n" + lines +
                 "  return t1_0" + (IsBool(t) ? " != 0" : "") + ";\n}\n");
  }
  return FormatCall(name, {a});
}

}  // namespace kernpack::sdk::ir
