#include "schedule/default/lift.h"

#include <kernpack/sdk/ir/equal.h>
#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

#include "schedule/state.h"
#include "schedule/unknown.h"

namespace kernpack::sdk::ir {
namespace {

// A value that is used twice is written twice: beyond this many operations it is not worth it.
constexpr int kMostOperations = 512;

class Replace : public Mutator {
 public:
  Replace(const Buffer& from, const Buffer& to) { buffers_[from.get()] = to; }
};

// Finds reads of the buffer at elements other than the stored element.
class OtherElements : public Visitor {
 public:
  explicit OtherElements(const StmtNode& store) : store_(store) {}
  bool any = false;
  void VisitExpr(const Expr& e) override {
    Visitor::VisitExpr(e);
    if ((e->op != Op::kLoad && e->op != Op::kMaskedLoad) || e->buffer() != store_.buffer) return;
    for (size_t d = 0; d + 1 < store_.args.size(); ++d) any = any || !Equal(e->args[d], store_.args[d]);
  }

 private:
  const StmtNode& store_;
};

class Operations : public Visitor {
 public:
  int count = 0;
  void VisitExpr(const Expr& e) override {
    if (++count <= kMostOperations) Visitor::VisitExpr(e);
  }
};
bool IsSmall(const Expr& e) {
  Operations operations;
  operations.VisitExpr(e);
  return operations.count <= kMostOperations;
}

using Values = std::unordered_map<const VarNode*, Expr>;

// The deepest of the values that an expression uses.
class DeepestValue : public Visitor {
 public:
  explicit DeepestValue(const Values& values) : values_(values) {}
  uint32_t depth = 0;
  void VisitExpr(const Expr& e) override {
    Visitor::VisitExpr(e);
    if (e->op != Op::kVar) return;
    const auto value = values_.find(e->var().get());
    if (value != values_.end()) depth = std::max(depth, value->second->depth);
  }

 private:
  const Values& values_;
};

// The expression with the values in it. None where that would be too large, or nested deeper than expressions may be: a chain of a
// hundred values is as deep as it is long.
std::optional<Expr> WithValues(const Expr& e, const Values& values) {
  if (!IsSmall(e)) return std::nullopt;
  DeepestValue deepest(values);
  deepest.VisitExpr(e);
  if (e->depth + deepest.depth > kMaxDepth) return std::nullopt;
  Expr out = Substitute(e, values);
  return IsSmall(out) ? std::optional(std::move(out)) : std::nullopt;
}

bool IsZero(const Expr& e) {
  int64_t value = 0;
  return IsConstInt(e, &value) && value == 0;
}

// Of the loops around one store, outermost first; null when it isn't such a nest.
Stmt Innermost(const Stmt& nest, bool with_lets, std::vector<const StmtNode*>* loops) {
  Stmt s = nest;
  for (; s->kind == StmtKind::kFor && s->body.size() == 1; s = s->body[0]) {
    if (s->for_kind != ForKind::kSerial || s->var->type != kI64 || !IsZero(s->args[0])) return nullptr;
    loops->push_back(s.get());
  }
  if (s->kind == StmtKind::kStore) return s->mask ? nullptr : s;
  if (!with_lets || s->kind != StmtKind::kFor || s->body.empty()) return nullptr;
  if (s->for_kind != ForKind::kSerial || s->var->type != kI64 || !IsZero(s->args[0])) return nullptr;
  loops->push_back(s.get());
  const Stmt& last = s->body.back();
  if (last->kind != StmtKind::kStore || last->mask) return nullptr;
  Values values;
  for (size_t i = 0; i + 1 < s->body.size(); ++i) {
    const StmtNode& let = *s->body[i];
    if (let.kind != StmtKind::kLet) return nullptr;
    const std::optional<Expr> value = WithValues(let.args[0], values);
    if (!value) return nullptr;
    values[let.var.get()] = *value;
  }
  std::vector<Expr> args;
  for (const Expr& e : last->args) {
    const std::optional<Expr> arg = WithValues(e, values);
    if (!arg) return nullptr;
    args.push_back(*arg);
  }
  const Expr value = args.back();
  args.pop_back();
  return Store(last->buffer, std::move(args), value);
}

// The one `reduce` of a value, wherever it is; none where there are several.
class OneReduce : public Visitor {
 public:
  Expr found;
  bool several = false;
  void VisitExpr(const Expr& e) override {
    if (e->op != Op::kReduce) return Visitor::VisitExpr(e);
    several = several || (found && !Equal(found, e));
    found = e;
  }
};
class ReduceReader : public Mutator {
 public:
  explicit ReduceReader(Expr instead) : instead_(std::move(instead)) {}
  Expr MutateExpr(const Expr& e) override { return e->op == Op::kReduce ? instead_ : Mutator::MutateExpr(e); }

