#include <kernpack/error.h>
#include <kernpack/sdk/ir/visitor.h>
#include <llvm/IR/MDBuilder.h>

#include <utility>

#include "codegen/binder.h"
#include "codegen/llvm/function.h"
#include "codegen/llvm/types.h"

namespace kernpack::sdk::ir {
namespace {

bool HasVectors(const Block& block) {
  class Finder : public Visitor {
   public:
    bool found = false;
    void VisitExpr(const Expr& e) override {
      found = found || e->type.lanes > 1;
      if (!found) Visitor::VisitExpr(e);
    }
  } finder;
  finder.VisitBlock(block);
  return finder.found;
}

// An iteration over vectors is long already: copies of it make code larger, and no faster.
void ForbidUnrolling(llvm::Instruction* latch) {
  llvm::LLVMContext& context = latch->getContext();
  llvm::Metadata* const flag = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
  llvm::MDNode* const loop = llvm::MDNode::getDistinct(context, {nullptr, flag});
  loop->replaceOperandWith(0, loop);  // a loop's description begins with itself
  latch->setMetadata(llvm::LLVMContext::MD_loop, loop);
}

}  // namespace

llvm::Constant* TextConstant(llvm::Module* module, std::string_view text) {
  const std::string name = "kp.text." + std::string(text);
  if (llvm::GlobalVariable* known = module->getNamedGlobal(name)) return known;
  llvm::Constant* bytes = llvm::ConstantDataArray::getString(module->getContext(), text);
  auto* global =
      new llvm::GlobalVariable(*module, bytes->getType(), true, llvm::GlobalValue::PrivateLinkage, bytes, name);
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  global->setAlignment(llvm::Align(1));
  return global;
}

llvm::Function* DeclareFunction(llvm::Module* module, const Level& level, const FuncNode& f) {
  const std::string name = "kp." + f.name + level.suffix;
  if (llvm::Function* known = module->getFunction(name)) return known;
  llvm::LLVMContext& context = module->getContext();
  std::vector<llvm::Type*> types = {llvm::PointerType::get(context, 0)};
  for (const Param& p : f.params) {
    types.push_back(p.buffer ? llvm::PointerType::get(context, 0) : ValueType(context, p.var->type));
  }
  for (const Var& v : ShapeVars(f)) types.push_back(ValueType(context, v->type));
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context), types, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  SetLevel(level, function);
  return function;
}

FunctionGenerator::FunctionGenerator(llvm::Module* module, const Level& level, llvm::FastMathFlags floats,
                                     const IRModule& ir, const FuncNode& f, const DeviceModule* device)
    : module_(*module),
      level_(level),
      ir_(ir),
      f_(f),
      device_(device),
      b_(module->getContext()),
      values_(&b_, level.native_f16) {
  b_.setFastMathFlags(floats);
}

void FunctionGenerator::Run() {
  scope_.function = DeclareFunction(&module_, level_, f_);
  llvm::Argument* arg = scope_.function->arg_begin();
  scope_.self = scope_.call = arg++;
  for (const Param& p : f_.params) {
    arg->setName(p.name());
    if (p.buffer)
      scope_.buffers[p.buffer.get()] = arg++;
    else
      scope_.vars[p.var.get()] = arg++;
  }
  for (const Var& v : ShapeVars(f_)) {
    arg->setName(v->name);
    scope_.vars[v.get()] = arg++;
  }
  b_.SetInsertPoint(NewBlock("entry"));
  if (device_) EnterCall();
  Body(f_.body);
  b_.CreateRet(b_.getInt32(0));
}

llvm::BasicBlock* FunctionGenerator::NewBlock(const char* name) {
  return llvm::BasicBlock::Create(b_.getContext(), name, scope_.function);
}

llvm::Value* FunctionGenerator::CallFrame(const char* name, const std::vector<llvm::Value*>& args) {
  std::vector<llvm::Type*> types;
  for (llvm::Value* a : args) types.push_back(a->getType());
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), types, false);
  auto callee = module_.getOrInsertFunction(name, type);
  llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
  return b_.CreateCall(callee, args);
}

