#include <kernpack/error.h>
#include <kernpack/host/signature.h>
#include <kernpack/sdk/ir/expr.h>

#include <algorithm>
#include <cmath>

#include "ir/scalar.h"

namespace kernpack::sdk::ir {
namespace {

template <class Detail>
Expr Make(Op op, Type type, std::vector<Expr> args, Detail detail, Position position = {}) {
  ExprNode n{op, type, std::move(args), std::move(detail), position, 1, 1};
  for (const Expr& a : n.args) {
    n.depth = std::max(n.depth, a->depth + 1);
    n.size = std::min(n.size + a->size, kMaxSize + 1);
  }
  if (n.depth > kMaxDepth) {
    KP_THROW(ValueError) << "expression is nested more than " << kMaxDepth << " deep; bind a part of it with `let`";
  }
  if (n.size > kMaxSize) {
    KP_THROW(ValueError) << "expression has more than " << kMaxSize << " operations; bind a part of it with `let`";
  }
  return Expr(std::make_shared<const ExprNode>(std::move(n)));
}
Expr Make(Op op, Type type, std::vector<Expr> args) { return Make(op, type, std::move(args), std::monostate()); }

void CheckPresent(const Expr& e, std::string_view op) {
  if (!e) KP_THROW(ValueError) << op << ": expected an expression, got none";
}
void CheckScalarIndex(const Expr& e, std::string_view what) {
  CheckPresent(e, what);
  if (!IsIndex(e->type) || e->type.lanes != 1) {
    KP_THROW(TypeError) << what << ": expected i32 or i64, got " << TypeName(e->type);
  }
}
void CheckSupported(Type t, std::string_view what) {
  if (!IsSupported(t)) {
    KP_THROW(TypeError) << what
                        << ": expected bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, f8_e4m3fn or f8_e5m2 with "
                        << "1, 2, 4, ... or " << kMaxLanes << " lanes, got " << TypeName(t);
  }
}
bool Accepts(Op op, Type t) {
  switch (op) {
    case Op::kEq:
    case Op::kNe:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
      return IsInteger(t) || IsBool(t) || (ClassOf(op) == OpClass::Compare && IsFloat(t));
    case Op::kNot:
      return IsInteger(t) || IsBool(t);
    case Op::kShl:
    case Op::kShr:
    case Op::kRem:
    case Op::kFloorDiv:
    case Op::kFloorMod:
      return IsInteger(t);
    case Op::kMinimum:
    case Op::kMaximum:
    case Op::kPow:
      return IsFloat(t);
    case Op::kNeg:
    case Op::kAbs:
      return IsSigned(t) || IsFloat(t);
    default:
      break;
  }
  const OpClass c = ClassOf(op);
  if (c == OpClass::Rounding || c == OpClass::Math) return IsFloat(t);
  return IsInteger(t) || IsFloat(t);
}
void CheckAccepts(Op op, Type t) {
  if (Accepts(op, t)) return;
  KP_THROW(TypeError) << OpName(op) << ": does not take " << TypeName(t)
                      << (IsStorage(t) ? ", a storage type: cast to f32 first" : "");
}
// Gives all operands one number of lanes.
void Balance(std::string_view what, std::vector<Expr>* operands) {
  int lanes = 1;
  for (const Expr& e : *operands) lanes = std::max<int>(lanes, e->type.lanes);
  for (Expr& e : *operands) {
    if (e->type.lanes == lanes) continue;
    if (e->type.lanes != 1)
      KP_THROW(TypeError) << what << ": expected operands of one number of lanes, got " << e->type.lanes << " and "
                          << lanes;
    e = Broadcast(e, lanes);
  }
}
std::vector<Expr> CheckIndices(const Buffer& buffer, std::vector<Expr> indices, int* lanes) {
  if (!buffer) KP_THROW(ValueError) << "load: expected a buffer, got none";
  if (indices.size() != buffer->shape.size()) {
    KP_THROW(ValueError) << buffer->name << ": expected " << buffer->shape.size() << " indices, one per dimension, got "
                         << indices.size();
  }
  for (const Expr& e : indices) {
    CheckPresent(e, buffer->name);
    if (!IsIndex(e->type))
      KP_THROW(TypeError) << buffer->name << ": index: expected i32 or i64, got " << TypeName(e->type);
    if (e->type.lanes == 1) continue;
    if (*lanes != 1 && *lanes != e->type.lanes) {
      KP_THROW(TypeError) << buffer->name << ": expected indices of one number of lanes, got " << *lanes << " and "
                          << e->type.lanes;
    }
    *lanes = e->type.lanes;
  }
  return indices;
}

// True if the expression has an operation on floats that isn't strict yet.
bool ComputesFloats(const Expr& e) {
  if (e->op == Op::kStrict || e->args.empty()) return false;
  const OpClass c = ClassOf(e->op);
  const bool moves = e->op == Op::kLoad || e->op == Op::kMaskedLoad || e->op == Op::kBroadcast ||
                     e->op == Op::kShuffle || e->op == Op::kBitcast;
  if (!moves && c != OpClass::Leaf && (IsFloat(e->type) || IsFloat(e->args[0]->type))) return true;
  return std::any_of(e->args.begin(), e->args.end(), ComputesFloats);
}

}  // namespace

Expr::Expr(const Var& var) {
  if (!var) KP_THROW(ValueError) << "expected a variable, got none";
  *this = Make(Op::kVar, var->type, {}, var);
}
Expr::Expr(int64_t value) : Expr(ConstInt(kI64, value)) {}
Expr::Expr(float value) : Expr(ConstFloat(kF32, value)) {}
Expr::Expr(double value) : Expr(ConstFloat(kF64, value)) {}
Expr::Expr(bool value) : Expr(Const(kBool, value)) {}

Var MakeVar(std::string name, Type type) {
  CheckSupported(type, name);
  return std::make_shared<const VarNode>(VarNode{std::move(name), type});
}

Var MakeDim(std::string_view name) {
  const bool leading = name.size() > 3 && name.substr(name.size() - 3) == "...";
  return std::make_shared<const VarNode>(
      VarNode{std::string(name.substr(0, name.size() - (leading ? 3 : 0))), kI64, leading});
}

Buffer MakeBuffer(std::string name, Type element, std::vector<Expr> shape, Scope scope, std::string key, bool zeroed) {
  CheckSupported(element, name);
  if (element.lanes != 1) KP_THROW(TypeError) << name << ": expected elements of one lane, got " << TypeName(element);
  if (shape.size() > KP_MAX_NDIM)
    KP_THROW(ValueError) << name << ": expected at most " << KP_MAX_NDIM << " dimensions, got " << shape.size();
  for (const Expr& e : shape) {
    CheckScalarIndex(e, name + ": extent");
    int64_t value = 0;
    if (IsConstInt(e, &value) && value < 0)
      KP_THROW(ValueError) << name << ": expected an extent of at least 0, got " << value;
  }
  if (scope == Scope::kPersistent && key.empty()) KP_THROW(ValueError) << name << ": persistent memory needs a key";
  return std::make_shared<const BufferNode>(
      BufferNode{std::move(name), element, std::move(shape), scope, std::move(key), zeroed});
}

Expr Const(Type type, uint64_t bits) {
  CheckSupported(type, "constant");
  const Expr scalar = Make(Op::kConst, ElementOf(type), {}, CanonicalLane(type, bits));
  return type.lanes == 1 ? scalar : Broadcast(scalar, type.lanes);
}
Expr ConstInt(Type type, int64_t value) {
  CheckSupported(type, "constant");
  return Const(type, LaneFromInt(ElementOf(type), value));
}
Expr ConstFloat(Type type, double value) {
  CheckSupported(type, "constant");
  return Const(type, LaneFromDouble(ElementOf(type), value));
}

bool IsInRange(Type type, double value) {
  if (!std::isfinite(value) || value == 0) return true;
  const double rounded = DoubleFromLane(type, LaneFromDouble(type, value));
  return std::isfinite(rounded) && rounded != 0;
}

Expr ThreadIndex(int axis) {
  if (axis < 0 || axis > 2) KP_THROW(ValueError) << "thread: expected axis 0, 1 or 2, got " << axis;
  return Make(Op::kThreadIndex, kI32, {}, static_cast<uint64_t>(axis));
}
Expr BlockIndex(int axis) {
  if (axis < 0 || axis > 2) KP_THROW(ValueError) << "block: expected axis 0, 1 or 2, got " << axis;
  return Make(Op::kBlockIndex, kI32, {}, static_cast<uint64_t>(axis));
}

Expr Cast(Type type, Expr value) {
  CheckPresent(value, "cast");
  const Type to = WithLanes(type, value->type.lanes);
  CheckSupported(to, "cast");
  return Make(Op::kCast, to, {std::move(value)});
}
Expr Bitcast(Type type, Expr value) {
  CheckPresent(value, "bitcast");
  const Type from = value->type, to = WithLanes(type, from.lanes);
  CheckSupported(to, "bitcast");
  if (from.bits != to.bits || IsBool(from) || IsBool(to)) {
    KP_THROW(TypeError) << "bitcast: expected two types of the same size, neither of them bool, got " << TypeName(from)
                        << " and " << TypeName(to);
  }
  return Make(Op::kBitcast, to, {std::move(value)});
}

Expr Binary(Op op, Expr a, Expr b) {
  if (!HasTwoOperands(ClassOf(op))) KP_THROW(ValueError) << OpName(op) << ": isn't an operation on two operands";
  CheckPresent(a, OpName(op));
  CheckPresent(b, OpName(op));
  if (ElementOf(a->type) != ElementOf(b->type)) {
    KP_THROW(TypeError) << OpName(op) << ": expected operands of one type, got " << TypeName(a->type) << " and "
                        << TypeName(b->type) << "; cast one of them";
  }
  CheckAccepts(op, a->type);
  std::vector<Expr> args{std::move(a), std::move(b)};
  Balance(OpName(op), &args);
  const Type t = args[0]->type;
  return Make(op, ClassOf(op) == OpClass::Compare ? WithLanes(kBool, t.lanes) : t, std::move(args));
}

Expr Unary(Op op, Expr a) {
  const OpClass c = ClassOf(op);
  if (c != OpClass::Unary && c != OpClass::Rounding && c != OpClass::Math) {
    KP_THROW(ValueError) << OpName(op) << ": isn't an operation on one operand";
  }
  CheckPresent(a, OpName(op));
  CheckAccepts(op, a->type);
  const Type t = a->type;
  return Make(op, t, {std::move(a)});
}

Expr Select(Expr condition, Expr then, Expr otherwise) {
  CheckPresent(condition, "select");
  CheckPresent(then, "select");
  CheckPresent(otherwise, "select");
  if (!IsBool(condition->type))
    KP_THROW(TypeError) << "select: condition: expected bool, got " << TypeName(condition->type);
  if (ElementOf(then->type) != ElementOf(otherwise->type)) {
    KP_THROW(TypeError) << "select: expected two values of one type, got " << TypeName(then->type) << " and "
                        << TypeName(otherwise->type);
  }
  std::vector<Expr> args{std::move(condition), std::move(then), std::move(otherwise)};
  Balance("select", &args);
  const Type t = args[1]->type;
  return Make(Op::kSelect, t, std::move(args));
}

Expr Load(Buffer buffer, std::vector<Expr> indices) {
  int lanes = 1;
  indices = CheckIndices(buffer, std::move(indices), &lanes);
  const Type t = WithLanes(buffer->element, lanes);
  return Make(Op::kLoad, t, std::move(indices), std::move(buffer));
}

Expr MaskedLoad(Buffer buffer, std::vector<Expr> indices, Expr mask, Expr otherwise) {
  int lanes = 1;
  indices = CheckIndices(buffer, std::move(indices), &lanes);
  CheckPresent(mask, "load_if");
  CheckPresent(otherwise, "load_if");
  if (!IsBool(mask->type)) KP_THROW(TypeError) << "load_if: mask: expected bool, got " << TypeName(mask->type);
  if (ElementOf(otherwise->type) != buffer->element) {
    KP_THROW(TypeError) << "load_if: expected an alternative of " << TypeName(buffer->element) << ", as "
                        << buffer->name << " holds, got " << TypeName(otherwise->type);
  }
  std::vector<Expr> values{Broadcast(Const(kBool, 1), lanes), std::move(mask), std::move(otherwise)};
  Balance("load_if", &values);
  if (values[0]->type.lanes != lanes) {
    KP_THROW(TypeError) << "load_if: expected a mask and an alternative of " << lanes << " lanes, as the indices, got "
                        << values[0]->type.lanes;
  }
  indices.push_back(values[1]);
  indices.push_back(values[2]);
  const Type t = WithLanes(buffer->element, lanes);
  return Make(Op::kMaskedLoad, t, std::move(indices), std::move(buffer));
}

Expr Broadcast(Expr scalar, int lanes) {
  CheckPresent(scalar, "broadcast");
  if (lanes == 1) return scalar;
  if (scalar->type.lanes != 1) KP_THROW(TypeError) << "broadcast: expected a scalar, got " << TypeName(scalar->type);
  const Type t = lanes > 0 && lanes <= kMaxLanes ? WithLanes(scalar->type, lanes) : Type();
  if (!IsSupported(t))
    KP_THROW(ValueError) << "broadcast: expected 2, 4, ... or " << kMaxLanes << " lanes, got " << lanes;
  return Make(Op::kBroadcast, t, {std::move(scalar)});
}

Expr Ramp(Expr base, Expr stride, int lanes) {
  CheckPresent(base, "ramp");
  CheckPresent(stride, "ramp");
  if (!IsInteger(base->type) || base->type != stride->type || base->type.lanes != 1) {
    KP_THROW(TypeError) << "ramp: expected two integers of one type, got " << TypeName(base->type) << " and "
                        << TypeName(stride->type);
  }
  const Type t = lanes > 1 && lanes <= kMaxLanes ? WithLanes(base->type, lanes) : Type();
  if (!IsSupported(t)) KP_THROW(ValueError) << "ramp: expected 2, 4, ... or " << kMaxLanes << " lanes, got " << lanes;
  return Make(Op::kRamp, t, {std::move(base), std::move(stride)});
}

Expr Shuffle(Expr a, Expr b, std::vector<int> lanes) {
  CheckPresent(a, "shuffle");
  CheckPresent(b, "shuffle");
  if (ElementOf(a->type) != ElementOf(b->type)) {
    KP_THROW(TypeError) << "shuffle: expected operands of one element type, got " << TypeName(a->type) << " and "
                        << TypeName(b->type);
  }
  const int available = a->type.lanes + b->type.lanes;
  for (const int lane : lanes) {
    if (lane < 0 || lane >= available)
      KP_THROW(ValueError) << "shuffle: expected lanes from 0 to " << available - 1 << ", got " << lane;
  }
  const Type t = lanes.size() <= kMaxLanes ? WithLanes(a->type, static_cast<int>(lanes.size())) : Type();
  if (!IsSupported(t)) {
    KP_THROW(ValueError) << "shuffle: expected 1, 2, 4, ... or " << kMaxLanes << " lanes, got " << lanes.size();
  }
  return Make(Op::kShuffle, t, {std::move(a), std::move(b)}, std::move(lanes));
}

Expr ReduceLanes(Op op, Expr vector) {
  CheckPresent(vector, "lanes");
  if (!IsReduction(op)) KP_THROW(ValueError) << "lanes: '" << OpName(op) << "' isn't a reduction";
  CheckAccepts(op, vector->type);
  const Type t = ElementOf(vector->type);
  return Make(Op::kReduceLanes, t, {std::move(vector)}, op);
}

Expr Strict(Expr value) {
  CheckPresent(value, "strict");
  if (!ComputesFloats(value)) return value;
  const Type t = value->type;
  return Make(Op::kStrict, t, {std::move(value)});
}

Expr Reduce(Op op, Var var, Expr begin, Expr end, int lanes, Expr body) {
  if (!var) KP_THROW(ValueError) << "reduce: expected a variable, got none";
  CheckScalarIndex(begin, "reduce");
  CheckPresent(body, "reduce");
  if (!IsReduction(op) && !IsArg(op)) KP_THROW(ValueError) << "reduce: '" << OpName(op) << "' isn't a reduction";
  if (!end || begin->type != var->type || end->type != var->type) {
    KP_THROW(TypeError) << "reduce: " << var->name << " and its bounds must be all i32 or all i64";
  }
  if (body->type.lanes != 1) KP_THROW(TypeError) << "reduce: expected a scalar, got " << TypeName(body->type);
  CheckAccepts(IsArg(op) ? Op::kMax : op, body->type);
  if (IsArg(op) && lanes != 0)
    KP_THROW(ValueError) << "reduce: " << OpName(op) << ": expected order sequential, got any(" << lanes << ')';
  if (lanes != 0 && (lanes < 2 || !IsSupported(WithLanes(kF32, lanes)))) {
    KP_THROW(ValueError) << "reduce: expected order sequential, or any with 2, 4, ... or " << kMaxLanes
                         << " lanes, got any(" << lanes << ')';
  }
  const Type t = IsArg(op) ? var->type : body->type;
  return Make(Op::kReduce, t, {std::move(begin), std::move(end), std::move(body)},
              Reduction{op, std::move(var), lanes});
}

Expr Extern(std::string name, Type type, std::vector<Expr> args) {
  CheckSupported(type, name);
  bool ok = type.lanes == 1 && !IsStorage(type);
  for (const Expr& a : args) ok = ok && a && a->type.lanes == 1 && !IsStorage(a->type);
  if (!ok)
    KP_THROW(TypeError) << name << ": expected scalars that C has as the external function's operands and result";
  return Make(Op::kExtern, type, std::move(args), std::move(name));
}

Expr WithArgs(const Expr& e, std::vector<Expr> args) {
  const auto drop = [&args](size_t n) { return std::vector<Expr>(args.begin(), args.end() - static_cast<long>(n)); };
  const auto make = [&]() -> Expr {
    switch (e->op) {
      case Op::kConst:
      case Op::kVar:
      case Op::kThreadIndex:
      case Op::kBlockIndex:
        return e;
      case Op::kCast:
        return Cast(e->type, args[0]);
      case Op::kBitcast:
        return Bitcast(e->type, args[0]);
      case Op::kSelect:
        return Select(args[0], args[1], args[2]);
      case Op::kLoad:
        return Load(e->buffer(), args);
      case Op::kMaskedLoad:
        return MaskedLoad(e->buffer(), drop(2), args[args.size() - 2], args.back());
      case Op::kBroadcast:
        return Broadcast(args[0], e->type.lanes);
      case Op::kRamp:
        return Ramp(args[0], args[1], e->type.lanes);
      case Op::kShuffle:
        return Shuffle(args[0], args[1], std::get<std::vector<int>>(e->detail));
      case Op::kReduceLanes:
        return ReduceLanes(std::get<Op>(e->detail), args[0]);
      case Op::kStrict:
        return Strict(args[0]);
      case Op::kReduce: {
        const Reduction& r = std::get<Reduction>(e->detail);
        return Reduce(r.op, r.var, args[0], args[1], r.lanes, args[2]);
      }
      case Op::kExtern:
        return Extern(std::get<std::string>(e->detail), e->type, args);
      default:
        return HasTwoOperands(ClassOf(e->op)) ? Binary(e->op, args[0], args[1]) : Unary(e->op, args[0]);
    }
  };
  const Expr made = make();
  return e->position.is_known() && !made->position.is_known() ? At(e->position, made) : made;
}

Expr At(Position position, const Expr& e) {
  ExprNode copy = *e;
  copy.position = position;
  return Expr(std::make_shared<const ExprNode>(std::move(copy)));
}

const char* ScopeName(Scope scope) {
  constexpr const char* kNames[] = {"global", "local", "shared", "workspace", "persistent"};
  return kNames[static_cast<int>(scope)];
}

uint64_t IdentityOf(Op op, Type element) {
  switch (op) {
    case Op::kMul:
      return LaneFromInt(element, 1);
    case Op::kAnd:
      return IsBool(element) ? 1 : LaneFromInt(element, -1);
    case Op::kMin:
    case Op::kMinimum:
      if (IsFloat(element)) return LaneFromDouble(element, HUGE_VAL);
      return EvalCast(kF64, element, LaneFromDouble(kF64, HUGE_VAL));
    case Op::kMax:
    case Op::kMaximum:
      if (IsFloat(element)) return LaneFromDouble(element, -HUGE_VAL);
      return EvalCast(kF64, element, LaneFromDouble(kF64, -HUGE_VAL));
    default:
      return 0;
  }
}

bool IsConst(const Expr& e) {
  return e && (e->op == Op::kConst || (e->op == Op::kBroadcast && e->args[0]->op == Op::kConst));
}
bool IsConstInt(const Expr& e, int64_t* out) {
  if (!IsConst(e) || e->type.is_floating_point()) return false;
  *out = static_cast<int64_t>((e->op == Op::kConst ? e : e->args[0])->bits());
  return true;
}

}  // namespace kernpack::sdk::ir
