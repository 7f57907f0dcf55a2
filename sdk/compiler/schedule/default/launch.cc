// Host code of a device's function becomes launches.
#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

#include "schedule/arithmetic.h"
#include "schedule/default/nests.h"

namespace kernpack::sdk::ir {
namespace {

class Loads : public Visitor {
 public:
  bool any = false;
  void VisitExpr(const Expr& e) override {
    any = any || e->op == Op::kLoad || e->op == Op::kMaskedLoad;
    Visitor::VisitExpr(e);
  }
};

bool HasLoads(const std::vector<Expr>& all) {
  Loads loads;
  for (const Expr& e : all) loads.VisitExpr(e);
  return loads.any;
}

// The body of one item: its parallel loops are serial, and its workspaces are a part, `index`, of larger ones that are
// allocated before.
class Item : public Mutator {
 public:
  Item(Expr index, Expr count, Block* before) : index_(std::move(index)), count_(std::move(count)), before_(before) {}

  Expr MutateExpr(const Expr& e) override {
    if (e->op != Op::kLoad && e->op != Op::kMaskedLoad) return Mutator::MutateExpr(e);
    const auto found = parts_.find(e->buffer().get());
    if (found == parts_.end()) return Mutator::MutateExpr(e);
    std::vector<Expr> args = MutateAll(e->args);
    args.insert(args.begin(), index_);
    if (e->op == Op::kLoad) return At(e->position, Load(found->second, std::move(args)));
    const Expr otherwise = args.back(), mask = args[args.size() - 2];
    args.resize(args.size() - 2);
    return At(e->position, MaskedLoad(found->second, std::move(args), mask, otherwise));
  }

  void MutateStmt(const Stmt& s, Block* out) override {
    if (s->kind == StmtKind::kAlloc && s->buffer->scope == Scope::kWorkspace) {
      std::vector<Expr> shape = s->buffer->shape;
      shape.insert(shape.begin(), count_);
      const Buffer whole = MakeBuffer(s->buffer->name, s->buffer->element, std::move(shape), Scope::kWorkspace);
      parts_[s->buffer.get()] = whole;
      before_->push_back(Alloc(whole));
      return;
    }
    if (s->kind == StmtKind::kStore) {
      const auto found = parts_.find(s->buffer.get());
      if (found != parts_.end()) {
        std::vector<Expr> args = MutateAll(s->args);
        const Expr value = args.back();
        args.pop_back();
        args.insert(args.begin(), index_);
        const Expr mask = s->mask ? MutateExpr(s->mask) : Expr();
        out->push_back(At(s->position, Store(found->second, std::move(args), value, mask)));
        return;
      }
    }
    if (s->kind == StmtKind::kFor && s->for_kind == ForKind::kParallel) {
      out->push_back(For(s->var, MutateExpr(s->args[0]), MutateExpr(s->args[1]), MutateBlock(s->body)));
      return;
    }
    Mutator::MutateStmt(s, out);
  }

 private:
  const Expr index_, count_;
  Block* before_;
  std::unordered_map<const BufferNode*, Buffer> parts_;
};

class Launcher : public Mutator {
 public:
  explicit Launcher(int64_t threads) : threads_(threads) {}

  void MutateStmt(const Stmt& s, Block* out) override {
    switch (s->kind) {
      case StmtKind::kLet:
        return Value(*s, out);
      case StmtKind::kFor:
        return Loop(*s, out);
      case StmtKind::kWhile:  // its condition reads what its body writes: on the device
        return Alone(s, out);
      case StmtKind::kIf:
        if (HasLoads(MutateAll(s->args)) || !NeedsHost({s})) return Alone(s, out);
        return Mutator::MutateStmt(s, out);
      case StmtKind::kAlloc:
        return Allocate(*s, out);
      case StmtKind::kStore:
      case StmtKind::kEvaluate:
        return Alone(s, out);
      case StmtKind::kLaunch:
        return Plain(s, out);
      case StmtKind::kAssert:
        return HasLoads(s->args) ? Alone(s, out) : Mutator::MutateStmt(s, out);
      default:
        return Mutator::MutateStmt(s, out);
    }
  }

 private:
  const int64_t threads_;

