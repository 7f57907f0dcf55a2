// Functions for CPUs: nests that have a schedule of their own, and loops of any form, parallel and vectorized where the
// verifier will find their iterations independent.
#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

#include "ir/race.h"
#include "ir/uses.h"
#include "pass/widen.h"
#include "schedule/default/nests.h"
#include "schedule/default/rows.h"

namespace kernpack::sdk::ir {
namespace {

// Rows are of unknown length, mostly hundreds of elements.
constexpr int kGrainOfRows = 8;

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
      Loop(&copy, in_parallel);
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

  void Loop(StmtNode* s, bool in_parallel) {
    const bool independent = IsIndependentLoop(*s, nullptr);
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
