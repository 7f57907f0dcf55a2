// The IR's operations in LLVM: the semantics of docs/ir.md, row by row, on scalars and vectors alike.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_LLVM_VALUES_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_LLVM_VALUES_H_

#include <kernpack/sdk/ir/expr.h>
#include <llvm/IR/IRBuilder.h>

#include "codegen/llvm/storage_format.h"

namespace kernpack::sdk::ir {

class Values {
 public:
  // native_f16: the processor converts between f16 and f32 itself; else LLVM would call a library.
  Values(llvm::IRBuilder<>* builder, bool native_f16) : b_(*builder), native_f16_(native_f16) {}

  llvm::Value* Const(Type type, uint64_t bits);
  llvm::Value* Splat(Type type, llvm::Value* scalar);
  llvm::Value* Ramp(Type type, llvm::Value* base, llvm::Value* stride);
  llvm::Value* Cast(Type from, Type to, llvm::Value* v);
  llvm::Value* Bitcast(Type to, llvm::Value* v);
  // `type` is that of the operands.
  llvm::Value* Binary(Op op, Type type, llvm::Value* a, llvm::Value* b);
  llvm::Value* Unary(Op op, Type type, llvm::Value* a);
  llvm::Value* Shuffle(Type type, llvm::Value* a, llvm::Value* b, const std::vector<int>& lanes);
  llvm::Value* ReduceLanes(Op op, Type from, llvm::Value* v);

 private:
  llvm::IRBuilder<>& b_;
  bool native_f16_;

  llvm::Type* GetType(Type t);
  llvm::Value* Int(llvm::Type* type, uint64_t value);
  llvm::Value* Compare(Op op, Type type, llvm::Value* a, llvm::Value* b);
  llvm::Value* Divide(Op op, Type type, llvm::Value* a, llvm::Value* b);
  llvm::Value* IntBinary(Op op, Type type, llvm::Value* a, llvm::Value* b);
  llvm::Value* FloatBinary(Op op, llvm::Value* a, llvm::Value* b);
  // Storage types <-> f32.
  llvm::Value* Widen(Type from, llvm::Value* v);
  llvm::Value* Narrow(Type to, llvm::Value* v);
  llvm::Value* WidenBits(Type from, const StorageFormat& format, llvm::Value* v);
  llvm::Value* NarrowBits(Type to, const StorageFormat& format, llvm::Value* v);
  llvm::Value* FloatFrom(Type from, Type to, llvm::Value* v);
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_LLVM_VALUES_H_
