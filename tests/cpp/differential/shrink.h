// Makes a function that fails smaller for as long as it fails.
#pragma once

#include <kernpack/sdk/ir/verify.h>
#include <kernpack/sdk/ir/visitor.h>

#include <functional>

#include "ir/support.h"

namespace ir_test {

// Applies the edit of a given number: drop a statement, take a block out of its loop or branch, put an operand or a
// constant in an expression's place.
class Edit : public Mutator {
 public:
  explicit Edit(int number) : left_(number) {}
  bool applied() const { return left_ < 0; }

  void MutateStmt(const Stmt& s, Block* out) override {
    if (Now()) return;
    if (s->kind == StmtKind::kIf && Now()) return Append(s->body, out);
    if (s->kind == StmtKind::kFor && Now()) return Append(CloneBlock(s->body, {{s->var.get(), s->args[0]}}), out);
    if (s->kind == StmtKind::kFor && s->for_kind != ForKind::kSerial && Now()) {
      return out->push_back(For(s->var, s->args[0], s->args[1], s->body));
    }
    Mutator::MutateStmt(s, out);
  }
  Expr MutateExpr(const Expr& e) override {
    if (e->op == Op::kConst || IsConst(e)) return e;
    for (const Expr& a : e->args) {
      if (a->type == e->type && Now()) return a;
    }
    if (e->op != Op::kVar && Now()) return ConstInt(e->type, 0);
    if (e->op != Op::kVar && Now()) return ConstInt(e->type, 1);
    return Mutator::MutateExpr(e);
  }

 private:
  int left_;

  bool Now() { return left_-- == 0; }
  static void Append(const Block& block, Block* out) { out->insert(out->end(), block.begin(), block.end()); }
};

// `fails` says whether a module still shows the problem; it is asked at most `budget` times.
inline IRModule Shrink(IRModule module, const std::function<bool(const IRModule&)>& fails, int budget) {
  const size_t f = module.functions.size() - 1;
  for (int number = 0; budget > 0; ++number) {
    Edit edit(number);
    IRModule smaller = module;
    try {
      smaller.functions[f] = WithBody(*module.functions[f], edit.MutateBlock(module.functions[f]->body));
      if (!edit.applied()) break;
      Verify(smaller);
    } catch (const kernpack::Error&) {
      continue;
    }
    --budget;
    if (!fails(smaller)) continue;
    module = std::move(smaller);
    --number;  // what was the next edit has this number now
  }
  return module;
}

}  // namespace ir_test
