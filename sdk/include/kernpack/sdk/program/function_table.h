// The functions that programs call, by name: hand-written, generated and foreign ones alike.
#ifndef KERNPACK_SDK_PROGRAM_FUNCTION_TABLE_H_
#define KERNPACK_SDK_PROGRAM_FUNCTION_TABLE_H_

#include <kernpack/abi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kernpack::sdk::program {

// Runs a function on one device. With a signature it is called with all parameters, then a destination for
// each result, then the workspace if there is one; without one, with the arguments, and returns its result.
struct Callable {
  KpSafeCall call = nullptr;
  void* self = nullptr;
};

struct Function {
  std::string name;  // "module.function"
  std::string signature;  // its text (docs/signature.md); empty: untyped
  // KpDeviceTypes that it can run on, preferred ones first; empty: any. A signature's `on` narrows them.
  std::vector<int32_t> device_types;
  // The memory that parameter i, or result i, must be in; "" or missing: any.
  std::vector<std::string> param_scopes;
  std::vector<std::string> result_scopes;
  // The name by which an exported program finds it: "kernels@v1/gelu" is in the loaded module of that major version
  // (kp_function_find). Empty: only this process can call it.
  std::string qualified;
  // Throws if the function cannot run on that device. Empty: the entry is for planning only.
  std::function<Callable(KpDLDevice device)> resolve;
  // `signature`, compiled (host/signature.h); null when untyped. FunctionTable::Add fills it in.
  std::shared_ptr<const std::vector<uint32_t>> program;

  const uint32_t* words() const { return program ? program->data() : nullptr; }
};

// Any thread may read it, unless one adds a function at the same time.
class FunctionTable {
 public:
  // ValueError if the name is taken, or the signature does not compile (with the position in it).
  const Function& Add(Function function);
  // Null if there is none; valid as long as the table.
  const Function* Find(std::string_view name) const;
  // "; did you mean 'kernels.gelu'?", or "" if no name is similar.
  std::string Suggest(std::string_view name) const;
  std::vector<std::string> names() const;  // sorted

 private:
  std::map<std::string, Function, std::less<>> functions_;
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAM_FUNCTION_TABLE_H_
