#include <kernpack/error.h>
#include <kernpack/sdk/ir/verify.h>
#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "ir/launch_limits.h"
#include "ir/verify_checks.h"
#include "ir/lexer.h"
#include "ir/names.h"
#include "ir/race.h"
#include "ir/uniform.h"

namespace kernpack::sdk::ir {
namespace {

using FunctionIndex = std::unordered_map<std::string_view, const FuncNode*>;

class Verifier : public Visitor {
 public:
  Verifier(const IRModule& module, const FunctionIndex& functions, const FuncNode& f)
      : module_(module),
        functions_(functions),
        f_(f),
        limits_(GetLimits(f.target.empty() ? module.target : f.target)) {}

  void Run() {
    at_ = f_.position;
    std::set<std::string> names;
    for (const Var& v : ShapeVars(f_)) Define(v.get());
    for (const Var& v : ShapeVars(f_)) facts_.non_negative.insert(v.get());
    for (const Param& p : f_.params) {
      at_ = p.position;
      if (!IsIdentifier(p.name()) || IsReservedWord(p.name())) Fail("'" + p.name() + "' isn't a valid parameter name");
      if (!names.insert(p.name()).second) Fail("parameter '" + p.name() + "' appears twice");
      Define(p.buffer ? static_cast<const void*>(p.buffer.get()) : p.var.get());
    }
    Var leading;
    for (const Param& p : f_.params) {
      at_ = p.position;
      if (!p.buffer) continue;
      if (p.buffer->scope != Scope::kGlobal) Fail(p.name() + ": parameters are global memory");
      if (const std::string fault = FaultOfLeading(p, &leading); !fault.empty()) Fail(fault);
      for (const Expr& e : p.buffer->shape) {
        in_extent_ = true;
        VisitExpr(e);
        in_extent_ = false;
      }
    }
    CheckGradient();
    VisitBlock(f_.body);
    CheckLaunches(f_, limits_);
    if (const std::optional<SharedRace> race = FindSharedRace(f_)) {
      at_ = race->position;
      Fail(race->text);
    }
  }

 protected:
  void VisitExpr(const Expr& e) override {
    const Position outer = at_;
    if (e->position.line) at_ = e->position;
    switch (e->op) {
      case Op::kVar:
        if (!defined_.count(e->var().get())) Fail("variable '" + e->var()->name + "' has no value here");
        break;
      case Op::kThreadIndex:
      case Op::kBlockIndex:
        if (!in_launch_) Fail(std::string(OpName(e->op)) + " index outside a launch");
        break;
      case Op::kLoad:
        CheckAccess(e->buffer(), {e->args.begin(), e->args.end()}, false);
        break;
      case Op::kMaskedLoad:
        CheckAccess(e->buffer(), {e->args.begin(), e->args.end() - 2}, true);
        break;
      default:
        break;
    }
    if (e->op == Op::kReduce) {
      const Reduction& r = std::get<Reduction>(e->detail);
      VisitExpr(e->args[0]);
      VisitExpr(e->args[1]);
      Counting(r.var, e->args[0], e->args[1], [&] { VisitExpr(e->args[2]); });
    } else {
      Visitor::VisitExpr(e);
    }
    at_ = outer;
  }

  void VisitBlock(const Block& block) override {
    const size_t outer = scope_.size();
    for (const Stmt& s : block) VisitStmt(s);
    Leave(outer);
  }

