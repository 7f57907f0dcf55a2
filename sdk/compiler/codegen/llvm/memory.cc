// Loads, stores and buffers.
#include <kernpack/error.h>

#include "codegen/llvm/function.h"
#include "codegen/llvm/types.h"

namespace kernpack::sdk::ir {
namespace {

// Larger local buffers come from the host.
constexpr int64_t kStackBytes = 16384;
// Of tensors no alignment is assumed: a caller's view may start anywhere.
const llvm::Align kUnaligned(1);

// Elements of a buffer whose extents are constants, or -1.
int64_t ConstantSize(const BufferNode& b) {
  int64_t n = 1;
  for (const Expr& e : b.shape) {
    int64_t extent = 0;
    if (!IsConstInt(e, &extent) || __builtin_mul_overflow(n, extent, &n)) return -1;
  }
  return n;
}

// True if the lanes are neighbours in memory: only the last index varies, by one per lane.
bool IsContiguous(const std::vector<Expr>& indices) {
  int64_t stride = 0;
  if (indices.empty() || indices.back()->op != Op::kRamp) return false;
  if (!IsConstInt(indices.back()->args[1], &stride) || stride != 1) return false;
  for (size_t d = 0; d + 1 < indices.size(); ++d) {
    if (indices[d]->type.lanes != 1) return false;
  }
  return true;
}

// The same place of the first lane.
std::vector<Expr> FirstLane(std::vector<Expr> indices) {
  indices.back() = indices.back()->args[0];
  return indices;
}

// to[i] = from[i] for every bit i that is set.
void WriteCopyLanes(llvm::Function* copy, llvm::Type* element) {
  llvm::LLVMContext& context = copy->getContext();
  llvm::BasicBlock *entry = llvm::BasicBlock::Create(context, "entry", copy),
                   *loop = llvm::BasicBlock::Create(context, "loop", copy),
                   *after = llvm::BasicBlock::Create(context, "after", copy);
  llvm::IRBuilder<> b(entry);
  llvm::Value *to = copy->getArg(0), *from = copy->getArg(1), *bits = copy->getArg(2), *none = b.getInt64(0);
  b.CreateCondBr(b.CreateICmpNE(bits, none), loop, after);
  b.SetInsertPoint(loop);
  llvm::PHINode* rest = b.CreatePHI(b.getInt64Ty(), 2);
  rest->addIncoming(bits, entry);
  llvm::Value* i = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, rest, b.getTrue());
  llvm::Value* v = b.CreateAlignedLoad(element, b.CreateInBoundsGEP(element, from, i), kUnaligned);
  b.CreateAlignedStore(v, b.CreateInBoundsGEP(element, to, i), kUnaligned);
  llvm::Value* next = b.CreateAnd(rest, b.CreateSub(rest, b.getInt64(1)));
  rest->addIncoming(next, loop);
  b.CreateCondBr(b.CreateICmpNE(next, none), loop, after);
  b.SetInsertPoint(after);
  b.CreateRetVoid();
}

int CountLanes(const std::vector<Expr>& indices) {
  int lanes = 1;
  for (const Expr& e : indices) lanes = std::max<int>(lanes, e->type.lanes);
  return lanes;
}

}  // namespace

llvm::Value* FunctionGenerator::FromMemory(Type t, llvm::Value* v) {
  return IsBool(t) ? b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType())) : v;
}

llvm::Value* FunctionGenerator::ToMemory(Type t, llvm::Value* v) {
  return IsBool(t) ? b_.CreateZExt(v, MemoryType(b_.getContext(), t)) : v;
}

// In elements; a vector when an index is. An access is in bounds, and so is every partial sum: nothing overflows.
llvm::Value* FunctionGenerator::Offset(const Buffer& buffer, const std::vector<Expr>& indices) {
  const int lanes = CountLanes(indices);
  const auto in_lanes = [&](llvm::Value* v) {
    return lanes > 1 && !v->getType()->isVectorTy() ? b_.CreateVectorSplat(static_cast<unsigned>(lanes), v) : v;
  };
  llvm::Value* offset = nullptr;
  for (size_t d = 0; d < indices.size(); ++d) {
    llvm::Value* i = in_lanes(Index(indices[d]));
    offset = offset ? b_.CreateNSWAdd(b_.CreateNSWMul(offset, in_lanes(Index(buffer->shape[d]))), i) : i;
  }
  return offset ? offset : b_.getInt64(0);
}

