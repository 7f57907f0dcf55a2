// Expressions.
#include "codegen/c_family/body.h"

namespace kernpack::sdk::ir {

std::string CBody::Linear(const Buffer& buffer, const std::vector<Expr>& indices) {
  if (indices.empty()) return "0";
  // An access is in bounds, and so is every partial sum: this cannot overflow.
  std::string text = Bare(E(indices[0]));
  for (size_t d = 1; d < indices.size(); ++d) {
    const bool narrow = indices[d - 1]->type.bits < 64 && d == 1;
    const bool leaf = d == 1 && (indices[0]->op == Op::kVar || indices[0]->op == Op::kConst);
    if (narrow) {
      text = "(int64_t)" + E(indices[0]);
    } else if (!leaf) {
      text = "(" + text + ")";
    }
    text += " * " + E(buffer->shape[d]) + " + " + E(indices[d]);
  }
  return text;
}

Helpers::Place CBody::GetPlace(const Buffer& buffer, const std::vector<Expr>& indices, const Expr& mask) {
  Helpers::Place place{buffer->scope, Name(buffer), "", mask ? E(mask) : ""};
  int64_t stride = 0;
  bool consecutive = indices.back()->op == Op::kRamp && IsConstInt(indices.back()->args[1], &stride) && stride == 1;
  for (size_t d = 0; d + 1 < indices.size(); ++d) consecutive = consecutive && indices[d]->type.lanes == 1;
  if (consecutive) {
    std::vector<Expr> first = indices;
    first.back() = indices.back()->args[0];
    const std::string offset = Linear(buffer, first);
    if (offset != "0") place.at += " + " + (offset.find(' ') == std::string::npos ? offset : "(" + offset + ")");
    return place;
  }
  Expr offset;
  for (size_t d = 0; d < indices.size(); ++d) {
    const Expr i = Cast(kI64, indices[d]);
    offset = offset ? offset * Cast(kI64, buffer->shape[d]) + i : i;
  }
  place.index = E(offset);
  return place;
}

std::string CBody::LoadText(const ExprNode& e) {
  if (registers_.count(e.buffer().get())) return Name(e.buffer());
  const bool masked = e.op == Op::kMaskedLoad;
  const std::vector<Expr> indices(e.args.begin(), e.args.end() - (masked ? 2 : 0));
  const Expr mask = masked ? e.args[indices.size()] : Expr();
  const std::string otherwise = masked ? E(e.args.back()) : "";
  if (e.type.lanes > 1) return h_.Load(e.type, GetPlace(e.buffer(), indices, mask), otherwise);
  const std::string cell = Helpers::FromMemory(e.type, Name(e.buffer()) + "[" + Linear(e.buffer(), indices) + "]");
  return masked ? "(" + E(mask) + " ? " + cell + " : " + otherwise + ")" : cell;
}

// The operand that is the smaller or larger one whatever both are, or null.
Expr CBody::OneOfTwo(const Expr& e) const {
  if ((e->op != Op::kMin && e->op != Op::kMax) || !IsInteger(e->type) || e->type.lanes != 1) return Expr();
  const Range a = ranges_.Of(e->args[0]), b = ranges_.Of(e->args[1]);
  if (a.low >= b.high) return e->args[e->op == Op::kMax ? 0 : 1];
  if (b.low >= a.high) return e->args[e->op == Op::kMax ? 1 : 0];
  return Expr();
}

std::string CBody::Operation(const Expr& e) {
  if (!HasTwoOperands(ClassOf(e->op))) return h_.Unary(e->op, e->type, E(e->args[0]));
  if (const Expr one = OneOfTwo(e)) return E(one);
  const std::string a = E(e->args[0]), b = E(e->args[1]);
  if (!ranges_.IsPlain(e)) return h_.Binary(e->op, e->args[0]->type, a, b);
  const bool quotient = e->op == Op::kFloorDiv, remainder = e->op == Op::kFloorMod;
  return "(" + a + (quotient ? " / " : remainder ? " % " : " " + std::string(OpName(e->op)) + " ") + b + ")";
}

std::string CBody::E(const Expr& e) {
  const auto arg = [&](size_t i) { return E(e->args[i]); };
  const auto type = [&](size_t i) { return e->args[i]->type; };
  switch (e->op) {
    case Op::kConst:
      return CConst(e->type, e->bits());
    case Op::kVar:
      return Name(e->var());
    case Op::kThreadIndex:
      return dialect_.ThreadIndex(static_cast<int>(e->bits()));
    case Op::kBlockIndex:
      return dialect_.BlockIndex(static_cast<int>(e->bits()));
    case Op::kCast:
      return h_.Cast(type(0), e->type, arg(0));
    case Op::kBitcast:
      return h_.Bitcast(type(0), e->type, arg(0));
    case Op::kSelect: {
      const std::string condition = arg(0), then = arg(1), otherwise = arg(2);
      return h_.Select(e->type, condition, then, otherwise);
    }
    case Op::kStrict:  // as all of the text is: what compiles it is told so
      return arg(0);
    case Op::kLoad:
    case Op::kMaskedLoad:
      return LoadText(*e);
    case Op::kBroadcast:
      return h_.Broadcast(e->type, arg(0));
    case Op::kRamp: {
      const std::string base = arg(0), stride = arg(1);
      return h_.Ramp(e->type, base, stride);
    }
    case Op::kShuffle: {
      const std::string a = arg(0), b = arg(1);
      return h_.Shuffle(type(0), type(1), e->type, std::get<std::vector<int>>(e->detail), a, b);
    }
    case Op::kReduceLanes:
      return h_.ReduceLanes(std::get<Op>(e->detail), type(0), arg(0));
    case Op::kReduce:
      Refuse("`reduce`: lower it first");
    case Op::kExtern: {
      std::vector<std::string> args;
      std::vector<Type> types;
      for (const Expr& a : e->args) {
        args.push_back(E(a));
        types.push_back(a->type);
      }
      const std::string& name = std::get<std::string>(e->detail);
      if (!IsIdentifier(name)) Refuse("extern \"" + name + "\": that isn't a valid C function name");
      return FormatCall(h_.Extern(name, e->type, types), args);
    }
    default:
      return Operation(e);
  }
}

}  // namespace kernpack::sdk::ir
