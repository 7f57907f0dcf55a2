#include "pass/widen.h"

#include <unordered_map>

#include "pass/each.h"

namespace kernpack::sdk::ir {

bool CanWiden(const Expr& e) {
  if (e->type.lanes != 1) return false;
  if (e->op == Op::kReduce || e->op == Op::kExtern || e->op == Op::kShuffle || e->op == Op::kReduceLanes) return false;
  for (const Expr& a : e->args) {
    if (!CanWiden(a)) return false;
  }
  return true;
}

bool CanWiden(const Block& block) {
  for (const Stmt& s : block) {
    if (s->kind != StmtKind::kLet && s->kind != StmtKind::kStore && s->kind != StmtKind::kIf) return false;
    if (s->kind == StmtKind::kStore && s->buffer->shape.empty()) return false;
    for (const Expr& e : s->args) {
      if (!CanWiden(e)) return false;
    }
    if ((s->mask && !CanWiden(s->mask)) || !CanWiden(s->body) || !CanWiden(s->otherwise)) return false;
  }
  return true;
}

namespace {

class Widener {
 public:
  Widener(const Var& var, const Expr& base, int lanes, const Var& tail) : lanes_(lanes), tail_(tail) {
    known_[var.get()] = Ramp(base, ConstInt(var->type, 1), lanes);
  }

  Expr E(const Expr& e, const Expr& mask) {
    if (e->op == Op::kVar) {
      const auto found = known_.find(e->var().get());
      return found == known_.end() ? e : found->second;
    }
    std::vector<Expr> args;
    bool uniform = true;
    for (const Expr& a : e->args) {
      args.push_back(E(a, mask));
      uniform = uniform && args.back()->type.lanes == 1;
    }
    if (e->op == Op::kLoad && mask) return At(e->position, LoadUnder(mask, e->buffer(), std::move(args), uniform));
    if (e->op == Op::kMaskedLoad && (mask || !uniform)) {
      const Expr otherwise = args.back(), own = Wide(args[args.size() - 2]);
      args.resize(args.size() - 2);
      const Expr both = mask ? mask & own : own;
      if (args.empty()) return Select(both, Load(e->buffer(), {}), otherwise);
      return At(e->position, MaskedLoad(e->buffer(), OneWide(std::move(args)), both, otherwise));
    }
    if (!uniform && IsInteger(e->type)) {
      if (const Expr ramp = Affine(e->op, args)) return ramp;
    }
    return WithArgs(e, std::move(args));
  }

  Block B(const Block& block, const Expr& mask) {
    Block out;
    for (const Stmt& s : block) S(*s, mask, &out);
    return out;
  }

  Expr Wide(const Expr& e) const { return e->type.lanes == 1 ? Broadcast(e, lanes_) : e; }

 private:
  const int lanes_;
  const Var tail_;  // nullable: the mask that everything is under
  std::unordered_map<const VarNode*, Expr> known_;

  // Only one index needs lanes, so that consecutive elements stay recognisable.
  std::vector<Expr> OneWide(std::vector<Expr> indices) const {
    for (const Expr& e : indices) {
      if (e->type.lanes != 1) return indices;
    }
    indices.back() = Wide(indices.back());
    return indices;
  }

  Expr LoadUnder(const Expr& mask, const Buffer& buffer, std::vector<Expr> indices, bool uniform) const {
    // An element that all lanes read is read by one of them at least: some lane of the tail is in range.
    const bool runs = mask->op == Op::kVar && mask->var() == tail_;
    if (indices.empty() || (uniform && runs)) return Load(buffer, std::move(indices));
    return MaskedLoad(buffer, OneWide(std::move(indices)), mask, Const(buffer->element, 0));
  }

  // base + lane * stride stays so under +, - and * with the same value in all lanes.
  static Expr Affine(Op op, const std::vector<Expr>& args) {
    if (args.size() != 2) return Expr();
    const Expr &a = args[0], &b = args[1];
    const bool left = a->op == Op::kRamp && b->type.lanes == 1, right = b->op == Op::kRamp && a->type.lanes == 1;
    if (!left && !right) return Expr();
    const Expr& ramp = left ? a : b;
    const Expr& other = left ? b : a;
    const int lanes = ramp->type.lanes;
    if (op == Op::kAdd) return Ramp(ramp->args[0] + other, ramp->args[1], lanes);
    if (op == Op::kSub && left) return Ramp(ramp->args[0] - other, ramp->args[1], lanes);
    if (op == Op::kMul) return Ramp(ramp->args[0] * other, ramp->args[1] * other, lanes);
    return Expr();
  }

  void S(const StmtNode& s, const Expr& mask, Block* out) {
    if (s.kind == StmtKind::kLet) {
      const Expr value = E(s.args[0], mask);
      if (value->op == Op::kRamp) {
        // Addresses are recognised by their form, so what is a ramp stays one.
        const Expr base = Bound(value->args[0], s.var->name, out), stride = Bound(value->args[1], "stride", out);
        known_[s.var.get()] = Ramp(base, stride, lanes_);
        return;
      }
      const Var v = MakeVar(s.var->name, value->type);
      out->push_back(Let(v, value));
      known_[s.var.get()] = Expr(v);
      return;
    }
    if (s.kind == StmtKind::kStore) {
      std::vector<Expr> indices;
      for (size_t i = 0; i + 1 < s.args.size(); ++i) indices.push_back(E(s.args[i], mask));
      const Expr value = Wide(E(s.args.back(), mask));
      Expr own = s.mask ? Wide(E(s.mask, mask)) : Expr();
      if (mask) own = own ? mask & own : mask;
      out->push_back(At(s.position, Store(s.buffer, OneWide(std::move(indices)), value, own)));
      return;
    }
    const Expr condition = E(s.args[0], mask);
    if (condition->type.lanes == 1) {
      out->push_back(If(condition, B(s.body, mask), B(s.otherwise, mask)));
      return;
    }
    // Stores of the first branch must not change which lanes take the second branch.
    const Expr taken = Bound(condition, "taken", out);
    Branch(s.body, mask ? mask & taken : taken, out);
    if (!s.otherwise.empty()) Branch(s.otherwise, mask ? mask & ~taken : ~taken, out);
  }

  void Branch(const Block& block, const Expr& lanes, Block* out) {
    const Expr mask = Bound(lanes, "mask", out);
    for (Stmt& one : B(block, mask)) out->push_back(std::move(one));
  }
};

}  // namespace

Expr Widen(const Expr& e, const Var& var, const Expr& base, int lanes, const Var& mask) {
  Widener w(var, base, lanes, mask);
  return w.Wide(w.E(e, mask ? Expr(mask) : Expr()));
}

Block Widen(const Block& block, const Var& var, const Expr& base, int lanes, const Var& mask) {
  return Widener(var, base, lanes, mask).B(block, mask ? Expr(mask) : Expr());
}

}  // namespace kernpack::sdk::ir
