// Code that passes share: a rewrite of every function of a module, statements put before others, bindings.
#ifndef KERNPACK_SDK_COMPILER_PASS_EACH_H_
#define KERNPACK_SDK_COMPILER_PASS_EACH_H_

#include <kernpack/sdk/ir/visitor.h>

#include <utility>

namespace kernpack::sdk::ir {

// `args`: of M's constructor.
template <class M, class... Args>
IRModule RewriteEach(const IRModule& module, const Args&... args) {
  IRModule out = module;
  for (PrimFunc& f : out.functions) f = WithBody(*f, M(args...).MutateBlock(f->body));
  return out;
}

// The value under a name, bound at the end of `out`; constants and variables need none.
inline Expr Bound(const Expr& value, const std::string& name, Block* out) {
  if (value->op == Op::kConst || value->op == Op::kVar) return value;
  const Var v = MakeVar(name, value->type);
  out->push_back(Let(v, value));
  return Expr(v);
}

// The same statements with strict arithmetic.
class StrictMaker : public Mutator {
 public:
  Expr MutateExpr(const Expr& e) override { return Strict(e); }
};

// A rewrite of expressions that needs statements of its own before the one it stands in. Those that come of what is strict are.
class Hoister : public Mutator {
 public:
  Expr MutateExpr(const Expr& e) override {
    if (e->op != Op::kStrict) return Mutator::MutateExpr(e);
    const size_t first = before_.size();
    const Expr value = MutateExpr(e->args[0]);
    MakeStrict(first);
    return Strict(value);
  }

  void MutateStmt(const Stmt& s, Block* out) override {
    Block outer;
    std::swap(outer, before_);
    std::vector<Expr> args = MutateAll(s->args);
    StmtNode copy = *s;
    if (s->mask) copy.mask = MutateExpr(s->mask);
    if (s->kind == StmtKind::kAlloc) copy.buffer = MutateAlloc(s->buffer);
    std::swap(outer, before_);
    for (Stmt& hoisted : outer) out->push_back(std::move(hoisted));
    // Blocks inside have places of their own.
    Block body = MutateBlock(s->body);
    Block otherwise = MutateBlock(s->otherwise);
    out->push_back(Rebuild(copy, std::move(args), std::move(body), std::move(otherwise)));
  }

 protected:
  void Before(Stmt s) { before_.push_back(std::move(s)); }
  Block* Place() { return &before_; }
  size_t HowManyBefore() const { return before_.size(); }
  // Those from `first` on.
  void MakeStrict(size_t first) {
    const Block made(before_.begin() + static_cast<long>(first), before_.end());
    before_.resize(first);
    for (const Stmt& s : StrictMaker().MutateBlock(made)) before_.push_back(s);
  }
  Block TakeBefore() { return std::exchange(before_, {}); }
  Expr Bind(const char* name, const Expr& value) { return Bound(value, name, &before_); }

 private:
  Block before_;
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_PASS_EACH_H_
