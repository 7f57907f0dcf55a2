// Visiting and rewriting. Both reach every expression, including extents of allocated buffers.
#ifndef KERNPACK_SDK_IR_VISITOR_H_
#define KERNPACK_SDK_IR_VISITOR_H_

#include <kernpack/sdk/ir/stmt.h>

#include <functional>
#include <unordered_map>

namespace kernpack::sdk::ir {

class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void VisitExpr(const Expr& e);  // the operands
  virtual void VisitStmt(const Stmt& s);  // operands and blocks
  virtual void VisitBlock(const Block& block);
};

// Unchanged nodes are shared. Override the methods for nodes that change; parents are rebuilt. Substitutions apply to uses.
class Mutator {
 public:
  virtual ~Mutator() = default;
  virtual Expr MutateExpr(const Expr& e);
  // Appends the statements that replace it: none, one, or several.
  virtual void MutateStmt(const Stmt& s, Block* out);
  virtual Block MutateBlock(const Block& block);

 protected:
  std::unordered_map<const VarNode*, Expr> substitution_;
  std::unordered_map<const BufferNode*, Buffer> buffers_;

  std::vector<Expr> MutateAll(const std::vector<Expr>& args);
  Buffer MutateBuffer(const Buffer& buffer);
  Buffer MutateAlloc(const Buffer& buffer);
  // The expression with operands and details rewritten.
  Expr Rebuild(const Expr& e);
  Stmt Rebuild(const StmtNode& s, std::vector<Expr> args, Block body, Block otherwise);
};

// A copy with new variables and buffers for everything bound inside; variables in `with` are replaced.
Block CloneBlock(const Block& block, const std::unordered_map<const VarNode*, Expr>& with);
Expr Substitute(const Expr& e, const std::unordered_map<const VarNode*, Expr>& with);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_IR_VISITOR_H_
