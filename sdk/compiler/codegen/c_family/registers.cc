#include "codegen/c_family/body.h"

#include <kernpack/sdk/ir/visitor.h>

namespace kernpack::sdk::ir {
namespace {

bool IsAll(const BufferNode& buffer, const Expr& index) {
  int64_t extent = 0, first = 0, stride = 0;
  return IsConstInt(buffer.shape[0], &extent) && index->op == Op::kRamp && IsConstInt(index->args[0], &first) &&
         IsConstInt(index->args[1], &stride) && first == 0 && stride == 1 && index->type.lanes == extent;
}

class Finder : public Visitor {
 public:
  std::unordered_set<const BufferNode*> found;

  void VisitExpr(const Expr& e) override {
    if (e->op == Op::kLoad) Access(e->buffer().get(), e->args, true);
    if (e->op == Op::kMaskedLoad) Access(e->buffer().get(), e->args, false);
    Visitor::VisitExpr(e);
  }
  void VisitStmt(const Stmt& s) override {
    if (s->kind == StmtKind::kStore) Access(s->buffer.get(), {s->args[0]}, !s->mask && s->args.size() == 2);
    for (const Buffer& b : s->buffers) found.erase(b.get());
    const bool apart = s->kind == StmtKind::kFor && s->for_kind == ForKind::kParallel;
    std::unordered_set<const BufferNode*> outside;
    if (apart) std::swap(outside, here_);
    Visitor::VisitStmt(s);
    if (apart) std::swap(outside, here_);
    if (s->kind == StmtKind::kAlloc && s->buffer->scope == Scope::kLocal && s->buffer->shape.size() == 1) {
      found.insert(s->buffer.get());
      here_.insert(s->buffer.get());
    }
  }

 private:
  std::unordered_set<const BufferNode*> here_;  // allocated by the function or loop body at hand

  void Access(const BufferNode* buffer, const std::vector<Expr>& indices, bool whole) {
    if (whole && indices.size() == 1 && here_.count(buffer) && IsAll(*buffer, indices[0])) return;
    found.erase(buffer);
  }
};

}  // namespace

std::unordered_set<const BufferNode*> FindRegisters(const Block& body) {
  Finder finder;
  finder.VisitBlock(body);
  return std::move(finder.found);
}

}  // namespace kernpack::sdk::ir
