// Parts that functions of f32 and of f64 have in common.
#include "pass/math.h"

namespace kernpack::sdk::ir {

std::vector<Expr> OrWhereRare(const std::vector<Expr>& usual, const Expr& is_rare,
                              const std::function<std::vector<Expr>(const Binder&)>& rare, const Binder& bind) {
  const int lanes = is_rare->type.lanes;
  const Expr at = lanes == 1 ? Expr(0) : Ramp(Expr(0), Expr(1), lanes);
  const Expr where = bind("rare", is_rare);
  Block body;
  const std::vector<Expr> instead = rare(Binder{&body});
  std::vector<Expr> values;
  for (size_t i = 0; i < usual.size(); ++i) {
    const Buffer buffer = MakeBuffer("part", ElementOf(usual[i]->type), {Expr(lanes)}, Scope::kLocal);
    bind.out->push_back(Alloc(buffer));
    bind.out->push_back(Store(buffer, {at}, usual[i]));
    body.push_back(Store(buffer, {at}, instead[i], where));
    values.push_back(Load(buffer, {at}));
  }
  bind.out->push_back(If(lanes == 1 ? where : ReduceLanes(Op::kOr, where), std::move(body)));
  for (Expr& value : values) value = bind("part", value);
  return values;
}

Expr SignedPower(const Expr& x, const Expr& y, const Expr& of_magnitude, const Binder& bind) {
  const Type bits(KP_DTYPE_UINT, x->type.bits);
  const Expr whole = bind("whole", Unary(Op::kTrunc, y) == y);
  const Expr half = bind("half", y * Constant(x, 0.5));
  const Expr odd = whole & (Unary(Op::kTrunc, half) != half);
  const Expr sign = Const(WithLanes(bits, x->type.lanes), uint64_t{1} << (x->type.bits - 1));
  const Expr flipped = Bitcast(ElementOf(x->type), Bitcast(bits, of_magnitude) ^ (Bitcast(bits, x) & sign));
  const Expr power = bind("p", Select(odd, flipped, of_magnitude));
  const Expr zero = Constant(x, 0.0), one = Constant(x, 1.0);
  const Expr undefined = (x < zero) & (x > Constant(x, -kInf)) & ~whole;
  const Expr nan = (x != x) | (y != y) | undefined;
  return Select((x == one) | (y == zero), one, Select(nan, Constant(x, kNan), power));
}

}  // namespace kernpack::sdk::ir
