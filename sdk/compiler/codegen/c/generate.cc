#include <kernpack/error.h>
#include <kernpack/sdk/codegen/c.h>
#include <kernpack/sdk/ir/pass.h>

#include <algorithm>

#include "codegen/languages.h"
#include "codegen/c/function.h"
#include "codegen/c/module_text.h"
#include "codegen/c/prelude.h"

namespace kernpack::sdk::ir {
namespace {

void CheckName(const std::string& name) {
  std::string plain = name;
  std::replace(plain.begin(), plain.end(), '.', '_');
  if (!IsIdentifier(plain)) {
    KP_THROW(ValueError) << "module '" << name << "': the name of a compiled module has letters, digits, _ and . only";
  }
}

}  // namespace

std::string GenerateC(const IRModule& input, int vector_bytes) {
  CheckName(input.name);
  const IRModule module = SplitLocals(SplitVectors(Lower(NarrowLoops(input, vector_bytes)), vector_bytes));
  const auto is_private = [](const PrimFunc& f) { return f->is_private; };
  if (std::all_of(module.functions.begin(), module.functions.end(), is_private)) {
    KP_THROW(ValueError) << "module '" << module.name << "' has no function that is not private";
  }
  return WriteModule({module,
                      C99(),
                      {CVariant{}},
                      FrameText() + kCRuntime,
                      [&](const FuncNode& f, Helpers* helpers, Names* functions) {
                        return CFunction(module, f, helpers, functions).Write();
                      }});
}

}  // namespace kernpack::sdk::ir
