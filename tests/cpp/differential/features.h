// The features of random functions: how many have each feature at least, and whether one has it.
#pragma once

#include <kernpack/sdk/ir/visitor.h>

#include <bitset>
#include <unordered_set>

#include "ir/support.h"

namespace ir_test {

enum class Feature {
  kGather,
  kAnyOrder,
  kIf,
  kElse,
  kNestedIf,
  kBoundOfLoop,
  kBoundOfValue,
  kReduceToBound,
  kLocalOfLoop,
  kLocalOfFunction,
  kWorkspaceOfFunction,
  kWorkspaceOfLoop,
  kCall,
  kCallOfCall,
  kCallInLoop,
  kLaunch,
  kShared,
  kWhile,
  kBreak,
  kContinue,
  kArg,
};
inline constexpr size_t kFeatures = static_cast<size_t>(Feature::kArg) + 1;
using Features = std::bitset<kFeatures>;

// The place where a function runs: host code may call functions in loops, and device code has launches of its own.
enum class Place { kHost, kDevice };

// `percent`: of all functions, this many have it at the least.
struct Share {
  Feature feature;
  const char* name;
  int host, device;
  int Percent(Place place) const { return place == Place::kHost ? host : device; }
};
inline constexpr Share kShares[kFeatures] = {
    {Feature::kGather, "a load whose index is loaded", 30, 30},
    {Feature::kAnyOrder, "a reduction in any order", 20, 20},
    {Feature::kIf, "an if without else", 20, 20},
    {Feature::kElse, "an if with else", 20, 20},
    {Feature::kNestedIf, "an if inside an if", 10, 10},
    {Feature::kBoundOfLoop, "a loop whose bound is of an outer loop", 15, 15},
    {Feature::kBoundOfValue, "a loop whose bound is loaded", 15, 15},
    {Feature::kReduceToBound, "a reduction whose bound is of an outer loop", 10, 10},
    {Feature::kLocalOfLoop, "a local array in a loop", 20, 20},
    {Feature::kLocalOfFunction, "a local array outside of loops", 10, 10},
    {Feature::kWorkspaceOfFunction, "a workspace of the size of a tensor", 10, 10},
    {Feature::kWorkspaceOfLoop, "a workspace in a loop", 10, 8},
    {Feature::kCall, "a call", 20, 20},
    {Feature::kCallOfCall, "a call of a function that calls", 5, 5},
    {Feature::kCallInLoop, "a call in a loop", 10, 0},
    {Feature::kLaunch, "a launch", 0, 15},
    {Feature::kShared, "shared memory and a barrier", 0, 5},
    {Feature::kWhile, "a while", 10, 10},
    {Feature::kBreak, "a break", 10, 10},
    {Feature::kContinue, "a continue", 10, 10},
    {Feature::kArg, "an argmax or argmin", 15, 15},
};

class FeatureFinder : public Visitor {
 public:
  Features found;

  FeatureFinder(const IRModule& module, const FuncNode& f) : module_(module) { VisitBlock(f.body); }

 protected:
  void VisitExpr(const Expr& e) override {
    if (e->op == Op::kLoad || e->op == Op::kMaskedLoad) {
      const size_t dimensions = e->buffer()->shape.size();
      for (size_t d = 0; d < dimensions; ++d) Add(Feature::kGather, Loads(e->args[d]));
    }
    if (e->op == Op::kReduce) {
      Add(Feature::kArg, IsArg(std::get<Reduction>(e->detail).op));
      Add(Feature::kAnyOrder, std::get<Reduction>(e->detail).lanes > 0);
      Add(Feature::kReduceToBound, Uses(e->args[0], loops_) || Uses(e->args[1], loops_));
    }
    Visitor::VisitExpr(e);
  }

  void VisitStmt(const Stmt& s) override {
    const int loops = in_loops_, ifs = in_ifs_;
    switch (s->kind) {
      case StmtKind::kLet:
        if (Loads(s->args[0])) loaded_.insert(s->var.get());
        if (Uses(s->args[0], loops_) || OfThread(s->args[0])) loops_.insert(s->var.get());
        break;
      case StmtKind::kFor:
        Add(Feature::kBoundOfLoop, Uses(s->args[0], loops_) || Uses(s->args[1], loops_));
        Add(Feature::kBoundOfValue, Uses(s->args[0], loaded_) || Uses(s->args[1], loaded_));
        loops_.insert(s->var.get());
        ++in_loops_;
        break;
      case StmtKind::kIf:
        Add(s->otherwise.empty() ? Feature::kIf : Feature::kElse, true);
        Add(Feature::kNestedIf, in_ifs_ > 0);
        ++in_ifs_;
        break;
      case StmtKind::kAlloc:
        AddAlloc(*s->buffer);
        break;
      case StmtKind::kCall:
        Add(Feature::kCall, true);
        Add(Feature::kCallInLoop, in_loops_ > 0);
        for (const Stmt& inner : module_.Find(s->name)->body) Add(Feature::kCallOfCall, inner->kind == StmtKind::kCall);
        break;
      case StmtKind::kWhile:
        Add(Feature::kWhile, true);
        ++in_loops_;
        break;
      case StmtKind::kBreak:
        Add(Feature::kBreak, true);
        break;
      case StmtKind::kContinue:
        Add(Feature::kContinue, true);
        break;
      case StmtKind::kLaunch:
        Add(Feature::kLaunch, true);
        ++in_loops_;  // threads
        break;
      default:
        break;
    }
    Visitor::VisitStmt(s);
    in_loops_ = loops;
    in_ifs_ = ifs;
  }

 private:
  const IRModule& module_;
  int in_loops_ = 0, in_ifs_ = 0;
  std::unordered_set<const VarNode*> loops_, loaded_;  // variables of loops and what is made of them; what is loaded

  void Add(Feature feature, bool has) {
    if (has) found.set(static_cast<size_t>(feature));
  }

  void AddAlloc(const BufferNode& b) {
    bool constant = true;
    for (const Expr& e : b.shape) constant = constant && IsConst(e);
    const bool local = b.scope == Scope::kLocal && constant, workspace = b.scope == Scope::kWorkspace && !constant;
    Add(Feature::kLocalOfLoop, local && in_loops_ > 0);
    Add(Feature::kLocalOfFunction, local && in_loops_ == 0);
    Add(Feature::kWorkspaceOfLoop, workspace && in_loops_ > 0);
    Add(Feature::kWorkspaceOfFunction, workspace && in_loops_ == 0);
    Add(Feature::kShared, b.scope == Scope::kShared);
  }

  // True if some operation of an expression is one that `is` says.
  template <class Is>
  static bool Any(const Expr& e, const Is& is) {
    struct Finder : Visitor {
      const Is& is;
      bool any = false;
      explicit Finder(const Is& i) : is(i) {}
      void VisitExpr(const Expr& part) override {
        any = any || is(part);
        Visitor::VisitExpr(part);
      }
    } finder(is);
    finder.VisitExpr(e);
    return finder.any;
  }
  static bool Loads(const Expr& e) {
    return Any(e, [](const Expr& part) { return part->op == Op::kLoad || part->op == Op::kMaskedLoad; });
  }
  static bool OfThread(const Expr& e) {
    return Any(e, [](const Expr& part) { return part->op == Op::kThreadIndex || part->op == Op::kBlockIndex; });
  }
  static bool Uses(const Expr& e, const std::unordered_set<const VarNode*>& vars) {
    return Any(e, [&](const Expr& part) { return part->op == Op::kVar && vars.count(part->var().get()) != 0; });
  }
};

}  // namespace ir_test
