// Code generators: packed functions of the host's registry, which C++, Python and plugins provide alike.
//
//   target.build.<kind>  (IRModule, Target) -> code that runs in this process: a `const KpModule*` (OPAQUE_PTR, or INT) that lives
//                        as long as the process, or the path (STR) of a shared object to load
//   target.export.<kind> (IRModule, Target, path: str) -> None; writes a shared object that needs nothing of this SDK
//   target.source.<kind> (IRModule, Target) -> str; the code as a person would read it
//
// The last two are optional. A generator that the calling copy of this SDK registered (RegisterGenerator) is called directly, with
// the module and the target themselves; those of other binaries, plugins and Python get both as objects whose body is their text
// (kernpack/sdk/object.h).
//
// A module comes verified and with a schedule (ScheduleByDefault): a generator runs Lower() itself.
// In a checked build it comes lowered, with its checks as asserts (IRModule::checked): Lower() takes it as any other.
#ifndef KERNPACK_SDK_CODEGEN_GENERATOR_H_
#define KERNPACK_SDK_CODEGEN_GENERATOR_H_

#include <kernpack/abi.h>
#include <kernpack/sdk/ir/stmt.h>
#include <kernpack/sdk/target.h>

#include <functional>
#include <optional>

namespace kernpack::sdk {

// What a generator made: one of the two.
struct Generated {
  const KpModule* table = nullptr;  // lives as long as the process
  std::string library;  // path of a shared object to load
};

// What a kind offers. Errors are thrown (kp::Error or any std::exception). Called on any thread.
struct Generator {
  std::function<Generated(const ir::IRModule&, const Target&)> build;
  std::function<void(const ir::IRModule&, const Target&, const std::string& path)> export_library;  // may be empty
  std::function<std::string(const ir::IRModule&, const Target&)> source;  // may be empty
};

// Makes a generator known to the whole process, as packed functions. ValueError when the kind has one, unless `replace`.
void RegisterGenerator(const std::string& kind, Generator generator, bool replace = false);
// Says why this build has none for a kind: "built without LLVM; ..." Build() and Export() tell callers.
void ExplainMissingGenerator(const std::string& kind, std::string why);
// Kinds with a generator, sorted.
std::vector<std::string> ListGenerators();

// How a module is built, whatever it is built for.
struct BuildOptions {
  // Accesses out of range are IndexErrors of the call, and touch no memory (ir::CheckAccesses()). For debugging: slower, and a
  // launch on a device is waited for.
  bool checked = false;
};

// Verifies, schedules what has no schedule, and calls the generator of the target's kind. `target` empty: the module's own. ValueError when neither says;
// RuntimeError for a kind without a generator, listing those there are and why others are not.
Generated Build(const ir::IRModule& module, const std::optional<Target>& target = std::nullopt,
                const BuildOptions& options = {});
void Export(const ir::IRModule& module, const std::optional<Target>& target, const std::string& path,
            const BuildOptions& options = {});
std::string Source(const ir::IRModule& module, const std::optional<Target>& target = std::nullopt,
                   const BuildOptions& options = {});

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_CODEGEN_GENERATOR_H_
