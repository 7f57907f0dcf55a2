// Parallel loops: the body becomes a function of a range, which the frame runs on the call's threads.
#include "codegen/llvm/function.h"
#include "codegen/llvm/types.h"
#include "ir/uses.h"

namespace kernpack::sdk::ir {

void FunctionGenerator::Parallel(const StmtNode& s) {
  FreeNames free = FreeIn(s.body);
  std::erase(free.vars, s.var);
  llvm::Value* begin = E(s.args[0]);
  llvm::Value* end = E(s.args[1]);
  // Values from outside that the body uses: the instance, the arguments of callees, the loop's begin, variables, addresses of buffers.
  std::vector<llvm::Value*> captured = {scope_.self, scope_.call, begin};
  for (const Var& v : free.vars) captured.push_back(scope_.vars.at(v.get()));
  for (const Buffer& b : free.buffers) captured.push_back(scope_.buffers.at(b.get()));
  std::vector<llvm::Type*> types;
  for (llvm::Value* v : captured) types.push_back(v->getType());
  auto* layout = llvm::StructType::get(b_.getContext(), types);
  llvm::AllocaInst* context = Local(layout);
  for (unsigned i = 0; i < captured.size(); ++i) b_.CreateStore(captured[i], b_.CreateStructGEP(layout, context, i));

  llvm::Type* i64_type = b_.getInt64Ty();
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {b_.getPtrTy(), i64_type, i64_type}, false);
  auto* body = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                      scope_.function->getName() + "." + s.var->name, module_);
  SetLevel(level_, body);
  llvm::Value* count = b_.CreateNSWSub(b_.CreateSExtOrTrunc(end, i64_type), b_.CreateSExtOrTrunc(begin, i64_type));
  const auto grain = static_cast<uint64_t>(s.lanes > 0 ? s.lanes : 1);
  llvm::Value* run = b_.CreateSelect(b_.CreateICmpSLT(begin, end), count, b_.getInt64(0));
  CheckCall(CallFrame("kp_frame_parallel", {scope_.self, run, b_.getInt64(grain), body, context}));
  ParallelBody(s, body, layout, free.vars, free.buffers);
}

void FunctionGenerator::ParallelBody(const StmtNode& s, llvm::Function* body, llvm::StructType* layout,
                                     const std::vector<Var>& vars, const std::vector<Buffer>& buffers) {
  const Names outer = std::move(scope_);
  const auto resume = b_.saveIP();
  scope_ = Names{.function = body, .is_parallel = true};
  b_.SetInsertPoint(NewBlock("entry"));
  unsigned next = 0;
  const auto captured = [&] {
    llvm::Value* at = b_.CreateStructGEP(layout, body->getArg(0), next);
    return b_.CreateLoad(layout->getElementType(next++), at);
  };
  scope_.self = captured();
  scope_.call = captured();
  llvm::Value* begin = captured();
  for (const Var& v : vars) scope_.vars[v.get()] = captured();
  for (const Buffer& b : buffers) scope_.buffers[b.get()] = captured();
  const auto from_begin = [&](unsigned arg) {
    return b_.CreateNSWAdd(begin, b_.CreateSExtOrTrunc(body->getArg(arg), begin->getType()));
  };
  llvm::Value* first = from_begin(1);
  Count(s, first, from_begin(2));
  b_.CreateRet(b_.getInt32(0));
  scope_ = outer;
  b_.restoreIP(resume);
}

}  // namespace kernpack::sdk::ir