  // True for statements that one item can't run: launches, or statements that only the host runs.
  static bool NeedsHost(const Block& block) {
    return std::any_of(block.begin(), block.end(), [](const Stmt& s) {
      const bool is_parallel = s->kind == StmtKind::kFor && s->for_kind == ForKind::kParallel;
      const bool is_of_host = s->kind == StmtKind::kLaunch || s->kind == StmtKind::kCall ||
                              s->kind == StmtKind::kAssert || s->kind == StmtKind::kReturn;
      return is_parallel || is_of_host || NeedsHost(s->body) || NeedsHost(s->otherwise);
    });
  }

  // Memory that several launches use can't be the memory of one item.
  void Allocate(const StmtNode& s, Block* out) {
    const Buffer& b = s.buffer;
    if (b->scope != Scope::kLocal) {
      out->push_back(Alloc(MutateAlloc(b)));
      return;
    }
    buffers_[b.get()] = MakeBuffer(b->name, b->element, MutateAll(b->shape), Scope::kWorkspace);
    out->push_back(Alloc(buffers_[b.get()]));
  }

  // A value that is read from memory is kept in memory.
  void Value(const StmtNode& s, Block* out) {
    const Expr value = MutateExpr(s.args[0]);
    if (!HasLoads({value})) {
      out->push_back(Let(s.var, value));
      return;
    }
    const Buffer kept = MakeBuffer(s.var->name, value->type, {Expr(1)}, Scope::kWorkspace);
    out->push_back(Alloc(kept));
    out->push_back(ir::Launch({}, {}, Expr(), {Store(kept, {Expr(0)}, value)}));
    substitution_[s.var.get()] = Load(kept, {Expr(0)});
  }

  void Alone(const Stmt& s, Block* out) {
    Block own;
    Plain(s, &own);
    Item item(Expr(0), Expr(1), out);
    Block body = item.MutateBlock(own);
    out->push_back(ir::Launch({}, {}, Expr(), std::move(body)));
  }

  void Loop(const StmtNode& s, Block* out) {
    const std::vector<Expr> bounds = MutateAll(s.args);
    if (s.for_kind != ForKind::kParallel || HasLoads(bounds)) {
      StmtNode copy = s;
      if (s.for_kind == ForKind::kParallel) copy.for_kind = ForKind::kSerial;
      return Alone(std::make_shared<const StmtNode>(std::move(copy)), out);
    }
    const Expr first = AsIndex(bounds[0]), count = Larger(Difference(AsIndex(bounds[1]), first), Expr(0));
    const Var number = MakeVar("item", kI64);
    const Expr block = Cast(kI64, BlockIndex(0));
    Block body{Let(number, threads_ == 1 ? block : block * Expr(threads_) + Cast(kI64, ThreadIndex(0)))};
    // Bodies see the launcher's substitutions, then those of an item.
    Block own;
    for (const Stmt& inner : s.body) Plain(inner, &own);
    Item item(Expr(number), count, out);
    Block work{Let(s.var, CastLike(s.var, Sum(first, Expr(number))))};
    for (const Stmt& inner : item.MutateBlock(own)) work.push_back(inner);
    if (threads_ == 1) {
      body.insert(body.end(), work.begin(), work.end());
    } else {
      body.push_back(If(Expr(number) < count, std::move(work)));
    }
    out->push_back(ir::Launch({CeilDiv(count, threads_)}, {Expr(threads_)}, Expr(), std::move(body)));
  }

  // Inside a launch nothing is launched.
  void Plain(const Stmt& s, Block* out) {
    Substituted inner(substitution_, buffers_);
    inner.MutateStmt(s, out);
  }
  class Substituted : public Mutator {
   public:
    Substituted(const std::unordered_map<const VarNode*, Expr>& values,
                const std::unordered_map<const BufferNode*, Buffer>& buffers) {
      substitution_ = values;
      buffers_ = buffers;
    }
  };
};

}  // namespace

Block WorkspacesByItem(const Block& block, const Expr& index, const Expr& count, Block* before) {
  return Item(index, count, before).MutateBlock(block);
}

PrimFunc LaunchItems(const FuncNode& f, int64_t threads) { return WithBody(f, Launcher(threads).MutateBlock(f.body)); }

}  // namespace kernpack::sdk::ir
