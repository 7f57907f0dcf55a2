// Walking and rewriting. Both go through every expression, extents of allocated buffers included.
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

// What is not changed is shared. Override what changes; the base rebuilds around it. Substitutions apply to uses.
class Mutator {
 public:
  virtual ~Mutator() = default;
  virtual Expr MutateExpr(const Expr& e);
  // Appends what takes the statement's place: nothing, one, or several.
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

// Fresh variables and buffers for everything bound inside, and `with` in place of its keys.
Block CloneBlock(const Block& block, const std::unordered_map<const VarNode*, Expr>& with);
Expr Substitute(const Expr& e, const std::unordered_map<const VarNode*, Expr>& with);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_IR_VISITOR_H_
