// Code generators: packed functions of the host's registry, written in C++, Python or a plugin.
//
//   target.build.<kind>  (IRModule, Target) -> code that runs in this process: a `const KpModule*` (OPAQUE_PTR, or INT) that lives
//                        until the process ends, or the path (STR) of a shared object to load
//   target.export.<kind> (IRModule, Target, path: str) -> None; writes a shared object that doesn't need this SDK
//   target.source.<kind> (IRModule, Target) -> str; the code as a person would read it
//
// The last two are optional. A generator that the calling copy of this SDK registered (RegisterGenerator) is called directly, with
// the module and the target themselves; those of other binaries, plugins and Python get both as objects whose body is their text
// (kernpack/sdk/object.h).
//
// A generator gets a verified module with a schedule (ScheduleByDefault), and runs Lower() itself.
// In a checked build it gets a lowered module with its checks as asserts (IRModule::checked), which Lower() accepts too.
#ifndef KERNPACK_SDK_CODEGEN_GENERATOR_H_
#define KERNPACK_SDK_CODEGEN_GENERATOR_H_

#include <kernpack/abi.h>
#include <kernpack/sdk/ir/stmt.h>
#include <kernpack/sdk/target.h>

#include <functional>
#include <optional>

namespace kernpack::sdk {

// The result of a generator: one of the two.
struct Generated {
  const KpModule* table = nullptr;  // lives until the process ends
  std::string library;  // path of a shared object to load
};

// The functions of a kind's generator. They throw errors (kp::Error or any std::exception). Called on any thread.
struct Generator {
  std::function<Generated(const ir::IRModule&, const Target&)> build;
  std::function<void(const ir::IRModule&, const Target&, const std::string& path)> export_library;  // may be empty
  std::function<std::string(const ir::IRModule&, const Target&)> source;  // may be empty
};

// Registers a generator for the whole process, as packed functions. ValueError if the kind has one, unless `replace`.
void RegisterGenerator(const std::string& kind, Generator generator, bool replace = false);
// Sets the reason why this build has no generator for a kind, for errors of Build() and Export(): "built without LLVM; ..."
void ExplainMissingGenerator(const std::string& kind, std::string why);
// Kinds with a generator, sorted.
std::vector<std::string> ListGenerators();

// Options of a build, for every target.
struct BuildOptions {
  // An access out of range makes the call raise an IndexError, and uses no memory (ir::CheckAccesses()). For debugging: slower,
  // and calls wait for launches on a device.
  bool checked = false;
};

// Verifies the module, schedules functions without a schedule, and calls the generator of the target's kind. `target` empty: the
// module's own; ValueError if it has none. RuntimeError for a kind without a generator, with a list of the kinds that have one.
Generated Build(const ir::IRModule& module, const std::optional<Target>& target = std::nullopt,
                const BuildOptions& options = {});
void Export(const ir::IRModule& module, const std::optional<Target>& target, const std::string& path,
            const BuildOptions& options = {});
std::string Source(const ir::IRModule& module, const std::optional<Target>& target = std::nullopt,
                   const BuildOptions& options = {});

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_CODEGEN_GENERATOR_H_
