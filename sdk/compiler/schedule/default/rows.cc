#include "schedule/default/rows.h"

#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

#include "ir/take_in.h"
#include "pass/widen.h"
#include "schedule/arithmetic.h"
#include "schedule/default/nests.h"

namespace kernpack::sdk::ir {
namespace {

constexpr int64_t kThreadsOfRow = 128;

// The reductions of order any in what a row computes once.
class Reductions : public Visitor {
 public:
  int count = 0;
  int most_lanes = 0;
  void VisitExpr(const Expr& e) override {
    if (e->op != Op::kReduce) return Visitor::VisitExpr(e);
    const int lanes = std::get<Reduction>(e->detail).lanes;
    if (!lanes) return;
    ++count;
    most_lanes = std::max(most_lanes, lanes);
  }
};

class RowWriter : public Mutator {
 public:
  // thread: its number in the block.
  RowWriter(int64_t threads, Expr thread) : threads_(threads), thread_(std::move(thread)) {}

  Block Write(const Block& row) {
    Block out;
    for (const Stmt& s : row) {
      before_.clear();
      Block own;
      Statement(*s, &own);
      out.insert(out.end(), before_.begin(), before_.end());
      out.insert(out.end(), own.begin(), own.end());
    }
    return out;
  }

  Expr MutateExpr(const Expr& e) override {
    if (e->op != Op::kReduce || !std::get<Reduction>(e->detail).lanes) return Mutator::MutateExpr(e);
    return Together(e);
  }

 private:
  const int64_t threads_;
  const Expr thread_;
  Block before_;

  // first + thread, first + thread + step, ... before end, in the loop's variable.
  Stmt Share(const Var& var, const Expr& first, const Expr& end, int64_t step, Block body) const {
    const Var turn = MakeVar(var->name + "_o", kI64);
    const Expr start = Sum(AsIndex(first), thread_);
    const Expr turns = CeilDiv(Difference(AsIndex(end), start), step);
    body.insert(body.begin(), Let(var, CastLike(var, start + Expr(turn) * Expr(step))));
    return For(turn, Expr(0), turns, std::move(body));
  }

  // Partial result t is thread t's; then halves are joined, as `lanes` does.
  Expr Together(const Expr& e) {
    const Reduction& r = std::get<Reduction>(e->detail);
    const Expr first = MutateExpr(e->args[0]), end = MutateExpr(e->args[1]);
    const Buffer partial = MakeBuffer("partial", e->type, {Expr(int64_t{r.lanes})}, Scope::kShared);
    const Expr mine = Load(partial, {thread_});
    before_.push_back(Alloc(partial));
    const Stmt update = Store(partial, {thread_}, TakeIn(r.op, mine, e->args[2]));
    before_.push_back(
        If(thread_ < Expr(int64_t{r.lanes}), {Store(partial, {thread_}, Const(e->type, IdentityOf(r.op, e->type))),
                                              Share(r.var, first, end, r.lanes, {update})}));
    before_.push_back(Barrier());
    for (int64_t half = r.lanes / 2; half; half /= 2) {
      const Expr other = Load(partial, {thread_ + Expr(half)});
      before_.push_back(If(thread_ < Expr(half), {Store(partial, {thread_}, Binary(r.op, mine, other))}));
      before_.push_back(Barrier());
    }
    return Load(partial, {Expr(0)});
  }

  void Statement(const StmtNode& s, Block* out) {
    if (s.kind == StmtKind::kLet) {
      out->push_back(Let(s.var, MutateExpr(s.args[0])));
    } else if (s.kind == StmtKind::kStore) {
      std::vector<Expr> indices = MutateAll(s.args);
      const Expr value = indices.back();
      indices.pop_back();
      out->push_back(If(thread_ == Expr(0), {At(s.position, Store(s.buffer, std::move(indices), value, s.mask))}));
      out->push_back(Barrier());
    } else if (s.kind == StmtKind::kFor) {
      out->push_back(Share(s.var, s.args[0], s.args[1], threads_, s.body));
      out->push_back(Barrier());
    } else {
      out->push_back(Alloc(s.buffer));
    }
  }
};

}  // namespace

std::optional<Block> LaunchRows(const StmtNode& loop, const IsIndependent& is_independent, const Processor& machine) {
  if (loop.kind != StmtKind::kFor || !is_independent(loop, nullptr)) return std::nullopt;
  const int64_t threads = std::min(kThreadsOfRow, machine.threads);
  Reductions reductions;
  for (const Stmt& s : loop.body) {
    const bool shared =
        s->kind == StmtKind::kFor && s->for_kind == ForKind::kSerial && CanWiden(s->body) && is_independent(*s, &loop);
    const bool once = s->kind == StmtKind::kLet || (s->kind == StmtKind::kStore && !s->mask);
    const bool kept = s->kind == StmtKind::kAlloc && s->buffer->scope == Scope::kWorkspace;
    if (!shared && !once && !kept) return std::nullopt;
    for (const Expr& e : s->args) reductions.VisitExpr(e);
  }
  const int64_t bytes = int64_t{reductions.count} * reductions.most_lanes * 8;
  if (!reductions.count || reductions.most_lanes > threads || bytes > machine.shared_bytes) return std::nullopt;

  const Expr first = AsIndex(loop.args[0]), count = Larger(Difference(AsIndex(loop.args[1]), first), Expr(0));
  const Var row = MakeVar("row", kI64), thread = MakeVar("t", kI64);
  Block out;
  Block body{Let(row, Cast(kI64, BlockIndex(0))), Let(thread, Cast(kI64, ThreadIndex(0))),
             Let(loop.var, CastLike(loop.var, Sum(first, Expr(row))))};
  for (const Stmt& s : WorkspacesByItem(RowWriter(threads, Expr(thread)).Write(loop.body), Expr(row), count, &out))
    body.push_back(s);
  out.push_back(Launch({count}, {Expr(threads)}, Expr(), std::move(body)));
  return out;
}

}  // namespace kernpack::sdk::ir
