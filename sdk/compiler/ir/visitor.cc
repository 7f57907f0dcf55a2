#include <kernpack/sdk/ir/visitor.h>

namespace kernpack::sdk::ir {

void Visitor::VisitExpr(const Expr& e) {
  for (const Expr& a : e->args) VisitExpr(a);
}

void Visitor::VisitStmt(const Stmt& s) {
  if (s->kind == StmtKind::kAlloc) {
    for (const Expr& e : s->buffer->shape) VisitExpr(e);
  }
  for (const Expr& e : s->args) VisitExpr(e);
  if (s->mask) VisitExpr(s->mask);
  VisitBlock(s->body);
  VisitBlock(s->otherwise);
}

void Visitor::VisitBlock(const Block& block) {
  for (const Stmt& s : block) VisitStmt(s);
}

Expr Mutator::MutateExpr(const Expr& e) {
  if (e->op == Op::kVar) {
    const auto found = substitution_.find(e->var().get());
    return found == substitution_.end() ? e : found->second;
  }
  return Rebuild(e);
}

std::vector<Expr> Mutator::MutateAll(const std::vector<Expr>& args) {
  std::vector<Expr> out;
  out.reserve(args.size());
  for (const Expr& a : args) out.push_back(MutateExpr(a));
  return out;
}

Buffer Mutator::MutateBuffer(const Buffer& buffer) {
  const auto found = buffers_.find(buffer.get());
  return found == buffers_.end() ? buffer : found->second;
}

Buffer Mutator::MutateAlloc(const Buffer& buffer) {
  std::vector<Expr> shape = MutateAll(buffer->shape);
  bool same = true;
  for (size_t i = 0; i < shape.size(); ++i) same = same && shape[i].get() == buffer->shape[i].get();
  if (same) return buffer;
  Buffer made = MakeBuffer(buffer->name, buffer->element, std::move(shape), buffer->scope, buffer->key, buffer->zeroed);
  buffers_[buffer.get()] = made;
  return made;
}

Expr Mutator::Rebuild(const Expr& e) {
  std::vector<Expr> args = MutateAll(e->args);
  bool same = true;
  for (size_t i = 0; i < args.size(); ++i) same = same && args[i].get() == e->args[i].get();
  if (e->op == Op::kLoad || e->op == Op::kMaskedLoad) {
    const Buffer buffer = MutateBuffer(e->buffer());
    if (buffer != e->buffer()) {
      ExprNode copy = *e;
      copy.detail = buffer;
      return WithArgs(Expr(std::make_shared<const ExprNode>(std::move(copy))), std::move(args));
    }
  }
  return same ? e : WithArgs(e, std::move(args));
}

Stmt Mutator::Rebuild(const StmtNode& s, std::vector<Expr> args, Block body, Block otherwise) {
  const auto make = [&]() -> Stmt {
    switch (s.kind) {
      case StmtKind::kLet:
        return Let(s.var, args[0]);
      case StmtKind::kStore: {
        const Expr value = args.back();
        args.pop_back();
        return Store(MutateBuffer(s.buffer), std::move(args), value, s.mask ? MutateExpr(s.mask) : Expr());
      }
      case StmtKind::kAlloc:
        return Alloc(MutateAlloc(s.buffer));
      case StmtKind::kFor:
        return For(s.var, args[0], args[1], std::move(body), s.for_kind, s.lanes, s.tail);
      case StmtKind::kIf:
        return If(args[0], std::move(body), std::move(otherwise));
      case StmtKind::kAssert:
        return Assert(args[0], s.text, s.name, {args.begin() + 1, args.end()});
      case StmtKind::kBarrier:
        return Barrier();
      case StmtKind::kLaunch:
        return Launch({args[0], args[1], args[2]}, {args[3], args[4], args[5]}, args[6], std::move(body));
      case StmtKind::kCall: {
        std::vector<Buffer> buffers;
        for (const Buffer& b : s.buffers) buffers.push_back(MutateBuffer(b));
        return Call(s.name, std::move(args), std::move(buffers));
      }
      case StmtKind::kEvaluate:
        return Evaluate(args[0]);
      case StmtKind::kWhile:
        return While(args[0], std::move(body));
      case StmtKind::kBreak:
        return Break();
      case StmtKind::kContinue:
        return Continue();
      default:
        return Return();
    }
  };
  const Stmt made = make();
  return s.position.is_known() ? At(s.position, made) : made;
}

void Mutator::MutateStmt(const Stmt& s, Block* out) {
  std::vector<Expr> args = MutateAll(s->args);
  Block body = MutateBlock(s->body);
  Block otherwise = MutateBlock(s->otherwise);
  out->push_back(Rebuild(*s, std::move(args), std::move(body), std::move(otherwise)));
}

Block Mutator::MutateBlock(const Block& block) {
  Block out;
  out.reserve(block.size());
  for (const Stmt& s : block) MutateStmt(s, &out);
  return out;
}

namespace {

class Cloner : public Mutator {
 public:
  explicit Cloner(const std::unordered_map<const VarNode*, Expr>& with) { substitution_ = with; }

  Expr MutateExpr(const Expr& e) override {
    if (e->op != Op::kReduce) return Mutator::MutateExpr(e);
    const Reduction& r = std::get<Reduction>(e->detail);
    const Expr begin = MutateExpr(e->args[0]), end = MutateExpr(e->args[1]);
    const Var var = Fresh(r.var);
    const Expr made = Reduce(r.op, var, begin, end, r.lanes, MutateExpr(e->args[2]));
    return e->position.is_known() ? At(e->position, made) : made;
  }

  void MutateStmt(const Stmt& s, Block* out) override {
    if (s->kind == StmtKind::kAlloc) {
      const Buffer& b = s->buffer;
      const Buffer made = MakeBuffer(b->name, b->element, MutateAll(b->shape), b->scope, b->key, b->zeroed);
      buffers_[b.get()] = made;
      out->push_back(s->position.line ? At(s->position, Alloc(made)) : Alloc(made));
      return;
    }
    std::vector<Expr> args = MutateAll(s->args);
    StmtNode copy = *s;
    if (s->var) copy.var = Fresh(s->var);
    Block body = MutateBlock(s->body);
    Block otherwise = MutateBlock(s->otherwise);
    out->push_back(Rebuild(copy, std::move(args), std::move(body), std::move(otherwise)));
  }

 private:
  Var Fresh(const Var& var) {
    Var made = MakeVar(var->name, var->type);
    substitution_[var.get()] = Expr(made);
    return made;
  }
};

}  // namespace

Block CloneBlock(const Block& block, const std::unordered_map<const VarNode*, Expr>& with) {
  return Cloner(with).MutateBlock(block);
}

Expr Substitute(const Expr& e, const std::unordered_map<const VarNode*, Expr>& with) {
  return Cloner(with).MutateExpr(e);
}

}  // namespace kernpack::sdk::ir