  void VisitStmt(const Stmt& s) override {
    if (s->position.line) at_ = s->position;
    switch (s->kind) {
      case StmtKind::kStore:
        for (const Param& p : f_.params) {
          if (p.buffer == s->buffer && p.role == Role::kInput) {
            Fail("'" + s->buffer->name + "' is an input and is written to; declare it '" + s->buffer->name + "!:'");
          }
        }
        CheckAccess(s->buffer, {s->args.begin(), s->args.end() - 1}, static_cast<bool>(s->mask));
        break;
      case StmtKind::kAlloc:
        CheckAlloc(*s->buffer);
        break;
      case StmtKind::kFor:
        return CheckFor(*s);
      case StmtKind::kIf: {
        VisitExpr(s->args[0]);
        ++guards_;
        VisitBlock(s->body);
        VisitBlock(s->otherwise);
        --guards_;
        return;
      }
      case StmtKind::kBarrier:
        if (!in_launch_) Fail("barrier outside a launch");
        break;
      case StmtKind::kLaunch:
        return CheckLaunch(*s);
      case StmtKind::kWhile: {
        VisitExpr(s->args[0]);
        ++guards_;
        InLoop("", [&] { VisitBlock(s->body); });
        --guards_;
        return;
      }
      case StmtKind::kBreak:
      case StmtKind::kContinue: {
        const std::string word = s->kind == StmtKind::kBreak ? "break" : "continue";
        if (!loop_) Fail(word + " outside a loop");
        if (*loop_) {
          Fail(word + " inside " + loop_ +
               ", whose iterations don't run one after another; make it a serial loop, or write an `if`");
        }
        break;
      }
      case StmtKind::kCall:
        CheckCall(*s);
        break;
      case StmtKind::kReturn:
        if (in_independent_ || in_launch_) Fail("return inside a parallel or vectorized loop or a launch");
        break;
      default:
        break;
    }
    Visitor::VisitStmt(s);
    if (s->kind == StmtKind::kLet) {
      Define(s->var.get());
      facts_.Learn(s->var, s->args[0]);
    }
    if (s->kind == StmtKind::kAlloc) Define(s->buffer.get());
  }

 private:
  const IRModule& module_;
  const FunctionIndex& functions_;
  const FuncNode& f_;
  const TargetLimits limits_;
  Position at_;
  std::unordered_set<const void*> defined_;
  std::vector<const void*> scope_;  // the same, in the order of definition
  Facts facts_;
  int guards_ = 0;
  int in_independent_ = 0;
  bool in_launch_ = false;
  bool in_extent_ = false;
  const char* loop_ = nullptr;  // the innermost loop or launch; "" where `break` may leave it

  [[noreturn]] void Fail(const std::string& message, const char* kind = "ValueError") const {
    const std::string text = f_.name + ": " + message;
    if (at_.line) FailAt(at_, text, kind, f_.file);
    throw Error(kind, KpBytes{text.data(), text.size()});
  }

  // That the two functions' contracts fit together is checked when the module is loaded, as of hand-written ones.
  void CheckGradient() {
    if (f_.gradient.empty()) return;
    at_ = f_.position;
    const auto gradient = functions_.find(f_.gradient);
    if (gradient == functions_.end()) Fail("its gradient '" + f_.gradient + "' isn't a function of this module");
    if (gradient->second->is_private) Fail("its gradient '" + f_.gradient + "' is private; callers must reach it");
    if (f_.is_private) Fail("a private function has no gradient: no caller reaches it");
  }

  void Define(const void* node) {
    if (!defined_.insert(node).second) Fail("a variable or buffer is defined twice");
    scope_.push_back(node);
  }

  // Ends what was defined since there were `outer` definitions.
  void Leave(size_t outer) {
    for (; scope_.size() > outer; scope_.pop_back()) defined_.erase(scope_.back());
  }

  template <class F>
  void InLoop(const char* loop, F body) {
    const char* const outer = std::exchange(loop_, loop);
    body();
    loop_ = outer;
  }

  template <class F>
  void Counting(const Var& var, const Expr& begin, const Expr& end, F body) {
    const size_t outer = scope_.size();
    Define(var.get());
    const CounterScope counting(&facts_, var, begin, end);
    body();
    Leave(outer);
  }

  void CheckAccess(const Buffer& buffer, const std::vector<Expr>& indices, bool masked) {
    if (in_extent_) Fail("an extent of a parameter reads memory");
    if (!defined_.count(buffer.get())) Fail("buffer '" + buffer->name + "' is used outside the block that declares it");
    if (limits_.is_device && !in_launch_ && buffer->scope == Scope::kGlobal) {
      Fail("host code touches '" + buffer->name + "', which is memory of the device (" + limits_.kind +
           "); put the access into a launch");
    }
    for (size_t d = 0; d < indices.size(); ++d) CheckBounds(*buffer, d, indices[d], masked || guards_);
  }

