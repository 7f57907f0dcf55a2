// Constants are folded, and code without effect is removed.
// Before:
//   func f(x: f32[N]) -> (o: f32[N]) {
//     let k: i64 = 2 * 3 + 1
//     if k > 9 {
//       o[0] = x[0]
//     } else {
//       o[k] = x[k] * 1.0
//     }
//   }
// After:
//   func f(x: f32[N]) -> (o: f32[N]) {
//     o[7] = x[7]
//   }
#include <kernpack/sdk/ir/pass.h>

#include <unordered_set>

#include "ir/scalar.h"
#include "pass/each.h"

namespace kernpack::sdk::ir {
namespace {

// The lane of a constant or of a broadcast one.
const ExprNode* FindConstant(const Expr& e) {
  if (e->op == Op::kConst) return e.get();
  return e->op == Op::kBroadcast && e->args[0]->op == Op::kConst ? e->args[0].get() : nullptr;
}
bool IsInt(const Expr& e, int64_t value) {
  int64_t got = 0;
  return IsConstInt(e, &got) && got == value;
}
bool IsFloatOne(const Expr& e) {
  const ExprNode* c = FindConstant(e);
  return c && IsFloat(c->type) && DoubleFromLane(c->type, c->bits()) == 1.0;
}

class Simplifier : public Mutator {
 public:
  Expr MutateExpr(const Expr& e) override {
    const Expr s = Mutator::MutateExpr(e);
    if (s->args.empty() || s->op == Op::kStrict) return s;
    const ExprNode* a = FindConstant(s->args[0]);
    const ExprNode* b = s->args.size() > 1 ? FindConstant(s->args[1]) : nullptr;
    switch (s->op) {
      case Op::kCast:
        if (a) return Const(s->type, EvalCast(a->type, s->type, a->bits()));
        return s->args[0]->type == s->type ? s->args[0] : s;
      case Op::kBitcast:
        if (a) return Const(s->type, EvalBitcast(a->type, s->type, a->bits()));
        return s->args[0]->type == s->type ? s->args[0] : s;
      case Op::kSelect:
        return a ? (a->bits() ? s->args[1] : s->args[2]) : s;
      default:
        break;
    }
    const OpClass c = ClassOf(s->op);
    // Math functions are what their expansion says, not what the C library of this machine does.
    if (c == OpClass::Math || s->op == Op::kPow) return s;
    if (HasTwoOperands(c)) {
      return a && b ? Const(s->type, EvalBinary(s->op, a->type, a->bits(), b->bits())) : Neutral(s);
    }
    const bool folds = c == OpClass::Unary || c == OpClass::Rounding;
    return a && folds ? Const(s->type, EvalUnary(s->op, a->type, a->bits())) : s;
  }

  void MutateStmt(const Stmt& s, Block* out) override {
    Block made;
    Mutator::MutateStmt(s, &made);
    for (Stmt& one : made) {
      if (HasNoEffect(*one)) continue;
      if (one->kind == StmtKind::kLet && (IsConst(one->args[0]) || one->args[0]->op == Op::kVar)) {
        substitution_[one->var.get()] = one->args[0];
        continue;
      }
      if (one->kind == StmtKind::kIf && FindConstant(one->args[0])) {
        const Block& taken = FindConstant(one->args[0])->bits() ? one->body : one->otherwise;
        out->insert(out->end(), taken.begin(), taken.end());
        continue;
      }
      out->push_back(std::move(one));
    }
  }

 private:
  static bool HasNoEffect(const StmtNode& s) {
    if (s.kind == StmtKind::kIf) return s.body.empty() && s.otherwise.empty();
    if (s.kind == StmtKind::kWhile) return FindConstant(s.args[0]) && !FindConstant(s.args[0])->bits();
    if (s.kind != StmtKind::kFor) return false;
    int64_t first = 0, last = 0;
    return s.body.empty() || (IsConstInt(s.args[0], &first) && IsConstInt(s.args[1], &last) && first >= last);
  }

  // x + 0, x * 1 and the like. x + 0.0 stays: it turns -0.0 into 0.0.
  static Expr Neutral(const Expr& s) {
    const Expr &a = s->args[0], &b = s->args[1];
    const bool integer = IsInteger(s->type);
    if (integer && (s->op == Op::kAdd || s->op == Op::kOr || s->op == Op::kXor) && IsInt(b, 0)) return a;
    if (integer && (s->op == Op::kAdd || s->op == Op::kOr || s->op == Op::kXor) && IsInt(a, 0)) return b;
    if (integer && (s->op == Op::kSub || s->op == Op::kShl || s->op == Op::kShr) && IsInt(b, 0)) return a;
    if (integer && s->op == Op::kMul && IsInt(b, 1)) return a;
    if (integer && s->op == Op::kMul && IsInt(a, 1)) return b;
    if (integer && s->op == Op::kMul && (IsInt(a, 0) || IsInt(b, 0))) return ConstInt(s->type, 0);
    if (integer && (s->op == Op::kDiv || s->op == Op::kFloorDiv) && IsInt(b, 1)) return a;
    if ((s->op == Op::kMul || s->op == Op::kDiv) && IsFloatOne(b)) return a;
    if (IsBool(s->type) && s->op == Op::kAnd && FindConstant(a)) return FindConstant(a)->bits() ? b : a;
    if (IsBool(s->type) && s->op == Op::kAnd && FindConstant(b)) return FindConstant(b)->bits() ? a : b;
    return s;
  }
};

// Drops bindings that nobody uses, from the last one up.
class UnusedBindings : public Visitor {
 public:
  Block Drop(const Block& block) {
    Block kept;
    for (auto s = block.rbegin(); s != block.rend(); ++s) {
      if ((*s)->kind == StmtKind::kLet && !used_.count((*s)->var.get())) continue;
      StmtNode copy = **s;
      copy.body = Drop((*s)->body);
      copy.otherwise = Drop((*s)->otherwise);
      VisitStmt(*s);
      kept.push_back(std::make_shared<const StmtNode>(std::move(copy)));
    }
    return Block(kept.rbegin(), kept.rend());
  }

  void VisitExpr(const Expr& e) override {
    if (e->op == Op::kVar) used_.insert(e->var().get());
    Visitor::VisitExpr(e);
  }
  void VisitBlock(const Block&) override {}  // Drop() has been there

 private:
  std::unordered_set<const VarNode*> used_;
};

}  // namespace

IRModule Simplify(const IRModule& module) {
  IRModule out = RewriteEach<Simplifier>(module);
  for (PrimFunc& f : out.functions) {
    f = WithBody(*f, UnusedBindings().Drop(f->body));
  }
  return out;
}

}  // namespace kernpack::sdk::ir
