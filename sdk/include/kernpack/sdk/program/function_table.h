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

// What runs a function on one device. With a signature it is called with exactly the parameters, then a destination for
// each result, then the workspace if there is one; without, with the arguments, and gives its result back.
struct Callable {
  KpSafeCall call = nullptr;
  void* self = nullptr;
};

struct Function {
  std::string name;  // "module.function"
  std::string signature;  // its text (docs/signature.md); empty: untyped
  // KpDeviceTypes it can run on, most wanted first; empty: any. A signature's `on` narrows them.
  std::vector<int32_t> device_types;
  // The memory that parameter i, or result i, must be in; "" or missing: any.
  std::vector<std::string> param_scopes;
  std::vector<std::string> result_scopes;
  // How a program in a library of its own finds it: "kernels@v1/gelu", of the loaded module of that major version
  // (kp_function_find). Empty: only this process can.
  std::string qualified;
  // Throws where the function cannot run on that device. Empty: the table is for planning only.
  std::function<Callable(KpDLDevice device)> resolve;
  // `signature`, compiled (host/signature.h); null when untyped. FunctionTable::Add fills it in.
  std::shared_ptr<const std::vector<uint32_t>> program;

  const uint32_t* words() const { return program ? program->data() : nullptr; }
};

// Reads are safe from any thread once nothing is added any more.
class FunctionTable {
 public:
  // ValueError when the name is taken, or the signature does not compile (with the position in it).
  const Function& Add(Function function);
  // Null when there is none.
  const Function* Find(std::string_view name) const;
  // "; did you mean 'kernels.gelu'?", or "" when nothing is near.
  std::string Suggest(std::string_view name) const;
  std::vector<std::string> names() const;  // sorted

 private:
  std::map<std::string, Function, std::less<>> functions_;
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAM_FUNCTION_TABLE_H_
