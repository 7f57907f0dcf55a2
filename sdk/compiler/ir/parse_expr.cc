#include "ir/parse_expr.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "ir/names.h"
#include "ir/print_expr.h"
#include "ir/scalar.h"

namespace kernpack::sdk::ir {

const NameTable::Entry* NameTable::Find(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->find(name);
    if (found != scope->end()) return &found->second;
  }
  return nullptr;
}

void NameTable::Define(const Token& name, Entry entry) {
  const std::string text(name.text);
  if (IsReservedWord(text)) FailAt(name.position, "'" + text + "' is a keyword; choose another name");
  if (Find(text)) FailAt(name.position, "'" + text + "' is defined already");
  scopes_.back()[text] = std::move(entry);
}

const ExprParser::Flexible* ExprParser::FindFlexible(const Expr& e) const {
  const auto found = flexible_.find(e.get());
  return found == flexible_.end() ? nullptr : &found->second;
}

Expr ExprParser::AdaptTo(Type type, const Expr& e) {
  const Type to = ElementOf(type);
  const Flexible* literal = FindFlexible(e);
  if (!literal || e->type == to || to.is_floating_point() != e->type.is_floating_point()) return e;
  if (IsBool(to)) return e;
  // A float literal is rounded, once; an integer must be one of the type.
  if (to.is_floating_point()) {
    if (!IsInRange(to, literal->value)) FailAt(e->position, literal->text + " is not in the range of " + TypeName(to));
    return At(e->position, ConstFloat(to, literal->value));
  }
  const uint64_t lane = EvalCast(e->type, to, e->bits());
  if (EvalCast(to, e->type, lane) != e->bits()) return e;
  return At(e->position, Const(to, lane));
}

void ExprParser::Adapt(Expr* a, Expr* b) {
  const Type ta = (*a)->type, tb = (*b)->type;
  *a = AdaptTo(tb, *a);
  *b = AdaptTo(ta, *b);
}

Expr ExprParser::Parse(int precedence) {
  struct Depth {
    int& n;
    ~Depth() { --n; }
  } depth{depth_};
  if (++depth_ > static_cast<int>(kMaxDepth)) FailAt(lex_.now().position, "the expression is nested too deep");
  Expr left = ParseUnary();
  for (;;) {
    Op op;
    const Token at = lex_.now();
    if (at.kind != TokenKind::kSign || !OpFromName(at.text, &op) || GetPrecedence(op) < precedence) return left;
    lex_.Take();
    Expr right = Parse(GetPrecedence(op) + 1);
    Adapt(&left, &right);
    left = Checked(at.position, [&] { return At(at.position, Binary(op, left, right)); });
    if (ClassOf(op) == OpClass::Compare && lex_.now().kind == TokenKind::kSign && OpFromName(lex_.now().text, &op) &&
        ClassOf(op) == OpClass::Compare) {
      FailAt(lex_.now().position, "comparisons do not chain; use parentheses");
    }
  }
}

Expr ExprParser::ParseUnary() {
  const Position at = lex_.now().position;
  const bool minus = lex_.Is("-");
  if (!minus && !lex_.Is("~")) return ParsePrimary();
  lex_.Take();
  if (minus && lex_.now().kind == TokenKind::kNumber) return ParseNumber(true);
  if (minus && (lex_.Is("inf") || lex_.now().text.substr(0, 4) == "inf_")) return ParseSpecialFloat(true);
  const Expr operand = Parse(kUnaryPrecedence);
  return Checked(at, [&] { return At(at, Unary(minus ? Op::kNeg : Op::kNot, operand)); });
}

Expr ExprParser::ParseSpecialFloat(bool negative) {
  const Token t = lex_.Take();
  Type type = kF32;
  if (t.text.size() > 3 && (!TypeFromName(t.text.substr(4), &type) || !type.is_floating_point() || type.lanes != 1)) {
    FailAt(t.position, "expected a float type after " + std::string(t.text.substr(0, 4)));
  }
  double value = t.text[0] == 'i' ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (negative) value = -value;
  const Expr e = At(t.position, ConstFloat(type, value));
  if (t.text.size() == 3) flexible_.emplace(e.get(), Flexible{e, value, std::string(t.text)});
  return e;
}

