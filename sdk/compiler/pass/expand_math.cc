// Math functions of f32 and f64 become arithmetic.
// Before:
//   func f(x: f32[N]) -> (o: f32[N]) {
//     o[0] = tanh(x[0])
//   }
// After:
//   func f(x: f32[N]) -> (o: f32[N]) {
//     let x_1: f32 = x[0]
//     let x_2: f32 = strict(minimum(9.375, maximum(-9.375, x_1)))
//     let z: f32 = strict(x_2 * x_2)
//     let n: f32 = strict(x_2 * ((0.00010171861 * z + 0.026686257) * z + 0.8975968))
//     let d: f32 = strict(((2.1711264e-06 * z + 0.0021579) * z + 0.20297189) * z + 1.7951936)
//     let y: f32 = strict((n + n) * d / (n * n + d * d))
//     let tanh_1: f32 = strict(minimum(1.0, maximum(-1.0, y)))
//     o[0] = tanh_1
//   }
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
    if (ClassOf(e->op) != OpClass::Math && e->op != Op::kPow) return Hoister::MutateExpr(e);
    const Binder bind{Place()};
    const Expr x = bind("x", MutateExpr(e->args[0]));
    const Expr y = e->args.size() > 1 ? bind("y", MutateExpr(e->args[1])) : Expr();
    const size_t first = HowManyBefore();
    const Expr value =
        bind(OpName(e->op).data(), e->type.bits == 64 ? ExpandF64(e->op, x, y, bind) : Expand(e->op, x, y, bind));
    // The result of an expansion depends on the rounding of each of its operations: its error is the same under every option of a target.
    MakeStrict(first);
    return value;
  }

 private:
  static Expr ExpandF64(Op op, const Expr& x, const Expr& y, const Binder& bind) {
    switch (op) {
      case Op::kExp:
        return ExpandExpF64(x, bind);
      case Op::kLog:
        return ExpandLogF64(x, bind);
      case Op::kTanh:
        return ExpandTanhF64(x, bind);
      case Op::kErf:
        return ExpandErfF64(x, bind);
      case Op::kSigmoid:
        return ExpandSigmoidF64(x, bind);
      case Op::kSin:
        return ExpandSinF64(x, bind);
      case Op::kCos:
        return ExpandCosF64(x, bind);
      default:
        return ExpandPowF64(x, y, bind);
    }
  }
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