  // Out of bounds for every value of what is not known here, if the access runs at all.
  void CheckBounds(const BufferNode& buffer, size_t d, const Expr& index, bool guarded) const {
    if (module_.checked) return;
    const std::optional<Poly> extent = facts_.Of(buffer.shape[d]);
    std::optional<Poly> first = facts_.Of(index->op == Op::kRamp ? index->args[0] : index), last = first;
    int64_t stride = 0;
    if (index->op == Op::kRamp && first) {
      last = IsConstInt(index->args[1], &stride) && stride >= 0 && stride < (1 << 20)
                 ? Poly::Add(*first, Poly(stride * (index->type.lanes - 1)))
                 : std::nullopt;
    }
    if (!extent || !first || !last) return;
    // Behind a condition only what is wrong for each of its values is surely wrong.
    const std::optional<Poly> most = facts_.Extreme(*last, !guarded), least = facts_.Extreme(*first, guarded);
    const std::optional<Poly> over = most ? Poly::Add(*most, *extent, -1) : std::nullopt;
    const std::string where = "dimension " + std::to_string(d) + " of '" + buffer.name + "'";
    if (over && over->IsNonNegative(facts_.non_negative)) {
      Fail(
          "access past the end of " + where + (over->Constant() ? ", by " + std::to_string(*over->Constant() + 1) : ""),
          "IndexError");
    }
    if (least && least->IsNegative(facts_.non_negative)) Fail("access before the start of " + where, "IndexError");
  }

  void CheckAlloc(const BufferNode& b) {
    if (b.scope == Scope::kShared && !in_launch_) Fail("'" + b.name + "': shared memory outside a launch");
    if (b.scope == Scope::kPersistent && in_independent_) {
      Fail("'" + b.name + "': persistent memory inside a parallel or vectorized loop; allocate it before the loop");
    }
    if ((b.scope == Scope::kPersistent || b.scope == Scope::kWorkspace) && in_launch_) {
      Fail("'" + b.name + "': " + ScopeName(b.scope) + " memory inside a launch; allocate it before");
    }
    if (b.scope != Scope::kShared) return;
    int64_t bytes = b.element.bits / 8;
    for (const Expr& e : b.shape) {
      int64_t extent = 0;
      if (!IsConstInt(e, &extent)) Fail("'" + b.name + "': shared memory needs constant extents");
      if (__builtin_mul_overflow(bytes, extent, &bytes)) Fail("'" + b.name + "': too large");
    }
  }

  void CheckFor(const StmtNode& s) {
    VisitExpr(s.args[0]);
    VisitExpr(s.args[1]);
    const bool independent = s.for_kind == ForKind::kParallel || s.for_kind == ForKind::kVectorized;
    if (independent) {
      if (s.for_kind == ForKind::kParallel && in_launch_) Fail("a parallel loop inside a launch");
      if (const BufferNode* b = module_.checked ? nullptr : FindRace(module_, s, &facts_)) {
        Fail("iterations of the " + std::string(s.for_kind == ForKind::kParallel ? "parallel" : "vectorized") +
             " loop over '" + s.var->name + "' may touch the same elements of '" + b->name +
             "', and write them; make the loop serial, or index '" + b->name + "' with " + s.var->name +
             " so that each writes elements of its own");
      }
    }
    constexpr const char* kLoops[] = {"", "a parallel loop", "a vectorized loop", "an unrolled loop"};
    const bool leaves = LeavesLoop(s.body);  // before some counts are reached
    in_independent_ += independent;
    guards_ += leaves;
    InLoop(kLoops[static_cast<size_t>(s.for_kind)],
           [&] { Counting(s.var, s.args[0], s.args[1], [&] { VisitBlock(s.body); }); });
    guards_ -= leaves;
    in_independent_ -= independent;
  }

  void CheckLaunch(const StmtNode& s) {
    if (in_launch_) Fail("a launch inside a launch");
    for (const Expr& e : s.args) VisitExpr(e);
    for (const Expr& e : s.args) {
      int64_t extent = 0;
      if (IsConstInt(e, &extent) && extent < 0) Fail("launch: negative extent " + std::to_string(extent));
    }
    in_launch_ = true;
    InLoop("a launch", [&] { VisitBlock(s.body); });
    CheckBarriers(s.body, Uniform(s), "", [this](Position position, const std::string& where) {
      if (position.line) at_ = position;
      Fail("a barrier inside " + where +
           ": threads of a block that don't reach it leave the others waiting; put it "
           "outside, with divergent code before or after it");
    });
    in_launch_ = false;
  }

