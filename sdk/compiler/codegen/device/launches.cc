#include "codegen/device/launches.h"

#include <kernpack/sdk/ir/visitor.h>

#include <unordered_set>

namespace kernpack::sdk::ir {
namespace {

constexpr int64_t kPrivateBytes = 16384;  // of one buffer, for each thread

// The contents of a statement, blocks included.
class Contents : public Visitor {
 public:
  bool memory = false;  // touched outside of launches and parallel loops
  bool launches = false;  // launches or parallel loops
  bool asserts = false;
  std::unordered_set<const void*> bound, used;  // variables and buffers

  explicit Contents(const Block& block) { VisitBlock(block); }
  explicit Contents(const Stmt& s) { VisitStmt(s); }

  bool UsesAny(const std::unordered_set<const void*>& names) const {
    for (const void* name : names) {
      if (used.count(name) != 0) return true;
    }
    return false;
  }

  void VisitExpr(const Expr& e) override {
    if (e->op == Op::kVar) used.insert(e->var().get());
    if (e->op == Op::kLoad || e->op == Op::kMaskedLoad) Touch(e->buffer());
    Visitor::VisitExpr(e);
  }
  void VisitStmt(const Stmt& s) override {
    if (s->var) bound.insert(s->var.get());
    asserts = asserts || s->kind == StmtKind::kAssert;
    if (s->kind == StmtKind::kAlloc) {
      bound.insert(s->buffer.get());
      memory = memory || s->buffer->scope == Scope::kLocal;
    }
    if (s->kind == StmtKind::kStore) Touch(s->buffer);
    for (const Buffer& buffer : s->buffers) used.insert(buffer.get());
    const bool launch =
        s->kind == StmtKind::kLaunch || (s->kind == StmtKind::kFor && s->for_kind == ForKind::kParallel);
    launches = launches || launch;
    inside_ += launch ? 1 : 0;
    Visitor::VisitStmt(s);
    inside_ -= launch ? 1 : 0;
  }

 private:
  int inside_ = 0;

  void Touch(const Buffer& buffer) {
    used.insert(buffer.get());
    memory = memory || inside_ == 0;
  }
};

bool TouchesMemory(const std::vector<Expr>& args) {
  Block evaluated;
  for (const Expr& e : args) evaluated.push_back(Evaluate(e));
  return Contents(evaluated).memory;
}

// Parallel loops run in order, and so do the threads of launches that do not wait for each other: for one thread that does all.
class InOrder : public Mutator {
 public:
  Expr MutateExpr(const Expr& e) override {
    if (e->op == Op::kBlockIndex && inside_) return Cast(kI32, indices_[e->bits()]);
    if (e->op == Op::kThreadIndex && inside_) return Cast(kI32, indices_[3 + e->bits()]);
    return Mutator::MutateExpr(e);
  }

  void MutateStmt(const Stmt& s, Block* out) override {
    if (s->kind == StmtKind::kLaunch && !Waits(s->body)) return LaunchInOrder(*s, out);
    if (s->kind != StmtKind::kFor || s->for_kind != ForKind::kParallel) return Mutator::MutateStmt(s, out);
    StmtNode loop = *s;
    loop.for_kind = ForKind::kSerial;
    loop.lanes = 0;
    out->push_back(Rebuild(loop, MutateAll(s->args), MutateBlock(s->body), {}));
  }

 private:
  bool inside_ = false;
  std::vector<Expr> indices_;  // of the block, of the thread

  static bool Waits(const Block& block) {
    for (const Stmt& s : block) {
      const bool shared = s->kind == StmtKind::kAlloc && s->buffer->scope == Scope::kShared;
      if (s->kind == StmtKind::kBarrier || shared || Waits(s->body) || Waits(s->otherwise)) return true;
    }
    return false;
  }

  void LaunchInOrder(const StmtNode& launch, Block* out) {
    std::vector<Var> counters;
    indices_.clear();
    for (const char* name : {"block_x", "block_y", "block_z", "thread_x", "thread_y", "thread_z"}) {
      counters.push_back(MakeVar(name, kI64));
      indices_.emplace_back(counters.back());
    }
    inside_ = true;
    Block body = MutateBlock(launch.body);
    inside_ = false;
    for (size_t d = counters.size(); d-- > 0;) {
      body = {For(counters[d], Expr(int64_t{0}), MutateExpr(launch.args[d]), std::move(body))};
    }
    out->push_back(body.front());
  }
};

// Bindings at the outermost level of a launch that are the same for all threads, such as extents of its memory, are made by the
// host.
class Hoist : public Visitor {
 public:
  // Returns the statements that stay; the host's statements are appended to `out`.
  Block Run(const Block& body, Block* out) {
    Block rest;
    for (const Stmt& s : body) {
      same_ = s->kind == StmtKind::kLet && s->var->type.lanes == 1;
      if (same_) VisitExpr(s->args[0]);
      if (same_) {
        out->push_back(s);
        continue;
      }
      const Contents contents(s);
      inner_.insert(contents.bound.begin(), contents.bound.end());
      rest.push_back(s);
    }
    return rest;
  }

  void VisitExpr(const Expr& e) override {
    const bool reads = e->op == Op::kLoad || e->op == Op::kMaskedLoad;
    const bool differs = e->op == Op::kThreadIndex || e->op == Op::kBlockIndex;
    if (reads || differs || (e->op == Op::kVar && inner_.count(e->var().get()) != 0)) same_ = false;
    Visitor::VisitExpr(e);
  }

