// Finds values that are equal in all threads of a block.
#ifndef KERNPACK_SDK_COMPILER_IR_UNIFORM_H_
#define KERNPACK_SDK_COMPILER_IR_UNIFORM_H_

#include <kernpack/sdk/ir/stmt.h>

#include <string>
#include <unordered_map>

namespace kernpack::sdk::ir {

// True if the statement is a barrier or contains one.
bool HoldsBarrier(const StmtNode& s);

// Of one launch. What is read at an address that is the same for all threads counts as the same.
class Uniform {
 public:
  explicit Uniform(const StmtNode& launch);

  // "thread.x": the index that the value depends on; "" where it depends on none.
  std::string Cause(const Expr& e) const;
  // Of a condition that depends on an index: whether it is true for all of them, or false for all.
  bool IsDecided(const Expr& condition) const;

 private:
  struct Range {
    int64_t low, high;
  };
  int64_t threads_[3];  // 0: not constant
  std::unordered_map<const VarNode*, std::string> vars_;
  std::unordered_map<const VarNode*, Expr> lets_;
  std::unordered_map<const BufferNode*, std::string> own_;  // contents of memory that each thread has
  bool changed_ = false;

  void Visit(const Block& block, const std::string& control);
  std::string CauseOfLeaving(const Block& body) const;
  void Note(std::string* known, const std::string& cause);
  bool GetRange(const Expr& e, Range* out) const;
};

// ValueError at the first barrier that only some threads of a block may reach: it stands where an index of the thread decides.
// `fail` is called with what is wrong, at that position.
template <class Fail>
void CheckBarriers(const Block& block, const Uniform& uniform, const std::string& control, const Fail& fail) {
  for (const Stmt& s : block) {
    if (s->kind == StmtKind::kBarrier && !control.empty()) fail(s->position, control);
    std::string inner = control;
    if (s->kind == StmtKind::kIf && inner.empty()) {
      const std::string cause = uniform.Cause(s->args[0]);
      if (!cause.empty() && !uniform.IsDecided(s->args[0])) inner = "an `if` whose condition depends on " + cause;
    }
    if (s->kind == StmtKind::kFor && inner.empty()) {
      const std::string first = uniform.Cause(s->args[0]), last = uniform.Cause(s->args[1]);
      if (!first.empty() || !last.empty()) inner = "a loop whose bounds depend on " + (first.empty() ? last : first);
    }
    if (s->kind == StmtKind::kWhile && inner.empty()) inner = "a `while` loop";
    if (s->kind == StmtKind::kFor && inner.empty() && LeavesLoop(s->body))
      inner = "a loop with a `break` or `continue`";
    CheckBarriers(s->body, uniform, inner, fail);
    CheckBarriers(s->otherwise, uniform, inner, fail);
  }
}

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_UNIFORM_H_
