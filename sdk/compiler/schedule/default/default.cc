#include <kernpack/error.h>
#include <kernpack/sdk/ir/verify.h>
#include <kernpack/sdk/ir/visitor.h>
#include <kernpack/sdk/schedule/default.h>

#include <algorithm>

#include "schedule/default/nests.h"

namespace kernpack::sdk::ir {
namespace {

// A loop of another kind than serial, a launch, or a vector: someone decided already.
class Decided : public Visitor {
 public:
  bool any = false;
  void VisitExpr(const Expr& e) override {
    any = any || e->type.lanes != 1;
    Visitor::VisitExpr(e);
  }
  void VisitStmt(const Stmt& s) override {
    any = any || s->kind == StmtKind::kLaunch || (s->kind == StmtKind::kFor && s->for_kind != ForKind::kSerial);
    Visitor::VisitStmt(s);
  }
};

// Loops of a device's function are host code, until they have a schedule.
IRModule WithoutTargets(IRModule module) {
  module.target.clear();
  for (PrimFunc& f : module.functions) {
    FuncNode copy = *f;
    copy.target.clear();
    f = std::make_shared<const FuncNode>(std::move(copy));
  }
  return module;
}

bool IsProved(const IRModule& module, const PrimFunc& f) {
  IRModule changed = module;
  for (PrimFunc& other : changed.functions) {
    if (other->name == f->name) other = f;
  }
  try {
    Verify(WithoutTargets(std::move(changed)));
  } catch (const Error&) {
    return false;
  }
  return true;
}

// With tiles if the verifier can still follow: their loops cut ranges in ways that its proofs may not survive.
PrimFunc Proved(const IRModule& module, const FuncNode& f, const Processor& machine) {
  bool tiles = true;
  PrimFunc made = WithBody(f, ScheduleForCpu(module, f, machine, &tiles));
  if (!tiles || IsProved(module, made)) return made;
  tiles = false;
  return WithBody(f, ScheduleForCpu(module, f, machine, &tiles));
}

}  // namespace

IRModule ScheduleByDefault(const IRModule& module, const Target& target) {
  Verify(WithoutTargets(module));
  if (module.checked) return module;  // lowered already
  IRModule out = module;
  for (PrimFunc& f : out.functions) {
    Decided decided;
    decided.VisitBlock(f->body);
    const std::string& own = f->target.empty() ? module.target : f->target;
    const Processor machine = GetProcessor(own.empty() ? target : Target(own));
    if (decided.any || f->body.empty() || machine.kind == Processor::kOther) continue;
    if (machine.kind == Processor::kGpu) {
      f = LaunchItems(*WithBody(*f, ScheduleForGpu(module, *f, machine)), std::min<int64_t>(machine.threads, 64));
    } else {
      f = Proved(module, *f, machine);
      if (machine.kind == Processor::kItems) f = LaunchItems(*f, 1);
    }
  }
  Verify(out);
  return out;
}

}  // namespace kernpack::sdk::ir
