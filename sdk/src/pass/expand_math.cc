#include <kernpack/error.h>
#include <kernpack/sdk/ir/pass.h>

#include "pass/each.h"
#include "pass/math.h"

namespace kernpack::sdk::ir {
namespace {

class Expander : public Hoister {
 public:
  Expr MutateExpr(const Expr& e) override {
    if (e->op == Op::kReduce) {
      KP_THROW(ValueError) << "expand_math: `reduce` must be lowered first (lower_reductions)";
    }
    if (ClassOf(e->op) != OpClass::Math && e->op != Op::kPow) return Mutator::MutateExpr(e);
    if (e->type.bits != 32) {
      KP_THROW(NotImplementedError) << OpName(e->op) << ": expanded for f32 only, got " << TypeName(e->type)
                                    << "; cast to f32, or call the C library with `extern`";
    }
    const Binder bind{Place()};
    const Expr x = MutateExpr(e->args[0]);
    return bind(OpName(e->op).data(), Expand(e->op, x, e->args.size() > 1 ? MutateExpr(e->args[1]) : Expr(), bind));
  }

 private:
  static Expr Expand(Op op, const Expr& x, const Expr& y, const Binder& bind) {
    switch (op) {
      case Op::kExp:
        return ExpandExp(x, bind);
      case Op::kLog:
        return ExpandLog(x, bind);
      case Op::kTanh:
        return ExpandTanh(x, bind);
      case Op::kErf:
        return ExpandErf(x, bind);
      case Op::kSigmoid:
        return ExpandSigmoid(x, bind);
      case Op::kSin:
        return ExpandSin(x, bind);
      case Op::kCos:
        return ExpandCos(x, bind);
      default:
        return ExpandPow(x, y, bind);
    }
  }
};

}  // namespace

IRModule ExpandMath(const IRModule& module) { return RewriteEach<Expander>(module); }

}  // namespace kernpack::sdk::ir
