// Accesses that are not provably in range are checked first. One that fails uses no memory.
// Before:
//   func f(x: f32[N], at: i64[M]) -> (o: f32[1]) {
//     o[0] = x[at[0]]
//   }
// After:
//   func f(x: f32[N], at: i64[M]) -> (o: f32[1]) {
//     assert 0 >= 0 & 0 < M, IndexError "f: at[0]: index {} is out of range for axis 0 of extent {}", 0, M
//     let at_1: i64 = load_if(at[0], 0 >= 0 & 0 < M, 0)
//     assert at_1 >= 0 & at_1 < N, IndexError "f: x[at[0]]: index {} is out of range for axis 0 of extent {}", at_1, N
//     o[0] = load_if(x[at_1], at_1 >= 0 & at_1 < N, 0.0)
//   }
#include <kernpack/sdk/ir/pass.h>
#include <kernpack/sdk/ir/visitor.h>

#include <utility>

#include "ir/message.h"
#include "pass/each.h"
#include "pass/inside.h"

namespace kernpack::sdk::ir {
namespace {

// Longer index expressions are bound, which are written out several times in a check.
constexpr uint32_t kMostRepeated = 16;

bool ReadsMemory(const Expr& e) {
  if (e->op == Op::kLoad || e->op == Op::kMaskedLoad) return true;
  for (const Expr& a : e->args) {
    if (ReadsMemory(a)) return true;
  }
  return false;
}

Expr AsI64(const Expr& e) { return ElementOf(e->type) == kI64 ? e : Cast(kI64, e); }

Expr Wide(const Expr& e, int lanes) { return e->type.lanes == lanes ? e : Broadcast(e, lanes); }

class Checker : public Mutator {
 public:
  Checker(const FuncNode& f, const std::vector<AccessLabel>& labels) : f_(f), labels_(labels), insides_(f) {}

  Expr MutateExpr(const Expr& e) override {
    if (e->op != Op::kLoad && e->op != Op::kMaskedLoad) return Mutator::MutateExpr(e);
    const bool masked = e->op == Op::kMaskedLoad;
    std::vector<Expr> args = MutateAll(e->args);
    const Expr otherwise = masked ? args.back() : Const(e->buffer()->element, 0);
    const Expr mask = masked ? args[args.size() - 2] : Expr();
    args.resize(e->buffer()->shape.size());
    const Expr allowed = Check({e->buffer(), e->args, e->position}, &args, mask, e->type.lanes);
    if (!allowed) return masked ? MaskedLoad(e->buffer(), args, mask, otherwise) : Load(e->buffer(), args);
    return MaskedLoad(e->buffer(), args, allowed, otherwise);
  }

  void MutateStmt(const Stmt& s, Block* out) override {
    Block outer = std::exchange(before_, {});
    const Stmt made = s->kind == StmtKind::kStore ? CheckStore(*s) : nullptr;
    std::vector<Expr> args = made ? std::vector<Expr>() : MutateAll(s->args);
    std::swap(outer, before_);
    for (Stmt& one : outer) out->push_back(std::move(one));
    if (made) return out->push_back(made);
    Block body;
    if (s->kind == StmtKind::kFor) {
      insides_.Count(*s, [&] { body = MutateBlock(s->body); });
    } else {
      body = MutateBlock(s->body);
    }
    Block otherwise = MutateBlock(s->otherwise);
    out->push_back(Rebuild(*s, std::move(args), std::move(body), std::move(otherwise)));
    if (s->kind == StmtKind::kLet) insides_.Bind(*out->back());
  }

 private:
  const FuncNode& f_;
  const std::vector<AccessLabel>& labels_;
  Insides insides_;
  Block before_;  // what must run before the statement at hand

  // As it is written: `args` begins with the indices.
  struct Access {
    const Buffer& buffer;
    const std::vector<Expr>& args;
    Position position;
  };

  // The interpreter's order: the value, the indices, the mask.
  Stmt CheckStore(const StmtNode& s) {
    const Expr value = MutateExpr(s.args.back());
    std::vector<Expr> indices = MutateAll({s.args.begin(), s.args.end() - 1});
    const Expr mask = s.mask ? MutateExpr(s.mask) : Expr();
    const Expr allowed = Check({s.buffer, s.args, s.position}, &indices, mask, value->type.lanes);
    return At(s.position, Store(s.buffer, std::move(indices), value, allowed ? allowed : mask));
  }

