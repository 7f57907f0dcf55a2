// Expressions and statements of one function in a language of C's family. What a language does in its own way (calls,
// parallel loops, memory beyond small local arrays, errors) its subclass writes in Special(). And
// which of its local buffers are variables.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_BODY_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_BODY_H_

#include <unordered_set>

#include <kernpack/sdk/ir/stmt.h>

#include "codegen/c_family/helpers.h"
#include "codegen/c_family/range.h"
#include "ir/names.h"

namespace kernpack::sdk::ir {

// Local buffers that are one vector: what compilers keep in a register only when it is a variable.
// Those whose every access is to all elements at once, in the function or loop body that allocates them.
std::unordered_set<const BufferNode*> FindRegisters(const Block& body);

class CBody {
 public:
  // `f` and `helpers` must outlive it.
  CBody(const FuncNode& f, Helpers* helpers);
  virtual ~CBody() = default;

 protected:
  const FuncNode& f_;
  Helpers& h_;
  const Dialect& dialect_;
  Names names_;
  Ranges ranges_;
  std::unordered_set<const BufferNode*> registers_;  // buffers that are variables
  std::string out_;  // lines so far
  int indent_ = 2;

  // A statement other than let, store, for (not parallel), if, evaluate, barrier and a small local alloc. The base
  // throws NotImplementedError.
  virtual void Special(const StmtNode& s);
  // Called for every mention of a variable or buffer.
  virtual void Mention(const Var&) {}
  virtual void Mention(const Buffer&) {}
  // Called before the body of a function, loop or branch defines anything, and for what it defines.
  virtual void Introduce(const void*) {}

  std::string E(const Expr& e);
  std::string Name(const Var& var);
  std::string Name(const Buffer& buffer);
  const std::string& Define(const Var& var);
  const std::string& Define(const Buffer& buffer);

  void Line(const std::string& text);
  void Lines(const Block& block);
  void Indented(const Block& block);
  void Statement(const StmtNode& s);
  // "const uint8_t* restrict"
  std::string Pointer(const Buffer& buffer) const;
  bool IsInput(const Buffer& buffer) const;
  [[noreturn]] void Refuse(const std::string& what) const;
  // Elements of a buffer whose extents are constants, or -1.
  static int64_t ConstantSize(const BufferNode& buffer);

 private:
  std::string Linear(const Buffer& buffer, const std::vector<Expr>& indices);
  // Where the lanes of an access are.
  Helpers::Place GetPlace(const Buffer& buffer, const std::vector<Expr>& indices, const Expr& mask);
  std::string LoadText(const ExprNode& e);
  std::string Operation(const Expr& e);
  Expr OneOfTwo(const Expr& e) const;
  void StoreLine(const StmtNode& s);
  void AllocLine(const StmtNode& s);
  void ForLines(const StmtNode& s);
  void IfLines(const StmtNode& s);
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_BODY_H_
