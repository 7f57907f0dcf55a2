#include "codegen/llvm/constants.h"

#include "codegen/llvm/function.h"

namespace kernpack::sdk::ir {

llvm::Constant* ConstantMaker::Text(std::string_view text) const { return TextConstant(&module_, text); }

llvm::GlobalVariable* ConstantMaker::Global(llvm::Constant* value, const char* name, bool constant) const {
  return new llvm::GlobalVariable(module_, value->getType(), constant, llvm::GlobalValue::InternalLinkage, value, name);
}

llvm::Constant* ConstantMaker::Bytes(std::string_view bytes) const {
  return Global(llvm::ConstantDataArray::getString(module_.getContext(), bytes, false), "kp.bytes");
}

llvm::Constant* ConstantMaker::Words(const std::vector<uint32_t>& words) const {
  return Global(llvm::ConstantDataArray::get(module_.getContext(), words), "kp.words");
}

llvm::Constant* ConstantMaker::Struct(const std::vector<llvm::Constant*>& members) const {
  return llvm::ConstantStruct::getAnon(module_.getContext(), members);
}

llvm::Constant* ConstantMaker::Array(const std::vector<llvm::Constant*>& items) const {
  if (items.empty()) return Null();
  auto* type = llvm::ArrayType::get(items.front()->getType(), items.size());
  return Global(llvm::ConstantArray::get(type, items), "kp.array");
}

llvm::Constant* ConstantMaker::Behind(llvm::Constant* address, llvm::Type* item, size_t count) const {
  llvm::Constant* index = llvm::ConstantInt::get(llvm::Type::getInt64Ty(module_.getContext()), count);
  return llvm::ConstantExpr::getInBoundsGetElementPtr(item, address, index);
}

}  // namespace kernpack::sdk::ir
