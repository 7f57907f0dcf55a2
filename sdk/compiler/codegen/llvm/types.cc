#include "codegen/llvm/types.h"

namespace kernpack::sdk::ir {
namespace {

llvm::Type* WithLanesLike(llvm::Type* element, Type t) {
  return t.lanes == 1 ? element : llvm::FixedVectorType::get(element, t.lanes);
}

}  // namespace

llvm::Type* ValueType(llvm::LLVMContext& context, Type t) {
  llvm::Type* element = IsBool(t)      ? llvm::Type::getInt1Ty(context)
                        : !IsFloat(t)  ? llvm::Type::getIntNTy(context, t.bits)
                        : t.bits == 32 ? llvm::Type::getFloatTy(context)
                                       : llvm::Type::getDoubleTy(context);
  return WithLanesLike(element, t);
}

llvm::Type* MemoryType(llvm::LLVMContext& context, Type t) {
  return IsBool(t) ? WithLanesLike(llvm::Type::getInt8Ty(context), t) : ValueType(context, t);
}

llvm::StructType* FrameCallType(llvm::IRBuilder<>& b) {
  return llvm::StructType::get(b.getPtrTy(), b.getPtrTy(), llvm::ArrayType::get(b.getInt32Ty(), 2));
}

llvm::StructType* KernelArgType(llvm::IRBuilder<>& b) {
  return llvm::StructType::get(b.getInt32Ty(), b.getInt32Ty(), b.getPtrTy(), b.getInt64Ty());
}

}  // namespace kernpack::sdk::ir
