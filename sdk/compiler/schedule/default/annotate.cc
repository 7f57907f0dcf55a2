// Functions for CPUs: nests that have a schedule of their own, and loops of any form, parallel and vectorized where the
// verifier will find their iterations independent.
#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

#include "ir/race.h"
#include "ir/uses.h"
#include "pass/widen.h"
#include "schedule/arithmetic.h"
#include "schedule/default/nests.h"
#include "schedule/default/rows.h"

namespace kernpack::sdk::ir {
namespace {

// Rows are of unknown length, mostly hundreds of elements.
constexpr int kGrainOfRows = 8;
// Sums that share a loop.
constexpr int64_t kSeveral = 4;

class Annotator {
 public:
  Annotator(const IRModule& module, const FuncNode& f, const Processor& machine, bool tiles)
      : module_(module), machine_(machine), tiles_(tiles) {
    for (const Var& v : ShapeVars(f)) facts_.non_negative.insert(v.get());
  }

  bool IsIndependentLoop(const StmtNode& loop, const StmtNode* outer) {
    std::optional<CounterScope> counting;
    if (outer) counting.emplace(&facts_, outer->var, outer->args[0], outer->args[1]);
    return !LeavesLoop(loop.body) && !FindRace(module_, loop, &facts_) && !HasReturn(loop.body);
  }

  bool has_tiles() const { return has_tiles_; }
  std::optional<Block> Tiles(const StmtNode& s, bool in_parallel) {
    const IsIndependent is_independent = [&](const StmtNode& loop, const StmtNode* outer) {
      return IsIndependentLoop(loop, outer);
    };
    if (!tiles_) return std::nullopt;
    std::optional<Block> tiles = ScheduleColumns(s, is_independent, in_parallel, machine_);
    has_tiles_ = has_tiles_ || tiles;
    return tiles;
  }

  // Appends the statement, annotated.
  void One(const Stmt& s, bool in_parallel, Block* out) {
    if (s->kind == StmtKind::kLet) facts_.Learn(s->var, s->args[0]);
    StmtNode copy = *s;
    if (s->kind == StmtKind::kIf) {
      copy.body = Run(s->body, in_parallel);
      copy.otherwise = Run(s->otherwise, in_parallel);
    }
    if (s->kind == StmtKind::kWhile) copy.body = Run(s->body, in_parallel);
    if (s->kind == StmtKind::kFor) {
      if (const std::optional<Block> tiles = Tiles(*s, in_parallel)) {
        out->insert(out->end(), tiles->begin(), tiles->end());
        return;
      }
      const bool independent = IsIndependentLoop(*s, nullptr);
      if (independent &&
          (Groups(*s, in_parallel, out) || (in_parallel && machine_.kind == Processor::kCpu && Several(*s, out))))
        return;
      if (const std::optional<Block> strips = independent ? std::nullopt : Strips(*s)) {
        for (const Stmt& one : *strips) One(one, true, out);
        return;
      }
      Loop(&copy, independent, in_parallel);
    }
    out->push_back(std::make_shared<const StmtNode>(std::move(copy)));
  }

 private:
  const IRModule& module_;
  const Processor& machine_;
  const bool tiles_;
  bool has_tiles_ = false;
  Facts facts_;

  Block Run(const Block& block, bool in_parallel) {
    Block out;
    for (const Stmt& s : block) One(s, in_parallel, &out);
    return out;
  }

  std::optional<Block> Strips(const StmtNode& s) {
    if (machine_.kind != Processor::kCpu) return std::nullopt;
    return DistributeLoop(s,
                          [&](const StmtNode& loop, const StmtNode* outer) { return IsIndependentLoop(loop, outer); });
  }
  // Iterations that each compute sums, some at a time: what they read in common is read once, and their loops are one.
  static bool Several(const StmtNode& s, Block* out) {
    const auto is_plain = [](const Stmt& one) {
      return one->kind == StmtKind::kLet || (one->kind == StmtKind::kStore && !one->mask);
    };
    if (s.var->type != kI64 || !std::all_of(s.body.begin(), s.body.end(), is_plain) || !SumsInAnyOrder(s.body))
      return false;
    const Expr &begin = s.args[0], &end = s.args[1];
    const Var group = MakeVar(s.var->name + "_o", kI64), one = MakeVar(s.var->name + "_i", kI64),
              rest = MakeVar(s.var->name, kI64);
    const Expr count = Quotient(Larger(Difference(end, begin), Expr(0)), kSeveral);
    const Expr first = Sum(begin, Product(Expr(group), Expr(kSeveral)));
    const Block several = CloneBlock(s.body, {{s.var.get(), Sum(first, Expr(one))}});
    out->push_back(For(group, Expr(0), count, {For(one, Expr(0), Expr(kSeveral), several, ForKind::kUnrolled)}));
    out->push_back(
        For(rest, Sum(begin, Product(count, Expr(kSeveral))), end, CloneBlock(s.body, {{s.var.get(), Expr(rest)}})));
    return true;
  }
  // True if each statement's sum can be computed in vectors, and there is one.
  static bool SumsInAnyOrder(const Block& block) {
    class Finder : public Visitor {
     public:
      bool any = false, all = true;
      void VisitExpr(const Expr& e) override {
        if (e->op == Op::kReduce) {
          const bool in_vectors = std::get<Reduction>(e->detail).lanes > 0 && CanWiden(e->args[2]);
          any = any || in_vectors;
          all = all && in_vectors;
        }
        Visitor::VisitExpr(e);
      }
    } finder;
    finder.VisitBlock(block);
    return finder.any && finder.all;
  }

