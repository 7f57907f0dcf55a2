#include "codegen/llvm/export.h"

#include <frame.o.h>
#include <frame_static.o.h>
#include <kernpack/error.h>
#include <kernpack/sdk/ir/pass.h>
#include <kernpack/sdk/ir/text.h>
#include <kernpack_module.map.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/SHA256.h>

#include "codegen/llvm/module.h"
#include "codegen/llvm/undefined.h"
#include "export/linker.h"

namespace kernpack::sdk::ir {
namespace {

template <size_t n>
std::string_view Bytes(const char (&embedded)[n]) {
  return {embedded, n};
}

// Of everything that decides what is made, so that equal inputs give equal files.
std::string ContentHash(const IRModule& module, const Target& target, const LlvmMachine& machine) {
  const std::string text = Print(module) + target.str() + machine.triple() + LLVM_VERSION_STRING;
  llvm::SHA256 hash;
  hash.update(text);
  hash.update(llvm::StringRef(device_code::frame_o, sizeof device_code::frame_o));
  return llvm::toHex(hash.final(), true);
}

// What the frame defines, and what every C library has.
bool IsAllowed(std::string_view symbol) {
  return symbol.starts_with("kp_frame_") || symbol.starts_with("kp_alias_") || symbol == "memcpy" ||
         symbol == "memset" || symbol == "memmove" || symbol == "memcmp";
}

void CheckUndefined(const IRModule& module, const ObjectCode& object) {
  for (const std::string& symbol : UndefinedSymbols(object)) {
    if (IsAllowed(symbol)) continue;
    KP_THROW(ValueError)
        << "export: module '" << module.name << "' needs the function '" << symbol
        << "', which the machine that loads it may not have; an exported module may need memcpy, memset, "
           "memmove and memcmp only. Write it as a function of the module, or build for a processor that "
           "has the instruction";
  }
}

}  // namespace

void ExportLibrary(const IRModule& input, const Target& target, const std::string& path) {
  const IRModule module = Lower(input);
  const LlvmMachine machine(target);
  if (!machine.is_native()) {
    KP_THROW(NotImplementedError) << "export: this build has what modules share for this machine only, not for "
                                  << machine.triple();
  }
  llvm::LLVMContext context;
  const bool in_program = path.ends_with(".o");
  ModuleOptions options = {
      .levels = machine.ExportLevels(), .aliases = !in_program, .content_hash = ContentHash(input, target, machine)};
  if (in_program) options.query += "_" + module.name;
  const auto code = MakeModule(module, options, &context);
  const ObjectCode object = machine.Compile(code.get());
  CheckUndefined(module, object);
  const LinkerInput made = {"module.o", {object.data(), object.size()}};
  if (in_program) return LinkObject({made, {"frame.o", Bytes(device_code::frame_static_o)}}, "", path);
  LinkShared({made, {"frame.o", Bytes(device_code::frame_o)}}, Bytes(device_code::kernpack_module_map), "", path);
}

}  // namespace kernpack::sdk::ir