llvm::Value* FunctionGenerator::GetAddress(const Buffer& buffer, const std::vector<Expr>& indices) {
  return b_.CreateInBoundsGEP(MemoryType(b_.getContext(), buffer->element), scope_.buffers.at(buffer.get()),
                              Offset(buffer, indices));
}

llvm::Value* FunctionGenerator::Load(const ExprNode& e) {
  const bool masked = e.op == Op::kMaskedLoad;
  const std::vector<Expr> indices(e.args.begin(), e.args.end() - (masked ? 2 : 0));
  llvm::Type* type = MemoryType(b_.getContext(), e.type);
  llvm::Value* mask = masked ? E(e.args[indices.size()]) : nullptr;
  llvm::Value* otherwise = masked ? ToMemory(e.type, E(e.args.back())) : nullptr;
  if (e.type.lanes == 1 && masked) {
    llvm::BasicBlock *from = b_.GetInsertBlock(), *read = NewBlock("read"), *after = NewBlock("after");
    b_.CreateCondBr(mask, read, after);
    b_.SetInsertPoint(read);
    llvm::Value* v = b_.CreateAlignedLoad(type, GetAddress(e.buffer(), indices), kUnaligned);
    read = b_.GetInsertBlock();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    llvm::PHINode* out = b_.CreatePHI(type, 2);
    out->addIncoming(v, read);
    out->addIncoming(otherwise, from);
    return FromMemory(e.type, out);
  }
  llvm::Value* v = nullptr;
  if (e.type.lanes == 1) {
    v = b_.CreateAlignedLoad(type, GetAddress(e.buffer(), indices), kUnaligned);
  } else if (IsContiguous(indices)) {
    llvm::Value* at = GetAddress(e.buffer(), FirstLane(indices));
    if (masked && !HasMasks(e.type)) {
      llvm::AllocaInst* lanes = Local(type);
      b_.CreateStore(otherwise, lanes);
      CopyLanes(lanes, at, e.type, mask);
      v = b_.CreateLoad(type, lanes);
    } else {
      v = masked ? static_cast<llvm::Value*>(b_.CreateMaskedLoad(type, at, kUnaligned, mask, otherwise))
                 : b_.CreateAlignedLoad(type, at, kUnaligned);
    }
  } else {
    if (!mask) mask = llvm::Constant::getAllOnesValue(ValueType(b_.getContext(), WithLanes(kBool, e.type.lanes)));
    llvm::Value* at = GetAddress(e.buffer(), indices);
    if (!at->getType()->isVectorTy()) at = b_.CreateVectorSplat(e.type.lanes, at);
    v = b_.CreateMaskedGather(type, at, kUnaligned, mask, otherwise);
  }
  return FromMemory(e.type, v);
}

void FunctionGenerator::Store(const StmtNode& s) {
  const std::vector<Expr> indices(s.args.begin(), s.args.end() - 1);
  const Type t = s.args.back()->type;
  llvm::Value* value = ToMemory(t, E(s.args.back()));
  llvm::Value* mask = s.mask ? E(s.mask) : nullptr;
  if (t.lanes == 1) {
    llvm::BasicBlock* after = nullptr;
    if (mask) {
      llvm::BasicBlock* write = NewBlock("write");
      after = NewBlock("after");
      b_.CreateCondBr(mask, write, after);
      b_.SetInsertPoint(write);
    }
    b_.CreateAlignedStore(value, GetAddress(s.buffer, indices), kUnaligned);
    if (!after) return;
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    return;
  }
  if (IsContiguous(indices)) {
    llvm::Value* at = GetAddress(s.buffer, FirstLane(indices));
    if (!mask) {
      b_.CreateAlignedStore(value, at, kUnaligned);
    } else if (HasMasks(t)) {
      b_.CreateMaskedStore(value, at, kUnaligned, mask);
    } else {
      llvm::AllocaInst* lanes = Local(value->getType());
      b_.CreateStore(value, lanes);
      CopyLanes(at, lanes, t, mask);
    }
    return;
  }
  llvm::Value* at = GetAddress(s.buffer, indices);
  if (!at->getType()->isVectorTy()) at = b_.CreateVectorSplat(t.lanes, at);
  b_.CreateMaskedScatter(value, at, kUnaligned, mask);
}

