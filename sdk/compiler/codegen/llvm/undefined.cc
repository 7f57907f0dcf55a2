#include "codegen/llvm/build.h"

#include <kernpack/error.h>
#include <llvm/Object/ObjectFile.h>

namespace kernpack::sdk::ir {
namespace {

template <class T>
T Must(llvm::Expected<T> value) {
  if (!value) KP_THROW(RuntimeError) << "object code: " << llvm::toString(value.takeError());
  return std::move(*value);
}

}  // namespace

std::vector<std::string> UndefinedSymbols(const ObjectCode& object) {
  const llvm::MemoryBufferRef bytes(llvm::StringRef(object.data(), object.size()), "object");
  const auto file = Must(llvm::object::ObjectFile::createObjectFile(bytes));
  std::vector<std::string> out;
  for (const llvm::object::SymbolRef& symbol : file->symbols()) {
    if (!(Must(symbol.getFlags()) & llvm::object::BasicSymbolRef::SF_Undefined)) continue;
    std::string name = Must(symbol.getName()).str();
    if (!name.empty() && name != "_GLOBAL_OFFSET_TABLE_") out.push_back(std::move(name));
  }
  return out;
}

}  // namespace kernpack::sdk::ir