 private:
  std::unordered_set<const void*> inner_;
  bool same_ = false;
};

// Returns what the thread runs.
Block OneThread(const Block& block, Block* out) {
  Block body = Hoist().Run(InOrder().MutateBlock(block), out);
  if (!body.empty()) out->push_back(Launch({1, 1, 1}, {1, 1, 1}, 0, body));
  return body;
}

// `let first = begin  let count = end - first  launch grid(ceildiv(count, width)) block(width) {
//    if number of this thread < count { let i = first + number ... } }`. Blocks of one thread have no guard.
void AddLaunch(const StmtNode& loop, int64_t width, Block* out) {
  const Type type = loop.var->type;
  const Var first = MakeVar(loop.var->name + "_first", type), count = MakeVar(loop.var->name + "_count", kI64);
  out->push_back(Let(first, loop.args[0]));
  // An empty range may have ends too far apart for a difference.
  const Expr difference =
      Select(loop.args[1] > Expr(first), Cast(kI64, loop.args[1]) - Cast(kI64, first), Expr(int64_t{0}));
  const Expr number = width == 1 ? BlockIndex(0) : Cast(kI64, BlockIndex(0)) * Expr(width) + Cast(kI64, ThreadIndex(0));
  Block body = {Let(loop.var, Expr(first) + Cast(type, number))};
  const Block inner = InOrder().MutateBlock(loop.body);
  body.insert(body.end(), inner.begin(), inner.end());
  const Block rest = Hoist().Run(body, out);
  if (width == 1) {
    out->push_back(Launch({difference, 1, 1}, {1, 1, 1}, 0, rest));
    return;
  }
  out->push_back(Let(count, difference));
  const Expr whole = Expr(count) / Expr(width);
  const Expr blocks = whole + Select(whole * Expr(width) < Expr(count), Expr(int64_t{1}), Expr(int64_t{0}));
  out->push_back(Launch({blocks, 1, 1}, {Expr(width), 1, 1}, 0, {If(number < Expr(count), rest)}));
}

class Splitter {
 public:
  explicit Splitter(int64_t width) : width_(width) {}

  // False: what one launch binds others use.
  bool Split(const Block& block, Block* out) {
    Block pending;
    for (const Stmt& s : block) {
      const Contents contents(s);
      const bool container = s->kind == StmtKind::kFor || s->kind == StmtKind::kIf;
      // A loop that ends when something on the device says so is one thread's.
      const bool open_ended = s->kind == StmtKind::kWhile || (s->kind == StmtKind::kFor && LeavesLoop(s->body));
      // An assert about what is read stays with what reads it.
      const bool joins = contents.asserts && !contents.launches && contents.UsesAny(Contents(pending).bound);
      if (contents.launches ? open_ended || (container && s->for_kind != ForKind::kParallel && TouchesMemory(s->args))
                            : contents.memory || joins) {
        pending.push_back(s);
        continue;
      }
      if (!Flush(&pending, contents, out)) return false;
      if (contents.launches && s->kind == StmtKind::kFor && s->for_kind == ForKind::kParallel) {
        AddLaunch(*s, width_, out);
      } else if (contents.launches && container) {
        StmtNode inner = *s;
        inner.body.clear();
        inner.otherwise.clear();
        if (!Split(s->body, &inner.body) || !Split(s->otherwise, &inner.otherwise)) return false;
        out->push_back(std::make_shared<const StmtNode>(std::move(inner)));
      } else if (s->kind == StmtKind::kLaunch) {
        StmtNode launch = *s;
        launch.body = Hoist().Run(s->body, out);
        out->push_back(std::make_shared<const StmtNode>(std::move(launch)));
      } else {
        out->push_back(s);
      }
    }
    return Flush(&pending, Contents(Block{}), out);
  }

 private:
  const int64_t width_;
  std::unordered_set<const void*> gone_;  // bound inside launches of one thread

  bool Flush(Block* pending, const Contents& next, Block* out) {
    if (!pending->empty()) {
      if (Contents(*pending).UsesAny(gone_)) return false;
      const Contents launched(OneThread(*pending, out));
      gone_.insert(launched.bound.begin(), launched.bound.end());
      pending->clear();
    }
    return !next.UsesAny(gone_);
  }
};

// The statements that the host can run before the first statement that touches memory; then one thread.
Block WholeInOneThread(const Block& block) {
  Block out;
  auto first = block.begin();
  while (first != block.end() && !Contents(*first).memory && !Contents(*first).launches) out.push_back(*first++);
  OneThread(Block(first, block.end()), &out);
  return out;
}

class LargeLocals : public Mutator {
 public:
  void MutateStmt(const Stmt& s, Block* out) override {
    if (s->kind == StmtKind::kAlloc && s->buffer->scope == Scope::kLocal && !FitsAThread(*s->buffer)) {
      const BufferNode& b = *s->buffer;
      buffers_[s->buffer.get()] = MakeBuffer(b.name, b.element, b.shape, Scope::kWorkspace);
      out->push_back(Alloc(buffers_[s->buffer.get()]));
      return;
    }
    Mutator::MutateStmt(s, out);
  }

 private:
  static bool FitsAThread(const BufferNode& b) {
    int64_t bytes = b.element.itemsize();
    for (const Expr& e : b.shape) {
      int64_t extent = 0;
      if (!IsConstInt(e, &extent) || __builtin_mul_overflow(bytes, extent, &bytes)) return false;
    }
    return bytes <= kPrivateBytes;
  }
};

}  // namespace

PrimFunc WithLaunches(const FuncNode& f, int64_t width) {
  const Block body = LargeLocals().MutateBlock(f.body);
  Block split;
  if (!Splitter(width).Split(body, &split)) split = WholeInOneThread(body);
  return WithBody(f, std::move(split));
}

}  // namespace kernpack::sdk::ir
