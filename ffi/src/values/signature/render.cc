#include "values/signature/render.h"

#include <utility>
#include <vector>

namespace kernpack::host {
namespace {

using signature::DimOp;
using signature::Op;

// A piece of text and how tightly its outermost operator binds.
struct Piece {
  std::string text;
  int binds;
};
enum { kSum = 1, kProduct = 2, kSign = 3, kAtom = 4 };

std::string Wrap(const Piece& piece, int at_least) {
  return piece.binds < at_least ? "(" + piece.text + ")" : piece.text;
}

Piece Infix(const Piece& a, const char* op, const Piece& b, int binds) {
  // Left-associative: the right side needs parentheses at equal strength.
  return {Wrap(a, binds) + " " + op + " " + Wrap(b, binds + 1), binds};
}

Piece Binary(Op op, const Piece& a, const Piece& b) {
  switch (op) {
    case Op::kAdd:
      return Infix(a, "+", b, kSum);
    case Op::kSubtract:
      return Infix(a, "-", b, kSum);
    case Op::kMultiply:
      return Infix(a, "*", b, kProduct);
    case Op::kFloorDivide:
      return Infix(a, "//", b, kProduct);
    case Op::kModulo:
      return Infix(a, "%", b, kProduct);
    default: {
      const char* name = op == Op::kMin ? "min(" : op == Op::kMax ? "max(" : "ceildiv(";
      return {name + a.text + ", " + b.text + ")", kAtom};
    }
  }
}

}  // namespace

std::string RenderExpression(signature::View p, const uint32_t** code) {
  std::vector<Piece> stack;
  const uint32_t* at = *code;
  for (; static_cast<Op>(*at & 0xff) != Op::kEnd; ++at) {
    const Op op = static_cast<Op>(*at & 0xff);
    const uint32_t operand = signature::Operand(*at);
    switch (op) {
      case Op::kConst:
        stack.push_back({std::to_string(operand), kAtom});
        break;
      case Op::kWide:
        stack.push_back({std::to_string(at[1] | static_cast<uint64_t>(at[2]) << 32), kAtom});
        at += 2;
        break;
      case Op::kDim:
        stack.push_back({p.DimName(operand), kAtom});
        break;
      case Op::kInt:
        stack.push_back({p.ParamName(p.IntParam(operand)), kAtom});
        break;
      case Op::kItem:
        stack.push_back(
            {std::string(p.ParamName(p.IntParam(operand & 0xff))) + "[" + std::to_string(operand >> 8) + "]", kAtom});
        break;
      case Op::kNumel:
        stack.push_back({std::string("numel(") + p.ParamName(static_cast<int>(operand)) + ")", kAtom});
        break;
      case Op::kItemSize:
        stack.push_back({std::string("itemsize(") + p.Text(*p.DTypeSet(static_cast<int>(operand))) + ")", kAtom});
        break;
      case Op::kNegate:
        stack.back() = {"-" + Wrap(stack.back(), kSign), kSign};
        break;
      default: {
        const Piece right = std::move(stack.back());
        stack.pop_back();
        stack.back() = Binary(op, stack.back(), right);
      }
    }
  }
  *code = at + 1;
  return stack.back().text;
}

std::string RenderDim(signature::View p, uint32_t dim) {
  const uint32_t operand = signature::Operand(dim);
  switch (signature::GetDimOp(dim)) {
    case DimOp::kAny:
      return "_";
    case DimOp::kConst:
      return std::to_string(operand);
    case DimOp::kVar:
      return p.DimName(operand);
    case DimOp::kStar:
      return std::string("*") + p.StarName(operand);
    case DimOp::kInt:
      return p.ParamName(p.IntParam(operand));
    default: {
      const uint32_t* code = p.words + operand;
      return RenderExpression(p, &code);
    }
  }
}

std::string RenderCondition(signature::View p, const uint32_t* record) {
  static constexpr const char* kRelations[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
  const uint32_t* code = record + 1;
  std::string text = RenderExpression(p, &code);
  for (uint32_t i = 0; i < *record >> 16; ++i) {
    text += kRelations[*code++];
    text += RenderExpression(p, &code);
  }
  return text;
}

}  // namespace kernpack::host