Expr ExprParser::ParseNumber(bool negative) {
  const Token t = lex_.Take();
  size_t digits = 0;
  while (digits < t.text.size() && (std::isdigit(static_cast<unsigned char>(t.text[digits])) || t.text[digits] == '.'))
    ++digits;
  const auto is_digit = [&](size_t i) {
    return i < t.text.size() && std::isdigit(static_cast<unsigned char>(t.text[i]));
  };
  if (digits < t.text.size() && (t.text[digits] == 'e' || t.text[digits] == 'E')) {
    size_t i = digits + 1;
    if (i < t.text.size() && (t.text[i] == '+' || t.text[i] == '-')) ++i;
    if (is_digit(i)) {
      while (is_digit(i)) ++i;
      digits = i;
    }
  }
  std::string number = (negative ? "-" : "") + std::string(t.text.substr(0, digits));
  const std::string suffix(t.text.substr(digits));
  bool real = number.find_first_of(".eE") != std::string::npos;
  Type type = real ? kF32 : kI64;
  if (!suffix.empty() &&
      (!TypeFromName(suffix, &type) || type.lanes != 1 || IsBool(type) || (real && !type.is_floating_point()))) {
    FailAt(t.position, "expected a number, optionally followed by its type as in 1i32 or 0.5f64, got '" +
                           std::string(t.text.substr(0, 40)) + "'");
  }
  real = type.is_floating_point();
  const char* end = number.data() + number.size();
  uint64_t lane = 0;
  std::errc error{};
  double written = 0;
  if (real) {
    error = std::from_chars(number.data(), end, written).ec;
    // Without a type it is f32, and f64 where f32 has nothing near it.
    if (suffix.empty() && !IsInRange(type, written)) type = kF64;
    if (error == std::errc() && !IsInRange(type, written)) error = std::errc::result_out_of_range;
    lane = LaneFromDouble(type, written);
    float nearest = 0;  // of the digits, not of the f64 next to them
    if (type == kF32 && std::from_chars(number.data(), end, nearest).ec == std::errc())
      lane = LaneFromDouble(type, nearest);
  } else if (type == Type(KP_DTYPE_UINT, 64)) {
    error = std::from_chars(number.data(), end, lane).ec;
  } else {
    int64_t value = 0;
    error = std::from_chars(number.data(), end, value).ec;
    lane = LaneFromInt(type, value);
    if (static_cast<int64_t>(lane) != value) error = std::errc::result_out_of_range;
  }
  if (error != std::errc()) FailAt(t.position, number + " is not in the range of " + TypeName(type));
  const Expr e = At(t.position, Const(type, lane));
  if (suffix.empty()) flexible_.emplace(e.get(), Flexible{e, written, number});
  return e;
}

std::vector<Expr> ExprParser::ParseList(std::string_view close) {
  std::vector<Expr> list;
  if (lex_.Accept(close)) return list;
  do {
    list.push_back(Parse());
  } while (lex_.Accept(","));
  lex_.Expect(close);
  return list;
}

Buffer ExprParser::ParseBufferName() {
  const Token t = lex_.ExpectKind(TokenKind::kName, "the name of a buffer");
  const NameTable::Entry* entry = names.Find(t.text);
  if (!entry) FailAt(t.position, "'" + std::string(t.text) + "' is not defined here");
  if (!entry->buffer) FailAt(t.position, "'" + std::string(t.text) + "' is a scalar, expected a buffer");
  return entry->buffer;
}

Type ExprParser::ParseType() {
  const Token t = lex_.ExpectKind(TokenKind::kName, "a type");
  Type type;
  if (!TypeFromName(t.text, &type)) {
    FailAt(t.position,
           "expected a type (bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, f8_e4m3fn or f8_e5m2, with lanes as "
           "in f32x8), got '" +
               std::string(t.text.substr(0, 40)) + "'");
  }
  return type;
}

