#include <kernpack/error.h>
#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/function.h"
#include "codegen/llvm/types.h"

namespace kernpack::sdk::ir {

llvm::Value* FunctionGenerator::CallExtern(const ExprNode& e) {
  std::vector<llvm::Value*> args;
  std::vector<llvm::Type*> types;
  for (const Expr& a : e.args) {
    args.push_back(E(a));
    types.push_back(args.back()->getType());
  }
  auto* type = llvm::FunctionType::get(ValueType(b_.getContext(), e.type), types, false);
  llvm::CallInst* call = b_.CreateCall(module_.getOrInsertFunction(std::get<std::string>(e.detail), type), args);
  // C's calling convention leaves the upper bits of narrow integers open.
  for (size_t i = 0; i < args.size(); ++i) {
    if (IsInteger(e.args[i]->type) && e.args[i]->type.bits < 32) {
      call->addParamAttr(static_cast<unsigned>(i),
                         IsSigned(e.args[i]->type) ? llvm::Attribute::SExt : llvm::Attribute::ZExt);
    }
  }
  return call;
}

// Its operations have no permissions but contraction.
llvm::Value* FunctionGenerator::StrictValue(const Expr& e) {
  const llvm::FastMathFlags outer = b_.getFastMathFlags();
  llvm::FastMathFlags strict;
  strict.setAllowContract(outer.allowContract());
  b_.setFastMathFlags(strict);
  llvm::Value* value = E(e);
  b_.setFastMathFlags(outer);
  return value;
}

// A strict value, for what uses it. LLVM asks the last of two operations alone whether it may rewrite both.
llvm::Value* FunctionGenerator::Fenced(llvm::Value* value) {
  const bool may_be_rewritten = b_.getFastMathFlags().allowReassoc() && value->getType()->isFPOrFPVectorTy();
  if (!may_be_rewritten || !llvm::isa<llvm::Instruction>(value)) return value;
  return b_.CreateIntrinsic(llvm::Intrinsic::arithmetic_fence, {value->getType()}, {value});
}

llvm::Value* FunctionGenerator::VariableValue(const Var& var) {
  llvm::Value* value = scope_.vars.at(var.get());
  return strict_.count(var.get()) ? Fenced(value) : value;
}

void FunctionGenerator::Bind(const StmtNode& let) {
  const Expr& value = let.args[0];
  if (value->op == Op::kStrict) strict_.insert(let.var.get());
  scope_.vars[let.var.get()] = value->op == Op::kStrict ? StrictValue(value->args[0]) : E(value);
}

llvm::Value* FunctionGenerator::E(const Expr& e) {
  const auto arg = [&](size_t i) { return E(e->args[i]); };
  switch (e->op) {
    case Op::kConst:
      return values_.Const(e->type, e->bits());
    case Op::kVar:
      return VariableValue(e->var());
    case Op::kCast:
      return values_.Cast(e->args[0]->type, e->type, arg(0));
    case Op::kBitcast:
      return values_.Bitcast(e->type, arg(0));
    case Op::kSelect: {
      llvm::Value* condition = arg(0);
      llvm::Value* then = arg(1);
      return b_.CreateSelect(condition, then, arg(2));
    }
    case Op::kStrict:
      return Fenced(StrictValue(e->args[0]));
    case Op::kLoad:
    case Op::kMaskedLoad:
      return Load(*e);
    case Op::kBroadcast:
      return values_.Splat(e->type, arg(0));
    case Op::kRamp: {
      llvm::Value* base = arg(0);
      return values_.Ramp(e->type, base, arg(1));
    }
    case Op::kShuffle: {
      llvm::Value* a = arg(0);
      return values_.Shuffle(e->type, a, arg(1), std::get<std::vector<int>>(e->detail));
    }
    case Op::kReduceLanes:
      return values_.ReduceLanes(std::get<Op>(e->detail), e->args[0]->type, arg(0));
    case Op::kExtern:
      return CallExtern(*e);
    case Op::kThreadIndex:
    case Op::kBlockIndex:
    case Op::kReduce:
      KP_THROW(NotImplementedError) << "the kind llvm cannot generate '" << OpName(e->op) << "'";
    default:
      break;
  }
  if (llvm::Value* products = WordProducts(*e)) return products;
  llvm::Value* a = arg(0);
  if (!HasTwoOperands(ClassOf(e->op))) return values_.Unary(e->op, e->args[0]->type, a);
  return values_.Binary(e->op, e->args[0]->type, a, arg(1));
}

}  // namespace kernpack::sdk::ir