// Calls a function that copies the elements whose lanes are true, one by one: LLVM would write each of them out.
void FunctionGenerator::CopyLanes(llvm::Value* to, llvm::Value* from, Type t, llvm::Value* mask) {
  const std::string name = "kp.copy_lanes." + std::to_string(t.bits) + level_.suffix;
  llvm::Function* copy = module_.getFunction(name);
  if (!copy) {
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty()}, false);
    copy = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module_);
    copy->addFnAttr(llvm::Attribute::NoInline);
    SetLevel(level_, copy);
    WriteCopyLanes(copy, llvm::Type::getIntNTy(b_.getContext(), t.bits));
  }
  llvm::Value* bits = b_.CreateBitCast(mask, llvm::Type::getIntNTy(b_.getContext(), t.lanes));
  b_.CreateCall(copy, {to, from, b_.CreateZExt(bits, b_.getInt64Ty())});
}

llvm::AllocaInst* FunctionGenerator::Local(llvm::Type* type) {
  llvm::BasicBlock& entry = scope_.function->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  return at_entry.CreateAlloca(type);
}

void FunctionGenerator::Alloc(const StmtNode& s) {
  const BufferNode& b = *s.buffer;
  if (device_) {
    scope_.buffers[&b] = DeviceMemory(b);
    return;
  }
  if (b.scope == Scope::kShared) {
    KP_THROW(NotImplementedError) << f_.name << ": " << b.name << ": the kind llvm has no shared memory";
  }
  const int64_t n = ConstantSize(b);
  if (b.scope != Scope::kLocal || n < 0 || n * (b.element.bits / 8) > kStackBytes) {
    scope_.buffers[&b] = Scratch(b, llvm::ConstantPointerNull::get(b_.getPtrTy()), nullptr);
    return;
  }
  llvm::AllocaInst* local =
      Local(llvm::ArrayType::get(MemoryType(b_.getContext(), b.element), static_cast<uint64_t>(n)));
  local->setAlignment(llvm::Align(n * (b.element.bits / 8) >= 16 ? 64 : 8));
  scope_.buffers[&b] = local;
}

// On a device, or where that is NULL for this thread. `times`, if not null, is one more extent.
llvm::Value* FunctionGenerator::Scratch(const BufferNode& b, llvm::Value* device, llvm::Value* times) {
  std::vector<llvm::Value*> extents;
  if (times) extents.push_back(times);
  for (const Expr& extent : b.shape) extents.push_back(Index(extent));
  llvm::AllocaInst* list = Local(llvm::ArrayType::get(b_.getInt64Ty(), std::max<size_t>(extents.size(), 1)));
  for (size_t d = 0; d < extents.size(); ++d) {
    b_.CreateStore(extents[d], b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), list, d));
  }
  llvm::AllocaInst* out = Local(b_.getPtrTy());
  const bool persistent = b.scope == Scope::kPersistent;
  const std::string key =
      persistent ? "persistent " + b.key : f_.name + "." + b.name + "." + std::to_string(allocations_++);
  const uint32_t flags = persistent && b.zeroed ? KP_WORKSPACE_ZEROED : 0;
  CheckCall(CallFrame("kp_frame_scratch", {scope_.self, device, TextConstant(&module_, key), b_.getInt32(flags),
                                           b_.getInt64(b.element.bits / 8u),
                                           b_.getInt32(static_cast<uint32_t>(extents.size())), list, out}));
  return b_.CreateLoad(b_.getPtrTy(), out);
}

}  // namespace kernpack::sdk::ir