 private:
  const Expr instead_;
};

// The `reduce` of a stage becomes how the stage joins values.
bool TakeReduce(const Expr& e, Stage* stage) {
  const Reduction& r = std::get<Reduction>(e->detail);
  if (!IsZero(e->args[0]) || r.var->type != kI64 || IsArg(r.op)) return false;
  stage->reduced.push_back({r.var, e->args[1]});
  stage->combine = Combine{r.op, r.lanes};
  stage->body = e->args[2];
  return true;
}

}  // namespace

std::optional<Lifted> LiftNest(const Surroundings& around, const Stmt& nest, bool with_lets) {
  std::vector<const StmtNode*> loops;
  const Stmt store = Innermost(nest, with_lets, &loops);
  if (!store || loops.empty() || loops.size() + 1 != store->args.size()) return std::nullopt;
  Stage stage;
  stage.name = store->buffer->name;
  stage.is_result = true;
  for (size_t d = 0; d + 1 < store->args.size(); ++d) {
    const auto loop = std::find_if(loops.begin(), loops.end(), [&](const StmtNode* l) {
      return store->args[d]->op == Op::kVar && store->args[d]->var() == l->var;
    });
    if (loop == loops.end()) return std::nullopt;
    for (const StageAxis& a : stage.spatial) {
      if (a.var == (*loop)->var || a.var->name == (*loop)->var->name) return std::nullopt;
    }
    stage.spatial.push_back({(*loop)->var, (*loop)->args[1]});
  }
  stage.body = store->args.back();
  if (const Expr value = stage.body; value->op == Op::kReduce && !TakeReduce(value, &stage)) return std::nullopt;
  if (stage.body->type != store->buffer->element) return std::nullopt;

  if (FindUnknown(stage, CollectVariables(*around.function), around.lets)) return std::nullopt;
  OtherElements others(*store);
  others.VisitExpr(stage.body);
  if (others.any) return std::nullopt;

  stage.buffer = MakeStageBuffer(stage, store->buffer->element);
  Lifted lifted;
  lifted.target = store->buffer;
  lifted.program.function.name = around.function->name;
  lifted.program.function.params = around.function->params;
  lifted.program.stages.push_back(std::move(stage));
  return lifted;
}

std::optional<Lifted> WithoutReduce(const Lifted& lifted) {
  const Stage& whole = lifted.stage();
  OneReduce reduce;
  reduce.VisitExpr(whole.body);
  if (whole.combine || !reduce.found || reduce.several) return std::nullopt;
  Stage all;
  all.name = whole.name + "_local";
  const auto taken = [&](const Param& p) { return p.name() == all.name; };
  while (std::any_of(lifted.program.function.params.begin(), lifted.program.function.params.end(), taken))
    all.name += "_";
  std::unordered_map<const VarNode*, Expr> values;
  std::vector<Expr> indices;
  for (const StageAxis& a : whole.spatial) {
    all.spatial.push_back({MakeVar(a.var->name, kI64), a.extent});
    values[a.var.get()] = Expr(all.spatial.back().var);
    indices.emplace_back(a.var);
  }
  const Expr own = Substitute(reduce.found, values);
  if (!TakeReduce(own, &all)) return std::nullopt;
  Stage extents = all;
  extents.body = Expr(0);
  if (FindUnknown(extents, CollectVariables(lifted.program.function))) return std::nullopt;  // one that an axis bounds
  all.buffer = MakeStageBuffer(all, own->type);
  Stage each = whole;
  each.body = ReduceReader(Load(all.buffer, indices)).MutateExpr(whole.body);
  Lifted out = lifted;
  out.program.stages = {std::move(all), std::move(each)};
  return out;
}

Buffer MakeStageBuffer(const Stage& stage, Type element) {
  std::vector<Expr> shape;
  for (const StageAxis& a : stage.spatial) shape.push_back(a.extent);
  return MakeBuffer(stage.name, element, std::move(shape), Scope::kWorkspace);
}

Block LowerNest(const Lifted& lifted, const Schedule& schedule) {
  const PrimFunc f = LowerUnverified(schedule);
  // A nest may be lowered more than once, and variables are bound once.
  return CloneBlock(Replace(f->params.back().buffer, lifted.target).MutateBlock(f->body), {});
}

}  // namespace kernpack::sdk::ir
