#include <kernpack/error.h>
#include "shared/suggest.h"
#include <kernpack/sdk/program/function_table.h>

#include "codegen/signature_words.h"

namespace kernpack::sdk::program {

const Function& FunctionTable::Add(Function function) {
  if (Find(function.name)) KP_THROW(ValueError) << "function '" << function.name << "' is in the table already";
  if (!function.signature.empty()) {
    function.program = std::make_shared<std::vector<uint32_t>>(CompileSignature(function.name, function.signature));
  }
  const std::string name = function.name;
  return functions_.emplace(name, std::move(function)).first->second;
}

const Function* FunctionTable::Find(std::string_view name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : &found->second;
}

std::string FunctionTable::Suggest(std::string_view name) const { return host::Suggest(name, names()); }

std::vector<std::string> FunctionTable::names() const {
  std::vector<std::string> out;
  for (const auto& [name, function] : functions_) out.push_back(name);
  return out;
}

}  // namespace kernpack::sdk::program