void FunctionGenerator::FailIf(llvm::Value* condition, const std::function<void()>& before) {
  llvm::BasicBlock *fails = NewBlock("fails"), *goes_on = NewBlock("goes_on");
  b_.CreateCondBr(condition, fails, goes_on, llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights());
  b_.SetInsertPoint(fails);
  before();
  b_.CreateRet(b_.getInt32(static_cast<uint32_t>(-1)));
  b_.SetInsertPoint(goes_on);
}

void FunctionGenerator::CheckCall(llvm::Value* rc) {
  FailIf(b_.CreateICmpNE(rc, b_.getInt32(0)), [] {});
}

void FunctionGenerator::Body(const Block& block) {
  for (const Stmt& s : block) Statement(s);
}

void FunctionGenerator::If(const StmtNode& s) {
  llvm::Value* condition = E(s.args[0]);
  llvm::BasicBlock *then = NewBlock("then"), *otherwise = NewBlock("else"), *after = NewBlock("after");
  b_.CreateCondBr(condition, then, otherwise);
  b_.SetInsertPoint(then);
  Body(s.body);
  b_.CreateBr(after);
  b_.SetInsertPoint(otherwise);
  Body(s.otherwise);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void FunctionGenerator::For(const StmtNode& s) {
  if (s.for_kind == ForKind::kParallel && !scope_.is_parallel) return Parallel(s);
  llvm::Value* begin = E(s.args[0]);
  Count(s, begin, E(s.args[1]));
}

// The body for begin, ..., end - 1.
void FunctionGenerator::Count(const StmtNode& s, llvm::Value* begin, llvm::Value* end) {
  llvm::BasicBlock *before = b_.GetInsertBlock(), *loop = NewBlock("loop"), *after = NewBlock("after");
  b_.CreateCondBr(b_.CreateICmpSLT(begin, end), loop, after);
  b_.SetInsertPoint(loop);
  llvm::PHINode* i = b_.CreatePHI(begin->getType(), 2, s.var->name);
  i->addIncoming(begin, before);
  scope_.vars[s.var.get()] = i;
  llvm::BasicBlock* const next_round = LeavesLoop(s.body) ? NewBlock("next_round") : nullptr;
  LoopBody(s.body, next_round, after);
  if (next_round) {
    b_.CreateBr(next_round);
    b_.SetInsertPoint(next_round);
  }
  llvm::Value* next = b_.CreateNSWAdd(i, llvm::ConstantInt::get(i->getType(), 1));
  i->addIncoming(next, b_.GetInsertBlock());
  llvm::Instruction* latch = b_.CreateCondBr(b_.CreateICmpSLT(next, end), loop, after);
  if (HasVectors(s.body)) ForbidUnrolling(latch);
  b_.SetInsertPoint(after);
}

void FunctionGenerator::While(const StmtNode& s) {
  llvm::BasicBlock *test = NewBlock("while"), *round = NewBlock("round"), *after = NewBlock("after");
  b_.CreateBr(test);
  b_.SetInsertPoint(test);
  b_.CreateCondBr(E(s.args[0]), round, after);
  b_.SetInsertPoint(round);
  LoopBody(s.body, test, after);
  b_.CreateBr(test);
  b_.SetInsertPoint(after);
}

void FunctionGenerator::LoopBody(const Block& body, llvm::BasicBlock* next_round, llvm::BasicBlock* after_loop) {
  llvm::BasicBlock* const outer_round = std::exchange(scope_.next_round, next_round);
  llvm::BasicBlock* const outer_after = std::exchange(scope_.after_loop, after_loop);
  Body(body);
  scope_.next_round = outer_round;
  scope_.after_loop = outer_after;
}

// Code that follows in the block is generated where nothing reaches it.
void FunctionGenerator::Jump(llvm::BasicBlock* to) {
  b_.CreateBr(to);
  b_.SetInsertPoint(NewBlock("unreachable"));
}

void FunctionGenerator::Assert(const StmtNode& s) {
  FailIf(b_.CreateNot(E(s.args[0])), [&] {
    llvm::Value *kind = TextConstant(&module_, s.name), *text = TextConstant(&module_, s.text);
    const auto count = static_cast<uint32_t>(s.args.size() - 1);
    if (count == 0) {
      CallFrame("kp_frame_raise", {scope_.self, kind, text});
      return;
    }
    llvm::AllocaInst* values = Local(llvm::ArrayType::get(b_.getInt64Ty(), count));
    for (uint32_t i = 0; i < count; ++i) {
      b_.CreateStore(E(s.args[i + 1]), b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), values, i));
    }
    CallFrame("kp_frame_raise_with", {scope_.self, kind, text, values, b_.getInt32(count)});
  });
}

