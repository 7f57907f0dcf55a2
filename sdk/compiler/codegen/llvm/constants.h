// C structs as LLVM constants.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_LLVM_CONSTANTS_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_LLVM_CONSTANTS_H_

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

#include <string_view>
#include <vector>

namespace kernpack::sdk::ir {

// Makes constants of one module. Members are given in C's order with C's widths, so that the layouts are the same.
class ConstantMaker {
 public:
  explicit ConstantMaker(llvm::Module* module) : module_(*module) {}

  llvm::Constant* U8(uint64_t v) const { return Number(8, v); }
  llvm::Constant* U16(uint64_t v) const { return Number(16, v); }
  llvm::Constant* U32(uint64_t v) const { return Number(32, v); }
  llvm::Constant* U64(uint64_t v) const { return Number(64, v); }
  llvm::Constant* Null() const {
    return llvm::ConstantPointerNull::get(llvm::PointerType::get(module_.getContext(), 0));
  }
  // A C string; one constant for each text.
  llvm::Constant* Text(std::string_view text) const;
  llvm::Constant* TextOrNull(std::string_view text) const { return text.empty() ? Null() : Text(text); }
  llvm::Constant* Bytes(std::string_view bytes) const;
  llvm::Constant* Words(const std::vector<uint32_t>& words) const;
  llvm::Constant* Struct(const std::vector<llvm::Constant*>& members) const;
  // The address of an array of equal structs; NULL of none.
  llvm::Constant* Array(const std::vector<llvm::Constant*>& items) const;
  // A variable with this value that lives in the module.
  llvm::GlobalVariable* Global(llvm::Constant* value, const char* name = "", bool constant = true) const;
  // `count` bytes or structs behind an address.
  llvm::Constant* Behind(llvm::Constant* address, llvm::Type* item, size_t count) const;

 private:
  llvm::Module& module_;

  llvm::Constant* Number(unsigned bits, uint64_t v) const {
    return llvm::ConstantInt::get(llvm::Type::getIntNTy(module_.getContext(), bits), v);
  }
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_LLVM_CONSTANTS_H_
