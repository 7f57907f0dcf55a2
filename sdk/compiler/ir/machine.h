// The interpreter's state.
#ifndef KERNPACK_SDK_COMPILER_IR_MACHINE_H_
#define KERNPACK_SDK_COMPILER_IR_MACHINE_H_

#include <kernpack/sdk/ir/interpret.h>

#include <unordered_map>

namespace kernpack::sdk::ir {

struct Value {
  int lanes = 1;
  uint64_t lane[kMaxLanes];  // the first `lanes` are meaningful
};

// Threads of a block that touched an element of shared memory since the last barrier.
struct Touched {
  uint32_t phase = 0;  // which barrier that was
  int writer = -1, reader = -1, other_reader = -1;
  bool alike = false;  // several wrote it, all the same value
};

// A buffer while it lives.
struct Memory {
  std::byte* data = nullptr;
  std::vector<int64_t> shape;
  std::shared_ptr<std::vector<std::byte>> owned;  // null: the caller's or persistent
  std::shared_ptr<std::vector<Touched>> touched;  // of shared memory
};

// One thread of execution: the host's, or one of a launched block.
struct Thread {
  std::unordered_map<const VarNode*, Value> vars;
  std::unordered_map<const BufferNode*, Memory> buffers;
  int64_t thread[3] = {0, 0, 0};
  int64_t block[3] = {0, 0, 0};
  int id = 0;  // in its block
  bool returned = false;
  bool broke = false, continued = false;  // out of the innermost loop, or its round
  bool IsRunning() const { return !returned && !broke && !continued; }
};
using Threads = std::vector<Thread*>;

class Machine {
 public:
  Machine(const IRModule& module, PersistentMemory* persistent, const InterpretOptions& options)
      : module_(module), persistent_(persistent), options_(options) {}

  void CallWith(const FuncNode& f, const std::vector<Memory>& tensors, const std::vector<Value>& scalars);

 private:
  const IRModule& module_;
  PersistentMemory* persistent_;
  const InterpretOptions& options_;
  uint64_t steps_ = 0;
  std::vector<std::vector<std::byte>> outgrown_;  // persistent memory that a buffer may still be in
  int calls_ = 0;
  uint32_t phase_ = 0;                   // barriers and blocks so far
  const FuncNode* function_ = nullptr;  // that runs

  Value Eval(const Expr& e, Thread* t);
  Value EvalLoad(const ExprNode& e, Thread* t);
  Value EvalReduce(const ExprNode& e, Thread* t);
  Value EvalArg(const ExprNode& e, int64_t begin, int64_t end, Thread* t);
  Value EvalExtern(const ExprNode& e, Thread* t);
  int64_t EvalInt(const Expr& e, Thread* t) { return static_cast<int64_t>(Eval(e, t).lane[0]); }
  // Where a lane of an access is. `args` begins with the indices as they are written, whose values are `indices`.
  std::byte* Place(const Buffer& buffer, const std::vector<Expr>& args, const std::vector<Value>& indices, int lane,
                   Thread* t);
  // Raises where another thread of the block touches the element too, with no barrier between. `keeps`: what is written is there
  // already.
  void Touch(const Buffer& buffer, const std::byte* place, bool writes, bool keeps, Thread* t, Position at);

  // All threads run the block together; only where a statement holds a barrier do they go step by step.
  void RunBlock(const Block& block, const Threads& threads);
  void RunStmt(const StmtNode& s, const Threads& threads);
  void RunAlone(const StmtNode& s, Thread* t);
  void RunAssert(const StmtNode& s, Thread* t);
  void RunStore(const StmtNode& s, Thread* t);
  void RunAlloc(const StmtNode& s, const Threads& threads);
  void RunFor(const StmtNode& s, const Threads& threads);
  void RunWhile(const StmtNode& s, Thread* t);
  void RunLaunch(const StmtNode& s, Thread* t);
  void RunCall(const StmtNode& s, Thread* t);
  void Step();
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_MACHINE_H_
