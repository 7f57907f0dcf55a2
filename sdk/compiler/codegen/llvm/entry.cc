#include "codegen/llvm/entry.h"

#include "codegen/binder.h"
#include "codegen/llvm/function.h"
#include "codegen/llvm/types.h"

namespace kernpack::sdk::ir {
namespace {

// Writes one entry.
class EntryWriter {
 public:
  EntryWriter(llvm::Module* module, const Level& level, const FuncNode& f, llvm::Constant* description,
              llvm::Constant* code)
      : module_(*module),
        level_(level),
        f_(f),
        description_(description),
        code_(code),
        b_(module->getContext()),
        values_(&b_, level.native_f16) {}

  llvm::Function* Write() {
    llvm::Type *ptr = b_.getPtrTy(), *i32_type = b_.getInt32Ty();
    auto* type = llvm::FunctionType::get(i32_type, {ptr, ptr, i32_type, ptr}, false);
    entry_ = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "kp.entry." + f_.name + level_.suffix,
                                    module_);
    SetLevel(level_, entry_);
    b_.SetInsertPoint(Block("entry"));
    size_t count = 0;
    for (const Param& p : f_.params) {
      first_slot_.push_back(count);
      count += p.buffer ? 1 + p.buffer->shape.size() : 1;
    }
    slots_ = b_.CreateAlloca(llvm::ArrayType::get(b_.getInt64Ty(), std::max<size_t>(count, 1)));
    std::vector<llvm::Value*> args = {code_ ? UnpackOnDevice() : Unpack()};
    for (size_t i = 0; i < f_.params.size(); ++i) args.push_back(Argument(i));
    for (const DimBinder& binder : FindBinders(f_)) {
      args.push_back(Extent(binder.param, binder.axis));
      meaning_[binder.var.get()] = args.back();
    }
    CheckExtents();
    b_.CreateRet(b_.CreateCall(DeclareFunction(&module_, level_, f_), args));
    return entry_;
  }

 private:
  llvm::Module& module_;
  const Level& level_;
  const FuncNode& f_;
  llvm::Constant* description_;
  llvm::Constant* code_;
  llvm::IRBuilder<> b_;
  Values values_;
  llvm::Function* entry_ = nullptr;
  llvm::Value* slots_ = nullptr;
  std::vector<size_t> first_slot_;
  std::unordered_map<const VarNode*, llvm::Value*> meaning_;

  llvm::BasicBlock* Block(const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, entry_); }

  llvm::Value* Frame(const char* name, const std::vector<llvm::Value*>& args) {
    std::vector<llvm::Type*> types;
    for (llvm::Value* a : args) types.push_back(a->getType());
    return b_.CreateCall(module_.getOrInsertFunction(name, llvm::FunctionType::get(b_.getInt32Ty(), types, false)),
                         args);
  }

  void ReturnIf(llvm::Value* condition) {
    llvm::BasicBlock *fails = Block("fails"), *goes_on = Block("goes_on");
    b_.CreateCondBr(condition, fails, goes_on);
    b_.SetInsertPoint(fails);
    b_.CreateRet(b_.getInt32(static_cast<uint32_t>(-1)));
    b_.SetInsertPoint(goes_on);
  }

  // These fill the slots and return what the function takes first.
  llvm::Value* Unpack() {
    ReturnIf(b_.CreateICmpNE(
        Frame("kp_frame_unpack", {entry_->getArg(0), description_, entry_->getArg(1), entry_->getArg(2), slots_}),
        b_.getInt32(0)));
    return entry_->getArg(0);
  }
  llvm::Value* UnpackOnDevice() {
    llvm::Value* memory = b_.CreateAlloca(llvm::ArrayType::get(KernelArgType(b_), f_.params.size()));
    llvm::Value* call = b_.CreateAlloca(FrameCallType(b_));
    ReturnIf(b_.CreateICmpNE(Frame("kp_frame_unpack_device", {entry_->getArg(0), description_, code_, entry_->getArg(1),
                                                              entry_->getArg(2), slots_, memory, call}),
                             b_.getInt32(0)));
    return call;
  }

  llvm::Value* Slot(size_t slot, llvm::Type* type) {
    return b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), slots_, slot));
  }
  llvm::Value* Extent(size_t param, size_t axis) { return Slot(first_slot_[param] + 1 + axis, b_.getInt64Ty()); }

  llvm::Value* Argument(size_t i) {
    const Param& p = f_.params[i];
    if (p.buffer) return Slot(first_slot_[i], b_.getPtrTy());
    const Type t = p.var->type;
    const Type slot = t.is_floating_point() ? kF64 : kI64;
    llvm::Value* v = values_.Cast(slot, t, Slot(first_slot_[i], ValueType(b_.getContext(), slot)));
    meaning_[p.var.get()] = v;
    return v;
  }

  // An extent in terms of the arguments.
  llvm::Value* Eval(const Expr& e) {
    if (e->op == Op::kConst) return values_.Const(e->type, e->bits());
    if (e->op == Op::kVar) return meaning_.at(e->var().get());
    llvm::Value* a = Eval(e->args[0]);
    if (e->op == Op::kCast) return values_.Cast(e->args[0]->type, e->type, a);
    if (e->args.size() == 1) return values_.Unary(e->op, e->type, a);
    llvm::Value* b = Eval(e->args[1]);
    if (e->args.size() == 2) return values_.Binary(e->op, e->args[0]->type, a, b);
    return b_.CreateSelect(a, b, Eval(e->args[2]));
  }

  void CheckExtents() {
    for (size_t i = 0; i < f_.params.size(); ++i) {
      if (!f_.params[i].buffer) continue;
      const std::vector<Expr>& shape = f_.params[i].buffer->shape;
      for (size_t d = 0; d < shape.size(); ++d) {
        llvm::Value *got = Extent(i, d), *expected = Eval(Cast(kI64, shape[d]));
        llvm::BasicBlock *fails = Block("fails"), *goes_on = Block("goes_on");
        b_.CreateCondBr(b_.CreateICmpEQ(got, expected), goes_on, fails);
        b_.SetInsertPoint(fails);
        b_.CreateRet(Frame("kp_frame_extent", {entry_->getArg(0), description_, b_.getInt32(static_cast<uint32_t>(i)),
                                               b_.getInt32(static_cast<uint32_t>(d)), got, expected}));
        b_.SetInsertPoint(goes_on);
      }
    }
  }
};

}  // namespace

llvm::Constant* DescribeFunction(const ConstantMaker& make, const FuncNode& f) {
  std::vector<llvm::Constant*> params;
  for (const Param& p : f.params) {
    const Type t = p.buffer ? p.buffer->element : p.var->type;
    const int rank = p.buffer ? static_cast<int>(p.buffer->shape.size()) : -1;
    params.push_back(make.Struct({make.Text(p.name()), make.U32(static_cast<uint32_t>(rank)), make.U8(t.code),
                                  make.U8(t.bits), make.U16(p.has_any_rank())}));
  }
  return make.Global(make.Struct({make.Text(f.name), make.Array(params), make.U32(params.size())}), "kp.description");
}

llvm::Function* MakeEntry(llvm::Module* module, const Level& level, const FuncNode& f, llvm::Constant* description,
                          llvm::Constant* code) {
  return EntryWriter(module, level, f, description, code).Write();
}

}  // namespace kernpack::sdk::ir