  // Rows of a loop in groups.
  bool Groups(const StmtNode& s, bool in_parallel, Block* out) {
    if (machine_.kind != Processor::kCpu) return false;
    const std::optional<Block> groups =
        DistributeRows(s, [&](const StmtNode& loop, const StmtNode* outer) { return IsIndependentLoop(loop, outer); });
    if (!groups) return false;
    StmtNode loop = *groups->back();
    if (!in_parallel) {
      if (!IsIndependentLoop(loop, nullptr)) return false;
      loop.for_kind = ForKind::kParallel;
      loop.lanes = 1;
    }
    const CounterScope counting(&facts_, loop.var, loop.args[0], loop.args[1]);
    loop.body = Run(loop.body, true);
    out->push_back(std::make_shared<const StmtNode>(std::move(loop)));
    return true;
  }

  void Loop(StmtNode* s, bool independent, bool in_parallel) {
    if (independent && CanWiden(s->body) && machine_.kind != Processor::kGpu) {
      s->for_kind = ForKind::kVectorized;
      s->lanes = machine_.Lanes(WidestBits(s->body));
      s->tail = machine_.tail;
      return;
    }
    if (independent && !in_parallel && !AllocatesPersistent(s->body)) {
      s->for_kind = ForKind::kParallel;
      s->lanes = kGrainOfRows;
    }
    const CounterScope counting(&facts_, s->var, s->args[0], s->args[1]);
    s->body = Run(s->body, in_parallel || s->for_kind == ForKind::kParallel);
  }

  template <class F>
  static bool Any(const Block& block, F f) {
    return std::any_of(block.begin(), block.end(),
                       [&](const Stmt& s) { return f(*s) || Any(s->body, f) || Any(s->otherwise, f); });
  }
  static bool HasReturn(const Block& block) {
    return Any(block, [](const StmtNode& s) { return s.kind == StmtKind::kReturn; });
  }
  static bool AllocatesPersistent(const Block& block) {
    return Any(block,
               [](const StmtNode& s) { return s.kind == StmtKind::kAlloc && s.buffer->scope == Scope::kPersistent; });
  }
};

}  // namespace

namespace {

using OwnSchedule =
    std::function<std::optional<Block>(const Stmt& s, const Surroundings& around, Annotator& annotator)>;

// Each statement by a schedule of its own, if there is one.
Block ScheduleEach(const IRModule& module, const FuncNode& f, const Processor& machine, const OwnSchedule& schedule,
                   bool* tiles) {
  Annotator annotator(module, f, machine, *tiles);
  Surroundings around{&f, {}};
  Block out;
  for (const Stmt& s : f.body) {
    if (const std::optional<Block> own = schedule(s, around, annotator)) {
      out.insert(out.end(), own->begin(), own->end());
    } else {
      annotator.One(s, false, &out);
    }
    if (s->kind == StmtKind::kLet) around.lets.insert(s->var.get());
  }
  *tiles = annotator.has_tiles();
  return out;
}

}  // namespace

Block ScheduleForCpu(const IRModule& module, const FuncNode& f, const Processor& machine, bool* tiles) {
  return ScheduleEach(
      module, f, machine,
      [&](const Stmt& s, const Surroundings& around, Annotator& annotator) {
        if (const std::optional<Matmul> matmul = MatchMatmul(around, s))
          return std::optional(ScheduleMatmul(*matmul, machine));
        if (std::optional<Block> own = annotator.Tiles(*s, false)) return own;
        const std::optional<Lifted> lifted = LiftNest(around, s);
        return lifted ? ScheduleNestForCpu(*lifted, machine) : std::nullopt;
      },
      tiles);
}

Block ScheduleForGpu(const IRModule& module, const FuncNode& f, const Processor& machine) {
  bool tiles = false;
  return ScheduleEach(
      module, f, machine,
      [&](const Stmt& s, const Surroundings& around, Annotator& annotator) {
        const IsIndependent is_independent = [&](const StmtNode& loop, const StmtNode* outer) {
          return annotator.IsIndependentLoop(loop, outer);
        };
        if (std::optional<Block> rows = LaunchRows(*s, is_independent, machine)) return rows;
        const std::optional<Matmul> matmul = MatchMatmul(around, s);
        if (std::optional<Block> tiles = matmul ? ScheduleMatmulForGpu(*matmul, machine) : std::nullopt) return tiles;
        const std::optional<Lifted> lifted = LiftNest(around, s);
        return lifted ? std::optional(ScheduleNestForGpu(*lifted, machine)) : std::nullopt;
      },
      &tiles);
}

}  // namespace kernpack::sdk::ir