  void CheckCall(const StmtNode& s) {
    const auto callee = functions_.find(s.name);
    if (callee == functions_.end()) Fail("call of '" + s.name + "', which the module does not have", "NameError");
    size_t tensors = 0, scalars = 0;
    for (const Param& p : callee->second->params) {
      if (p.buffer) {
        if (tensors == s.buffers.size())
          Fail("call of '" + s.name + "': tensor '" + p.name() + "' is missing", "TypeError");
        CheckTensorArgument(s, p, s.buffers[tensors++]);
      } else {
        if (scalars == s.args.size())
          Fail("call of '" + s.name + "': scalar '" + p.name() + "' is missing", "TypeError");
        const Type got = s.args[scalars++]->type;
        if (got != p.var->type) {
          Fail("call of '" + s.name + "': " + p.name() + ": expected " + TypeName(p.var->type) + ", got " +
                   TypeName(got),
               "TypeError");
        }
      }
    }
    if (tensors != s.buffers.size() || scalars != s.args.size())
      Fail("call of '" + s.name + "': too many arguments", "TypeError");
  }

  void CheckTensorArgument(const StmtNode& s, const Param& p, const Buffer& given) const {
    if (!defined_.count(given.get())) Fail("buffer '" + given->name + "' is used outside the block that declares it");
    if (given->element != p.buffer->element || given->shape.size() != p.buffer->shape.size()) {
      Fail("call of '" + s.name + "': " + p.name() + ": expected " + TypeName(p.buffer->element) + " with " +
               std::to_string(p.buffer->shape.size()) + " dimensions, got " + TypeName(given->element) + " with " +
               std::to_string(given->shape.size()),
           "TypeError");
    }
    for (const Param& own : f_.params) {
      if (own.buffer == given && own.role == Role::kInput && p.role != Role::kInput) {
        Fail("call of '" + s.name + "' writes to '" + given->name + "', an input; declare it '" + given->name + "!:'");
      }
    }
  }
};

class CalleeFinder : public Visitor {
 public:
  std::vector<const std::string*> names;
  void VisitStmt(const Stmt& s) override {
    if (s->kind == StmtKind::kCall) names.push_back(&s->name);
    Visitor::VisitStmt(s);
  }
};

// Generated code keeps scratch memory by function, which a second activation would share.
class CallGraph {
 public:
  explicit CallGraph(const FunctionIndex& functions) : functions_(functions) {}

  // How many functions are active at once when it is called.
  int Check(const FuncNode& f) {
    const auto known = depth_.find(&f);
    if (known != depth_.end()) return known->second;
    if (open_.count(&f))
      KP_THROW(ValueError) << f.name << ": calls itself, directly or through others; recursion is not supported";
    if (open_.size() == kMostNestedCalls) TooDeep(f);
    open_.insert(&f);
    CalleeFinder callees;
    callees.VisitBlock(f.body);
    int depth = 1;
    for (const std::string* name : callees.names) depth = std::max(depth, Check(*functions_.at(*name)) + 1);
    if (depth > kMostNestedCalls) TooDeep(f);
    open_.erase(&f);
    depth_.emplace(&f, depth);
    return depth;
  }

 private:
  const FunctionIndex& functions_;
  std::set<const FuncNode*> open_;
  std::unordered_map<const FuncNode*, int> depth_;

  [[noreturn]] static void TooDeep(const FuncNode& f) {
    KP_THROW(ValueError) << f.name << ": calls are nested more than " << kMostNestedCalls << " deep";
  }
};

}  // namespace

void Verify(const IRModule& module) {
  std::set<std::string> names;
  for (const PrimFunc& f : module.functions) {
    CheckFunctionName(f->name);
    if (!names.insert(f->name).second) KP_THROW(ValueError) << "function '" << f->name << "' appears twice";
  }
  FunctionIndex functions;
  for (const PrimFunc& f : module.functions) functions.emplace(f->name, f.get());
  for (const PrimFunc& f : module.functions) Verifier(module, functions, *f).Run();
  CallGraph graph(functions);
  for (const PrimFunc& f : module.functions) graph.Check(*f);
  CheckPersistentKeys(module);
}

}  // namespace kernpack::sdk::ir