  // Binds an expression that is used several times, so that it is evaluated once.
  Expr Once(const char* name, const Expr& e) {
    return ReadsMemory(e) || e->size > kMostRepeated ? Bound(e, name, &before_) : e;
  }
  // Consecutive elements are told by their ramps.
  Expr OnceIndex(const Expr& e) {
    if (e->op != Op::kRamp) return Once("at", e);
    return Ramp(Once("at", e->args[0]), Once("stride", e->args[1]), e->type.lanes);
  }

  // Asserts before the statement for what may be outside; `indices` become what is to be accessed, under the mask that this
  // gives. None: nothing may be outside.
  Expr Check(const Access& access, std::vector<Expr>* indices, Expr mask, int lanes) {
    Expr allowed;
    for (size_t d = 0; d < indices->size(); ++d) {
      const Expr extent = AsI64(access.buffer->shape[d]);
      if (insides_.Has((*indices)[d], extent)) continue;
      if (!allowed && mask) mask = Once("mask", mask);
      const Expr index = (*indices)[d] = OnceIndex((*indices)[d]);
      const Expr at = AsI64(index), inside = (at >= Expr(0)) & (at < extent);
      const std::string message = Message(access, d);
      if (at->type.lanes == 1) {
        const Expr runs = !mask || mask->type.lanes == 1 ? mask : ReduceLanes(Op::kOr, mask);
        before_.push_back(Assert(runs ? ~runs | inside : inside, message, "IndexError", {at, extent}));
      } else {
        const Expr outside = mask ? mask & ~inside : ~inside;
        before_.push_back(If(ReduceLanes(Op::kOr, outside), FirstLane(outside, at, extent, message)));
      }
      const Expr here = Wide(inside, lanes);
      allowed = allowed ? allowed & here : mask ? Wide(mask, lanes) & here : here;
    }
    return allowed;
  }

  // Fails with the index of the first lane that is outside.
  static Block FirstLane(const Expr& outside, const Expr& at, const Expr& extent, const std::string& message) {
    const int lanes = at->type.lanes;
    Block out;
    const Expr number = Ramp(ConstInt(kI32, 0), ConstInt(kI32, 1), lanes);
    const Expr first =
        Bound(ReduceLanes(Op::kMin, Select(outside, number, ConstInt(WithLanes(kI32, lanes), lanes))), "lane", &out);
    const Expr chosen = Select(number == Broadcast(first, lanes), at, ConstInt(WithLanes(kI64, lanes), 0));
    out.push_back(Assert(Expr(false), message, "IndexError", {ReduceLanes(Op::kAdd, chosen), extent}));
    return out;
  }

  std::string Message(const Access& access, size_t axis) const {
    const size_t number = access.position.access, rank = access.buffer->shape.size();
    if (number != 0 && number <= labels_.size()) {
      const AccessLabel& label = labels_[number - 1];
      if (axis + label.rank >= rank) return OutOfRangeMessage(f_.name, label.text, axis + label.rank - rank);
    }
    return OutOfRangeMessage(f_.name, AccessText(access.buffer, access.args), axis);
  }
};

class Labeller : public Mutator {
 public:
  std::vector<AccessLabel> labels;

  Expr MutateExpr(const Expr& e) override {
    const Expr made = Mutator::MutateExpr(e);
    return e->op == Op::kLoad || e->op == Op::kMaskedLoad ? At(Labelled(e->position, e->buffer(), e->args), made)
                                                          : made;
  }
  void MutateStmt(const Stmt& s, Block* out) override {
    Mutator::MutateStmt(s, out);
    if (s->kind == StmtKind::kStore) out->back() = At(Labelled(s->position, s->buffer, s->args), out->back());
  }

 private:
  Position Labelled(Position position, const Buffer& buffer, const std::vector<Expr>& args) {
    labels.push_back({AccessText(buffer, args), buffer->shape.size()});
    position.access = static_cast<uint32_t>(labels.size());
    return position;
  }
};

}  // namespace

LabelledModule LabelAccesses(const IRModule& module) {
  LabelledModule out{module, {}};
  Labeller labeller;
  for (PrimFunc& f : out.module.functions) f = WithBody(*f, labeller.MutateBlock(f->body));
  out.labels = std::move(labeller.labels);
  return out;
}

IRModule CheckAccesses(const IRModule& module, const std::vector<AccessLabel>& labels) {
  IRModule out = module;
  if (module.checked) return out;
  for (PrimFunc& f : out.functions) f = WithBody(*f, Checker(*f, labels).MutateBlock(f->body));
  out.checked = true;
  return out;
}

}  // namespace kernpack::sdk::ir
