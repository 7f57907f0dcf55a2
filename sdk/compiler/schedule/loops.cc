#include <kernpack/error.h>
#include <kernpack/sdk/ir/verify.h>
#include <kernpack/sdk/ir/visitor.h>
#include <kernpack/sdk/schedule/loops.h>

#include <functional>

#include "schedule/arithmetic.h"
#include "schedule/arguments.h"

namespace kernpack::sdk::ir {
namespace {

using Change = std::function<void(const StmtNode& loop, Block* out)>;

class Changer : public Mutator {
 public:
  Changer(std::string loop, const Change& change) : loop_(std::move(loop)), change_(change) {}

  int found = 0;

  void MutateStmt(const Stmt& s, Block* out) override {
    if (s->kind != StmtKind::kFor || s->var->name != loop_) return Mutator::MutateStmt(s, out);
    ++found;
    Block same;
    Mutator::MutateStmt(s, &same);  // counts loops of this name inside
    change_(*s, out);
  }

 private:
  const std::string loop_;
  const Change& change_;
};

std::string Place(const char* primitive, const std::string& function, const std::string& loop) {
  return std::string(primitive) + ": function '" + function + "', loop '" + loop + "': ";
}

IRModule ChangeLoop(const char* primitive, const IRModule& module, const std::string& function, const std::string& loop,
                    const Change& change) {
  IRModule out = module;
  for (PrimFunc& f : out.functions) {
    if (f->name != function) continue;
    const std::string place = Place(primitive, function, loop);
    const Change checked = [&](const StmtNode& s, Block* block) {
      if (s.for_kind != ForKind::kSerial) KP_THROW(ValueError) << place << "it is not serial any more";
      if (LeavesLoop(s.body)) {
        KP_THROW(ValueError)
            << place << "it holds `break` or `continue`, and stays as it is; schedule a loop around or inside it";
      }
      change(s, block);
    };
    Changer changer(loop, checked);
    Block body = changer.MutateBlock(f->body);
    if (!changer.found) KP_THROW(NameError) << place << "there is no such loop";
    if (changer.found > 1)
      KP_THROW(ValueError) << place << "there are " << changer.found << " loops of this name; rename the others";
    f = WithBody(*f, std::move(body));
    Verify(out);
    return out;
  }
  KP_THROW(NameError) << primitive << ": the module has no function '" << function << '\'';
}

IRModule MarkLoop(const char* primitive, const IRModule& module, const std::string& function, const std::string& loop,
                  ForKind kind, int lanes, Tail tail) {
  return ChangeLoop(primitive, module, function, loop, [&](const StmtNode& s, Block* out) {
    out->push_back(At(s.position, For(s.var, s.args[0], s.args[1], s.body, kind, lanes, tail)));
  });
}

// A value that is used more than once.
Expr Bound(const char* name, const Expr& value, Block* out) {
  if (value->op == Op::kConst || value->op == Op::kVar) return value;
  const Var v = MakeVar(name, value->type);
  out->push_back(Let(v, value));
  return Expr(v);
}

}  // namespace

IRModule SplitLoop(const IRModule& module, const std::string& function, const std::string& loop, int64_t factor,
                   Tail tail) {
  if (factor < 1 || factor > (1 << 30))
    KP_THROW(ValueError) << Place("split", function, loop) << "expected a factor from 1, got " << factor;
  return ChangeLoop("split", module, function, loop, [&](const StmtNode& s, Block* out) {
    const Type t = s.var->type;
    const Expr first = Bound("first", s.args[0], out), last = Bound("last", s.args[1], out);
    const Expr size = ConstInt(t, factor), zero = ConstInt(t, 0), one = ConstInt(t, 1);
    const Expr count = Bound("count", Larger(Difference(last, first), zero), out);
    const Var outer = MakeVar(s.var->name + "_o", t), inner = MakeVar(s.var->name + "_i", t);
    const Expr value = Sum(first, Sum(Product(Expr(outer), size), Expr(inner)));
    if (tail == Tail::kPeeled) {
      const Expr whole = Bound("whole", count / size, out);
      Block body{Let(s.var, value)};
      body.insert(body.end(), s.body.begin(), s.body.end());
      out->push_back(For(outer, zero, whole, {For(inner, zero, size, std::move(body))}));
      out->push_back(CloneBlock({For(s.var, Sum(first, Product(whole, size)), last, s.body)}, {})[0]);
      return;
    }
    const Expr steps = Bound("steps", (count + size - one) / size, out);
    const Block body{Let(s.var, value), If(Expr(s.var) < last, s.body)};
    out->push_back(For(outer, zero, steps, {For(inner, zero, size, body)}));
  });
}

IRModule UnrollLoop(const IRModule& module, const std::string& function, const std::string& loop) {
  return ChangeLoop("unroll", module, function, loop, [&](const StmtNode& s, Block* out) {
    int64_t first = 0, last = 0;
    if (!IsConstInt(s.args[0], &first) || !IsConstInt(s.args[1], &last))
      KP_THROW(ValueError) << Place("unroll", function, loop) << "its bounds are not constant; split it first";
    if (last > first && static_cast<uint64_t>(last) - static_cast<uint64_t>(first) > uint64_t{kMaxUnrolled}) {
      KP_THROW(ValueError) << Place("unroll", function, loop) << "it has more than " << kMaxUnrolled
                           << " iterations; split it and unroll the inner loop";
    }
    out->push_back(At(s.position, For(s.var, s.args[0], s.args[1], s.body, ForKind::kUnrolled)));
  });
}

IRModule ParallelLoop(const IRModule& module, const std::string& function, const std::string& loop, int grain) {
  return MarkLoop("parallel", module, function, loop, ForKind::kParallel, grain, Tail::kPeeled);
}

IRModule VectorizeLoop(const IRModule& module, const std::string& function, const std::string& loop, int lanes,
                       Tail tail) {
  return MarkLoop("vectorize", module, function, loop, ForKind::kVectorized, lanes, tail);
}

}  // namespace kernpack::sdk::ir
