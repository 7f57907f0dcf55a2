// One IR function as LLVM functions: itself, and the bodies of its parallel loops.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_LLVM_FUNCTION_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_LLVM_FUNCTION_H_

#include <kernpack/sdk/ir/stmt.h>
#include <llvm/IR/Module.h>

#include <unordered_map>
#include <unordered_set>

#include "codegen/device/module.h"
#include "codegen/frame/launch.h"
#include "codegen/llvm/level.h"
#include "codegen/llvm/values.h"

namespace kernpack::sdk::ir {

// Declares what LLVM function stands for an IR function of this level: (self, parameters..., bound dims...) -> 0 or -1. That
// of a device has a KpFrameCall in place of `self`, and tensors are KpKernelArgs.
llvm::Function* DeclareFunction(llvm::Module* module, const Level& level, const FuncNode& f);
// The variable that holds the KpFrameCodes of a device's module.
inline constexpr char kCodesName[] = "kp.codes";
// A global constant of this text, NUL-terminated; one for each text.
llvm::Constant* TextConstant(llvm::Module* module, std::string_view text);

class FunctionGenerator {
 public:
  // `floats`: what LLVM may do with the function's float operations. `device`: where `ir` is the host's half of a module.
  FunctionGenerator(llvm::Module* module, const Level& level, llvm::FastMathFlags floats, const IRModule& ir,
                    const FuncNode& f, const DeviceModule* device);
  // Fills in what DeclareFunction declared.
  void Run();

 private:
  // Names that a function's body, or a parallel loop's, may use.
  struct Names {
    llvm::Function* function = nullptr;
    llvm::Value* self = nullptr;
    llvm::Value* call = nullptr;  // what the function was given as its first argument
    std::unordered_map<const VarNode*, llvm::Value*> vars;
    std::unordered_map<const BufferNode*, llvm::Value*> buffers;
    bool is_parallel = false;  // inside a parallel loop
    llvm::BasicBlock *next_round = nullptr,
                     *after_loop = nullptr;  // of the innermost loop: where `continue` and `break` go
  };

  llvm::Module& module_;
  const Level& level_;
  const IRModule& ir_;
  const FuncNode& f_;
  const DeviceModule* device_;
  llvm::IRBuilder<> b_;
  Values values_;
  Names scope_;
  std::unordered_set<const VarNode*> strict_;  // bound to a strict value
  int allocations_ = 0;

  llvm::Value* E(const Expr& e);
  llvm::Value* Index(const Expr& e) { return E(Cast(kI64, e)); }
  llvm::Value* CallExtern(const ExprNode& e);
  // Products of the parts of words and their sum, by one instruction; null where `e` is anything else.
  llvm::Value* WordProducts(const ExprNode& e);
  llvm::Value* StrictValue(const Expr& e);
  llvm::Value* Fenced(llvm::Value* value);
  llvm::Value* VariableValue(const Var& var);
  void Bind(const StmtNode& let);

  // memory.cc
  llvm::Value* Offset(const Buffer& buffer, const std::vector<Expr>& indices);
  llvm::Value* GetAddress(const Buffer& buffer, const std::vector<Expr>& indices);
  llvm::Value* Load(const ExprNode& e);
  void Store(const StmtNode& s);
  llvm::Value* FromMemory(Type t, llvm::Value* v);
  llvm::Value* ToMemory(Type t, llvm::Value* v);
  bool HasMasks(Type t) const { return level_.masked_bits && t.bits >= level_.masked_bits; }
  void CopyLanes(llvm::Value* to, llvm::Value* from, Type t, llvm::Value* mask);
  void Alloc(const StmtNode& s);
  llvm::Value* Scratch(const BufferNode& b, llvm::Value* device, llvm::Value* times);

  // statement.cc
  void Body(const Block& block);
  void Statement(const Stmt& s);
  void If(const StmtNode& s);
  void For(const StmtNode& s);
  void While(const StmtNode& s);
  void LoopBody(const Block& body, llvm::BasicBlock* next_round, llvm::BasicBlock* after_loop);
  void Jump(llvm::BasicBlock* to);
  void Count(const StmtNode& s, llvm::Value* begin, llvm::Value* end);
  void Assert(const StmtNode& s);
  void Call(const StmtNode& s);
  llvm::BasicBlock* NewBlock(const char* name);
  // Leaves the function with -1 when the condition holds, which it rarely does.
  void FailIf(llvm::Value* condition, const std::function<void()>& before);
  void CheckCall(llvm::Value* rc);
  llvm::Value* CallFrame(const char* name, const std::vector<llvm::Value*>& args);
  llvm::AllocaInst* Local(llvm::Type* type);

  // launch.cc
  void EnterCall();
  llvm::Value* DeviceMemory(const BufferNode& b, llvm::Value* times = nullptr);
  void Describe(llvm::Value* argument, KpKernelArgKind kind, int64_t size, llvm::Value* data);
  llvm::Constant* DescribeAsserts(const Kernel& kernel);
  llvm::Constant* DescribeImported(const Kernel& kernel);
  llvm::Value* ScalarArgument(const KernelArgument& argument);
  void Launch(const StmtNode& s);

  // parallel.cc
  void Parallel(const StmtNode& s);
  void ParallelBody(const StmtNode& s, llvm::Function* body, llvm::StructType* captured, const std::vector<Var>& vars,
                    const std::vector<Buffer>& buffers);
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_LLVM_FUNCTION_H_
