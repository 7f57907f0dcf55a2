// Statements, functions and modules: immutable and shared, as expressions are. Let and Alloc hold to the end of their
// block.
#ifndef KERNPACK_SDK_IR_STMT_H_
#define KERNPACK_SDK_IR_STMT_H_

#include <kernpack/sdk/ir/expr.h>

namespace kernpack::sdk::ir {

struct StmtNode;
using Stmt = std::shared_ptr<const StmtNode>;
using Block = std::vector<Stmt>;  // run in order

enum class StmtKind : uint8_t {
  kLet,
  kStore,
  kAlloc,
  kFor,
  kIf,
  kAssert,
  kBarrier,
  kLaunch,
  kCall,
  kEvaluate,
  kReturn,
  kWhile,
  kBreak,
  kContinue,
};

enum class ForKind : uint8_t { kSerial, kParallel, kVectorized, kUnrolled };
// How a vectorized loop ends when its extent isn't a multiple of the lanes: a scalar loop, or one masked step.
enum class Tail : uint8_t { kPeeled, kMasked };

struct StmtNode {
  StmtKind kind;
  Position position;
  uint32_t depth = 1;  // of nested blocks
  std::vector<Expr>
      args;  // kLet: value. kStore: indices, value. kFor: begin, end. kIf, kWhile: condition. kAssert: condition,
  // values of the message. kLaunch: grid x y z, block x y z, bytes of dynamic shared memory. kCall: scalars in order. kEvaluate: value.
  Expr mask;  // kStore, nullable: lanes that are false are not written
  Var var;  // kLet, kFor
  Buffer buffer;  // kStore, kAlloc
  Block body;  // kFor, kWhile, kIf, kLaunch
  Block otherwise;  // kIf
  ForKind for_kind = ForKind::kSerial;
  int lanes = 0;  // kVectorized: the step. kParallel: least iterations per thread; 0: the generator decides
  Tail tail = Tail::kPeeled;
  std::string name;  // kCall: callee. kAssert: kind of error
  std::string text;  // kAssert: message
  std::vector<Buffer> buffers;  // kCall: tensors in order
};

Stmt Let(Var var, Expr value);
Stmt Store(Buffer buffer, std::vector<Expr> indices, Expr value, Expr mask = {});
Stmt Alloc(Buffer buffer);
// Counts from begin to end - 1 in the variable's type; begin >= end: nothing runs.
Stmt For(Var var, Expr begin, Expr end, Block body, ForKind kind = ForKind::kSerial, int lanes = 0,
         Tail tail = Tail::kPeeled);
// The condition is evaluated before each round. Nothing limits the number of rounds.
Stmt While(Expr condition, Block body);
// Of the innermost loop around it, which must be a serial `for` or a `while`.
Stmt Break();
Stmt Continue();
// True if the body of a loop holds a `break` or `continue` of that loop. Its rounds depend on each other then, and each has to stay
// one round.
bool LeavesLoop(const Block& body);
Stmt If(Expr condition, Block body, Block otherwise = {});
// error_kind: one that ErrorKind knows. values: integers, one for each "{}" in the message, which they replace; without
// values the message isn't changed. Values are evaluated even if the condition holds.
inline constexpr size_t kMostAssertValues = 4;
Stmt Assert(Expr condition, std::string message, std::string error_kind = "ValueError", std::vector<Expr> values = {});
// The kind of that name with static storage (ValueError, TypeError, IndexError, RuntimeError, ...), or null.
const char* ErrorKind(std::string_view name);
Stmt Barrier();
// Runs body once for every thread of every block; extents of 0: nothing runs.
Stmt Launch(std::vector<Expr> grid, std::vector<Expr> block, Expr dynamic_shared, Block body);
// Calls a function of the same module; it writes its results to the buffers given for them.
Stmt Call(std::string function, std::vector<Expr> scalars, std::vector<Buffer> buffers);
Stmt Evaluate(Expr value);
Stmt Return();
Stmt At(Position position, const Stmt& s);

enum class Role : uint8_t { kInput, kInOut, kResult };

// A tensor or a scalar.
struct Param {
  Buffer buffer;  // null: scalar
  Var var;
  Role role = Role::kInput;
  Position position;
  const std::string& name() const { return buffer ? buffer->name : var->name; }
  // True if the first extent represents any number of dimensions.
  bool has_any_rank() const;
};

// A variable that is by itself an extent of a tensor parameter is bound by it; "N..." by all leading dimensions, which
// must be the same for every tensor that has it. Parameters come first, then results.
struct FuncNode {
  std::string name;
  bool is_private = false;  // not reachable from outside the module
  std::string target;  // canonical text; empty: the module's, or the one it is built for
  std::string signature;  // empty: derived from the parameters
  std::string gradient;  // the function of the module that computes this one's gradient; empty: it has none
  std::vector<Param> params;
  Block body;
  Position position;
  std::string file;  // the file of its positions; empty: the text it was read from. Ignored by Equal()
};
using PrimFunc = std::shared_ptr<const FuncNode>;

struct IRModule {
  std::string name = "module";
  std::string target;  // empty: the one it is built for
  std::vector<PrimFunc> functions;
  // Set by CheckAccesses() (pass.h): each access that may be out of range has an assert before it and has no effect if
  // that fails. Such a module was verified before lowering, so Verify() doesn't check races and ranges again.
  bool checked = false;

  const FuncNode* Find(std::string_view function) const;
};

// The variables that tensor parameters bind, in order.
std::vector<Var> ShapeVars(const FuncNode& function);
PrimFunc WithBody(const FuncNode& function, Block body);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_IR_STMT_H_