void FunctionGenerator::Call(const StmtNode& s) {
  const FuncNode& callee = *ir_.Find(s.name);
  std::vector<llvm::Value*> args = {scope_.call};
  std::vector<Buffer> given;  // of each parameter; null for scalars
  std::unordered_map<const VarNode*, Expr> meaning;
  auto next_scalar = s.args.begin();
  auto next_buffer = s.buffers.begin();
  for (const Param& p : callee.params) {
    if (p.buffer) {
      args.push_back(scope_.buffers.at(next_buffer->get()));
      given.push_back(*next_buffer++);
    } else {
      args.push_back(E(*next_scalar));
      meaning[p.var.get()] = *next_scalar++;
      given.emplace_back();
    }
  }
  for (const DimBinder& binder : FindBinders(callee)) {
    const Expr extent = Cast(kI64, given[binder.param]->shape[binder.axis]);
    meaning[binder.var.get()] = extent;
    args.push_back(E(extent));
  }
  for (size_t i = 0; i < callee.params.size(); ++i) {
    if (!given[i]) continue;
    for (size_t d = 0; d < given[i]->shape.size(); ++d) {
      llvm::Value* expected = Index(Substitute(callee.params[i].buffer->shape[d], meaning));
      llvm::Value* got = Index(given[i]->shape[d]);
      FailIf(b_.CreateICmpNE(got, expected), [&] {
        const std::string text = callee.name + ": " + callee.params[i].name() + ": dimension " + std::to_string(d) +
                                 ": differs from the other arguments";
        CallFrame("kp_frame_raise", {scope_.self, TextConstant(&module_, "ValueError"), TextConstant(&module_, text)});
      });
    }
  }
  CheckCall(b_.CreateCall(DeclareFunction(&module_, level_, callee), args));
}

void FunctionGenerator::Statement(const Stmt& s) {
  switch (s->kind) {
    case StmtKind::kLet:
      Bind(*s);
      break;
    case StmtKind::kStore:
      return Store(*s);
    case StmtKind::kAlloc:
      return Alloc(*s);
    case StmtKind::kFor:
      return For(*s);
    case StmtKind::kIf:
      return If(*s);
    case StmtKind::kAssert:
      return Assert(*s);
    case StmtKind::kCall:
      return Call(*s);
    case StmtKind::kEvaluate:
      E(s->args[0]);
      break;
    case StmtKind::kReturn:
      b_.CreateRet(b_.getInt32(0));
      b_.SetInsertPoint(NewBlock("unreachable"));
      break;
    case StmtKind::kWhile:
      return While(*s);
    case StmtKind::kBreak:
      return Jump(scope_.after_loop);
    case StmtKind::kContinue:
      return Jump(scope_.next_round);
    case StmtKind::kLaunch:
      if (device_) return Launch(*s);
      [[fallthrough]];
    case StmtKind::kBarrier:
      if (device_) return;  // the host is one thread
      KP_THROW(NotImplementedError) << f_.name
                                    << ": the kind llvm has no device to launch on; build for opencl or cuda";
  }
}

}  // namespace kernpack::sdk::ir