int ExprParser::ParseSmallInt(const char* what) {
  const Token t = lex_.ExpectKind(TokenKind::kNumber, what);
  int value = 0;
  const auto [end, error] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), value);
  if (error != std::errc() || end != t.text.data() + t.text.size()) FailAt(t.position, std::string("expected ") + what);
  return value;
}

Op ExprParser::ParseReduction(bool with_args) {
  const Token t = lex_.Take();
  Op op;
  for (const Op arg : {Op::kArgMax, Op::kArgMin}) {
    if (with_args && t.text == OpName(arg)) return arg;
  }
  if (!OpFromName(t.text, &op) || !IsReduction(op)) {
    FailAt(t.position, std::string("expected +, *, min, max, minimum, maximum, ") +
                           (with_args ? "argmin, argmax, " : "") + "&, | or ^, got '" +
                           std::string(t.text.substr(0, 40)) + "'");
  }
  return op;
}

void ExprParser::ParseRange(Expr* begin, Expr* end) {
  *begin = Parse();
  lex_.Expect("..");
  *end = Parse();
  Adapt(begin, end);
}

Expr ExprParser::ParseReduce(Position position) {
  const Op op = ParseReduction(true);
  lex_.Expect(",");
  const Token name = lex_.ExpectKind(TokenKind::kName, "a variable");
  lex_.Expect("in");
  Expr begin, end;
  ParseRange(&begin, &end);
  lex_.Expect(",");
  int lanes = 0;
  if (!lex_.Accept("sequential")) {
    lex_.Expect("any");
    lanes = ParseSmallInt("a number of lanes");
  }
  lex_.Expect(",");
  const Var var = Checked(name.position, [&] { return MakeVar(std::string(name.text), begin->type); });
  names.Enter();
  names.Define(name, {var, nullptr});
  const Expr body = Parse();
  names.Leave();
  lex_.Expect(")");
  return Checked(position, [&] { return Reduce(op, var, begin, end, lanes, body); });
}

// Behind `name (`, for what is not written as a plain list of operands.
Expr ExprParser::ParseForm(const Token& name) {
  const Position at = name.position;
  if (name.text == "bitcast") {
    const Type type = ParseType();
    lex_.Expect(",");
    const Expr e = Parse();
    lex_.Expect(")");
    return Checked(at, [&] { return Bitcast(type, e); });
  }
  if (name.text == "load_if") {
    const Buffer buffer = ParseBufferName();
    lex_.Expect("[");
    const std::vector<Expr> indices = ParseList("]");
    lex_.Expect(",");
    const Expr mask = Parse();
    lex_.Expect(",");
    const Expr otherwise = AdaptTo(buffer->element, Parse());
    lex_.Expect(")");
    return Checked(at, [&] { return MaskedLoad(buffer, indices, mask, otherwise); });
  }
  if (name.text == "broadcast" || name.text == "ramp") {
    Expr a = Parse(), b;
    lex_.Expect(",");
    if (name.text == "ramp") {
      b = Parse();
      lex_.Expect(",");
      Adapt(&a, &b);
    }
    const int lanes = ParseSmallInt("a number of lanes");
    lex_.Expect(")");
    return Checked(at, [&] { return b ? Ramp(a, b, lanes) : Broadcast(a, lanes); });
  }
  if (name.text == "shuffle") {
    const Expr a = Parse();
    lex_.Expect(",");
    const Expr b = Parse();
    lex_.Expect(",");
    lex_.Expect("[");
    std::vector<int> lanes;
    do {
      lanes.push_back(ParseSmallInt("a lane"));
    } while (lex_.Accept(","));
    lex_.Expect("]");
    lex_.Expect(")");
    return Checked(at, [&] { return Shuffle(a, b, lanes); });
  }
  if (name.text == "lanes") {
    const Op op = ParseReduction();
    lex_.Expect(",");
    const Expr e = Parse();
    lex_.Expect(")");
    return Checked(at, [&] { return ReduceLanes(op, e); });
  }
  if (name.text == "strict") {
    const Expr e = Parse();
    lex_.Expect(")");
    return Checked(at, [&] { return Strict(e); });
  }
  if (name.text == "reduce") return ParseReduce(at);
  if (name.text == "extern") {
    const std::string symbol = lex_.TakeString();
    lex_.Expect(",");
    const Type type = ParseType();
    std::vector<Expr> args;
    if (lex_.Accept(",")) {
      args = ParseList(")");
    } else {
      lex_.Expect(")");
    }
    return Checked(at, [&] { return Extern(symbol, type, args); });
  }
  return Expr();
}

