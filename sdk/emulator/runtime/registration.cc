// Registrations of nvcc's host code when its shared object is loaded. Code goes to the device when something of it is first used.
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>

#include "driver/machine.h"
#include "runtime/runtime.h"

namespace kernpack::cuda::runtime {
namespace {

struct Binary {
  const void* image;
  std::map<Context, ModuleHandle> modules;
  std::map<std::string, void**> managed;  // __managed__ variables: where the host keeps the address of each
};
struct Symbol {
  Binary* binary;
  std::string name;
};
struct Registry {
  std::mutex mutex;
  std::deque<Binary> binaries;
  std::unordered_map<const void*, Symbol> kernels;
  std::unordered_map<const void*, Symbol> variables;

  static Registry& Get() {
    static auto* const registry = new Registry();  // used until the process ends
    return *registry;
  }
};

bool IsLoaded(ModuleHandle module) {
  const std::lock_guard lock(Machine::Get().mutex);
  return Machine::Get().modules.count(module) != 0;
}

// Kernels that cudaLibraryGetKernel returns take the place of a host's address.
bool IsLibraryKernel(const void* host) {
  const std::lock_guard lock(Machine::Get().mutex);
  for (const Library library : Machine::Get().libraries) {
    for (const auto& [context, module] : library->modules) {
      for (const auto& [name, function] : module->functions) {
        if (function.get() == host) return true;
      }
    }
  }
  return false;
}

// The module of the binary in the current context.
Error FindModule(Binary* binary, ModuleHandle* out) {
  Context context = nullptr;
  if (const Result result = Driver().cuCtxGetCurrent(&context); result != kSuccess) return Said(result);
  const auto found = binary->modules.find(context);
  if (found != binary->modules.end() && IsLoaded(found->second)) {
    *out = found->second;
    return kSuccess;
  }
  if (!binary->managed.empty() && !binary->modules.empty()) {
    return Said(kNotSupported, "__managed__ variables are emulated on the first device that uses them alone");
  }
  char log[2000] = "";
  JitOption options[] = {kJitErrorLogBuffer, kJitErrorLogBufferSizeBytes};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CaptureMode mode = kCaptureModeRelaxed;  // NVIDIA's library loads code in a capture, too
  Driver().cuThreadExchangeStreamCaptureMode(&mode);
  const Result result = Driver().cuModuleLoadDataEx(out, binary->image, 2, options, values);
  Driver().cuThreadExchangeStreamCaptureMode(&mode);
  if (result != kSuccess) return Said(result, log);
  binary->modules[context] = *out;
  return kSuccess;
}

Error ModuleWith(const std::unordered_map<const void*, Symbol>& symbols, const void* host, Error unknown,
                 const Symbol** symbol, ModuleHandle* module) {
  if (const Error error = Ready(); error != kSuccess) return error;
  const auto found = symbols.find(host);
  if (found == symbols.end()) return Said(unknown, "nothing that nvcc compiled has registered it");
  *symbol = &found->second;
  return FindModule(found->second.binary, module);
}

}  // namespace

Error FindFunction(const void* host, FunctionHandle* out) {
  if (IsLibraryKernel(host)) {
    *out = static_cast<FunctionHandle>(const_cast<void*>(host));
    return Ready();
  }
  Registry& registry = Registry::Get();
  const std::lock_guard lock(registry.mutex);
  const Symbol* symbol = nullptr;
  ModuleHandle module = nullptr;
  const Error error = ModuleWith(registry.kernels, host, kInvalidDeviceFunction, &symbol, &module);
  return error != kSuccess ? error : Said(Driver().cuModuleGetFunction(out, module, symbol->name.c_str()));
}

Error FindVariable(const void* host, DevicePtr* address, size_t* bytes) {
  Registry& registry = Registry::Get();
  const std::lock_guard lock(registry.mutex);
  const Symbol* symbol = nullptr;
  ModuleHandle module = nullptr;
  const Error error = ModuleWith(registry.variables, host, kInvalidSymbol, &symbol, &module);
  if (error != kSuccess) return error;
  const std::lock_guard of_machine(Machine::Get().mutex);
  const auto found = module->variables.find(symbol->name);
  if (found == module->variables.end())
    return Said(kInvalidSymbol, "the device's code has no variable " + symbol->name);
  *address = found->second;
  *bytes = FindBlock(found->second, 1)->size;
  return kSuccess;
}

}  // namespace kernpack::cuda::runtime

using namespace kernpack::cuda::runtime;

KP_RUNTIME_API const char* cudaGetErrorString(Error error);

KP_RUNTIME_API void** __cudaRegisterFatBinary(void* wrapper) {
  Registry& registry = Registry::Get();
  const std::lock_guard lock(registry.mutex);
  registry.binaries.push_back({wrapper, {}});
  return reinterpret_cast<void**>(&registry.binaries.back());
}
KP_RUNTIME_API void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}

KP_RUNTIME_API void __cudaRegisterManagedVar(void** handle, void** host, char* /*address*/, const char* name,
                                             int /*ext*/, size_t /*bytes*/, int /*constant*/, int /*global*/) {
  const std::lock_guard lock(Registry::Get().mutex);
  reinterpret_cast<Binary*>(handle)->managed[name] = host;
}
// Of a binary with __managed__ variables, when the host first uses one: from now on it has their addresses.
KP_RUNTIME_API char __cudaInitModule(void** handle) {
  auto* const binary = reinterpret_cast<Binary*>(handle);
  const std::lock_guard lock(Registry::Get().mutex);
  ModuleHandle module = nullptr;
  Error error = Ready();
  if (error == kSuccess) error = FindModule(binary, &module);
  if (error != kSuccess) {  // the host would go on with a null pointer
    std::fprintf(stderr,
                 "kernpack_cuda_emulator: the program uses a __managed__ variable, and its code can't be loaded: %s\n",
                 cudaGetErrorString(error));
    std::abort();
  }
  const std::lock_guard of_machine(Machine::Get().mutex);
  for (const auto& [name, host] : binary->managed) {
    const auto found = module->variables.find(name);
    if (found != module->variables.end()) *host = reinterpret_cast<void*>(found->second);
  }
  return 1;
}

// Of an object that is unloaded. Its code stays on the device: at the end of the process nothing may be called there any more.
KP_RUNTIME_API void __cudaUnregisterFatBinary(void** handle) {
  auto* const binary = reinterpret_cast<Binary*>(handle);
  Registry& registry = Registry::Get();
  const std::lock_guard lock(registry.mutex);
  std::erase_if(registry.kernels, [binary](const auto& each) { return each.second.binary == binary; });
  std::erase_if(registry.variables, [binary](const auto& each) { return each.second.binary == binary; });
}

KP_RUNTIME_API void __cudaRegisterFunction(void** handle, const char* host, char* /*device*/, const char* name,
                                           int /*threads*/, void* /*thread*/, void* /*block*/, void* /*block_dim*/,
                                           void* /*grid_dim*/, int* /*warp_size*/) {
  Registry& registry = Registry::Get();
  const std::lock_guard lock(registry.mutex);
  registry.kernels[host] = {reinterpret_cast<Binary*>(handle), name};
}
KP_RUNTIME_API void __cudaRegisterVar(void** handle, char* host, char* /*address*/, const char* name, int /*ext*/,
                                      size_t /*bytes*/, int /*constant*/, int /*global*/) {
  Registry& registry = Registry::Get();
  const std::lock_guard lock(registry.mutex);
  registry.variables[host] = {reinterpret_cast<Binary*>(handle), name};
}
