#include "codegen/llvm/export.h"

#include <kernpack/error.h>
#include <kernpack/sdk/ir/pass.h>
#include <kernpack/sdk/ir/text.h>
#include <kernpack_module.map.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/SHA256.h>

#include "codegen/frame_code.h"
#include "codegen/llvm/types.h"
#include "codegen/llvm/module.h"
#include "codegen/llvm/build.h"
#include "export/linker.h"

namespace kernpack::sdk::ir {
namespace {

// Of everything that decides what is made, so that equal inputs give equal files.
std::string ContentHash(const std::string& inputs, const LlvmMachine& machine, const FrameCode& frame) {
  llvm::SHA256 hash;
  hash.update(inputs + machine.triple() + LLVM_VERSION_STRING);
  hash.update(llvm::StringRef(frame.in_library));
  return llvm::toHex(hash.final(), true);
}

// True for symbols that the frame defines or that every C library has.
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

// The prefix in the names of tools for another machine: "aarch64-linux-gnu" of "aarch64-unknown-linux-gnu".
std::string ToolPrefix(const std::string& text) {
  const llvm::Triple triple(text);
  return (triple.getArchName() + "-" + triple.getOSName() + "-" + triple.getEnvironmentName()).str();
}

}  // namespace

void ExportMade(const IRModule& module, const LlvmMachine& machine, ModuleOptions options, const std::string& hashed,
                const std::string& path) {
  const FrameCode frame = FrameFor(machine.triple());
  llvm::LLVMContext context;
  const bool in_program = path.ends_with(".o");
  options.aliases = !in_program;
  options.content_hash = ContentHash(hashed, machine, frame);
  if (in_program) options.query += "_" + module.name;
  const auto code = MakeModule(module, options, &context);
  const ObjectCode object = machine.Compile(code.get());
  CheckUndefined(module, object);
  const LinkerInput made = {"module.o", {object.data(), object.size()}};
  const std::string triple = machine.is_native() ? "" : ToolPrefix(machine.triple());
  if (in_program) return LinkObject({made, {"frame.o", frame.in_program}}, triple, path);
  const std::string_view exports(device_code::kernpack_module_map, sizeof device_code::kernpack_module_map);
  LinkShared({made, {"frame.o", frame.in_library}}, exports, triple, path);
}

void ExportLibrary(const IRModule& input, const Target& target, const std::string& path) {
  const LlvmMachine machine(target);
  ExportMade(Lower(input), machine, {.levels = machine.ExportLevels(), .floats = GetFastMathFlags(target)},
             Print(input) + target.str(), path);
}

}  // namespace kernpack::sdk::ir