// Behind `name (`.
Expr ExprParser::ParseCall(const Token& name) {
  if (const Expr form = ParseForm(name)) return form;
  Type type;
  Op op;
  std::vector<Expr> args = ParseList(")");
  const auto takes = [&](size_t n) {
    if (args.size() != n) {
      FailAt(name.position, std::string(name.text) + ": expected " + std::to_string(n) + " operands, got " +
                                std::to_string(args.size()));
    }
  };
  if (TypeFromName(name.text, &type)) {
    takes(1);
    // A literal becomes what it is cast to at once, not f32 first.
    if (type.is_floating_point() && args[0]->type.is_floating_point() && FindFlexible(args[0]))
      return AdaptTo(type, args[0]);
    return Checked(name.position, [&] { return Cast(type, args[0]); });
  }
  if (name.text == "select") {
    takes(3);
    Adapt(&args[1], &args[2]);
    return Checked(name.position, [&] { return Select(args[0], args[1], args[2]); });
  }
  if (!OpFromName(name.text, &op)) {
    FailAt(name.position, "'" + std::string(name.text.substr(0, 40)) + "' isn't an operation");
  }
  if (HasTwoOperands(ClassOf(op))) {
    takes(2);
    Adapt(&args[0], &args[1]);
    return Checked(name.position, [&] { return Binary(op, args[0], args[1]); });
  }
  takes(1);
  return Checked(name.position, [&] { return Unary(op, args[0]); });
}

Expr ExprParser::ParsePrimary() {
  const Token t = lex_.now();
  if (t.kind == TokenKind::kNumber) return ParseNumber(false);
  if (lex_.Accept("(")) {
    const Expr e = Parse();
    lex_.Expect(")");
    return e;
  }
  if (t.kind != TokenKind::kName) lex_.Expected("an expression");
  const std::string_view prefix = t.text.substr(0, 4);
  if (t.text == "inf" || t.text == "nan" || prefix == "inf_" || prefix == "nan_") return ParseSpecialFloat(false);
  lex_.Take();
  if (t.text == "true" || t.text == "false") return At(t.position, Const(kBool, t.text == "true"));
  if ((t.text == "thread" || t.text == "block") && lex_.Accept(".")) {
    const Token axis = lex_.Take();
    if (axis.text != "x" && axis.text != "y" && axis.text != "z") FailAt(axis.position, "expected x, y or z");
    const int number = axis.text[0] - 'x';
    return At(t.position, t.text == "thread" ? ThreadIndex(number) : BlockIndex(number));
  }
  if (lex_.Accept("(")) return At(t.position, ParseCall(t));
  const NameTable::Entry* entry = names.Find(t.text);
  if (!entry && unknown) return At(t.position, Expr(unknown(t)));
  if (!entry) FailAt(t.position, "'" + std::string(t.text.substr(0, 40)) + "' is not defined here");
  if (entry->var) return At(t.position, Expr(entry->var));
  const Buffer buffer = entry->buffer;
  lex_.Expect("[");
  const std::vector<Expr> indices = ParseList("]");
  return At(t.position, Checked(t.position, [&] { return Load(buffer, indices); }));
}

}  // namespace kernpack::sdk::ir
