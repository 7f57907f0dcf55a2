#include "schedule/default/lift.h"

#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

#include "schedule/state.h"
#include "schedule/unknown.h"

namespace kernpack::sdk::ir {
namespace {

class Replace : public Mutator {
 public:
  Replace(const Buffer& from, const Buffer& to) { buffers_[from.get()] = to; }
};

bool IsZero(const Expr& e) {
  int64_t value = 0;
  return IsConstInt(e, &value) && value == 0;
}

// Of the loops around one store, outermost first; null when it is no such nest.
const StmtNode* Innermost(const StmtNode& nest, std::vector<const StmtNode*>* loops) {
  const StmtNode* s = &nest;
  for (; s->kind == StmtKind::kFor; s = s->body[0].get()) {
    const bool plain = s->for_kind == ForKind::kSerial && s->var->type == kI64 && IsZero(s->args[0]);
    if (!plain || s->body.size() != 1) return nullptr;
    loops->push_back(s);
  }
  return s->kind == StmtKind::kStore && !s->mask ? s : nullptr;
}

}  // namespace

std::optional<Lifted> LiftNest(const FuncNode& f, const StmtNode& nest) {
  std::vector<const StmtNode*> loops;
  const StmtNode* store = Innermost(nest, &loops);
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
  if (stage.body->op == Op::kReduce) {
    const ExprNode reduce = *stage.body;
    const Reduction& r = std::get<Reduction>(reduce.detail);
    if (!IsZero(reduce.args[0]) || r.var->type != kI64) return std::nullopt;
    stage.reduced.push_back({r.var, reduce.args[1]});
    stage.combine = Combine{r.op, r.lanes};
    stage.body = reduce.args[2];
  }
  if (stage.body->type != store->buffer->element) return std::nullopt;

  if (FindUnknown(stage, VariablesOf(f))) return std::nullopt;
  const std::vector<Buffer> read = BuffersOf(stage.body);
  if (std::count(read.begin(), read.end(), store->buffer)) return std::nullopt;

  std::vector<Expr> shape;
  for (const StageAxis& a : stage.spatial) shape.push_back(a.extent);
  stage.buffer = MakeBuffer(stage.name, store->buffer->element, std::move(shape), Scope::kWorkspace);
  Lifted lifted;
  lifted.target = store->buffer;
  lifted.program.function.name = f.name;
  lifted.program.function.params = f.params;
  lifted.program.stages.push_back(std::move(stage));
  return lifted;
}

Block LowerNest(const Lifted& lifted, const Schedule& schedule) {
  const PrimFunc f = LowerUnverified(schedule);
  // A nest may be lowered more than once, and variables are bound once.
  return CloneBlock(Replace(f->params.back().buffer, lifted.target).MutateBlock(f->body), {});
}

}  // namespace kernpack::sdk::ir
