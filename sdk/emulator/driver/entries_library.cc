// Code that isn't bound to a context, links of code, and facts about kernels.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "driver/findings.h"
#include "driver/image.h"
#include "driver/machine.h"
#include "driver/module.h"
#include "driver/occupancy.h"

namespace kernpack::cuda {

// Holds the one image that a link has, as text that ends with a NUL.
struct LinkStateOpaque {
  std::string ptx;
};

namespace {

// The bytes of a file, which a 0 follows.
bool ReadImage(const char* path, std::string* image) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  image->assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

constexpr auto kFileNotFound = static_cast<Result>(301);  // CUDA_ERROR_FILE_NOT_FOUND
constexpr int kJitInputPtx = 1;                           // CU_JIT_INPUT_PTX

bool IsLibrary(Library library) { return Machine::Get().libraries.count(library) != 0; }

void WriteLog(const std::string& log, unsigned count, const JitOption* options, void** values) {
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] != kJitErrorLogBuffer) continue;
    for (unsigned j = 0; j < count; ++j) {
      const auto size = reinterpret_cast<size_t>(values[j]);
      if (options[j] != kJitErrorLogBufferSizeBytes || size == 0) continue;
      const size_t bytes = std::min(log.size(), size - 1);
      std::memcpy(values[i], log.data(), bytes);
      static_cast<char*>(values[i])[bytes] = '\0';
    }
  }
}

// The library's module in a context, where it is loaded if it isn't there yet.
Result Loaded(Library library, Context context, ModuleHandle* out) {
  Machine& machine = Machine::Get();
  const auto found = library->modules.find(context);
  if (found != library->modules.end() && machine.modules.count(found->second) != 0) {
    *out = found->second;
    return kSuccess;
  }
  const auto ptx = library->ptx.find(machine.Arch(context->device));
  if (ptx == library->ptx.end()) return kNoBinaryForGpu;
  std::string log;
  if (const Result result = LoadModule(context, ptx->second, out, &log); result != kSuccess) {
    AddRefusal(log);
    return result;
  }
  (*out)->library = library;
  machine.modules.insert(*out);
  library->modules[context] = *out;
  return kSuccess;
}

// The current context, and the library's module there.
Result LoadedHere(Library library, ModuleHandle* out) {
  Context context = nullptr;
  if (!IsLibrary(library)) return kInvalidHandle;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  return Loaded(library, context, out);
}

Result FindGlobal(ModuleHandle module, const char* name, DevicePtr* address, size_t* bytes) {
  const auto found = module->variables.find(name);
  if (found == module->variables.end()) return kNotFound;
  if (address != nullptr) *address = found->second;
  if (bytes != nullptr) *bytes = FindBlock(found->second, 0)->size;
  return kSuccess;
}

struct Facts {
  int device;
  int operator()(DeviceAttribute attribute) const {
    int value = 0;
    cuDeviceGetAttribute(&value, attribute, device);
    return value;
  }
};

}  // namespace

Result InContext(Context context, FunctionHandle* function) {
  ModuleHandle module = (*function)->module;
  if (module->context == context || module->library == nullptr) return kSuccess;
  const std::string& name = (*function)->program->name;
  if (const Result result = Loaded(module->library, context, &module); result != kSuccess) return result;
  FunctionHandle there = module->functions.at(name).get();
  there->dynamic_limit = std::max(there->dynamic_limit, (*function)->dynamic_limit);
  there->large_clusters = there->large_clusters || (*function)->large_clusters;
  *function = there;
  return kSuccess;
}

Result cuModuleLoad(ModuleHandle* module, const char* path) {
  std::string image;
  if (!ReadImage(path, &image)) return kFileNotFound;
  return cuModuleLoadData(module, image.c_str());
}
Result cuModuleLoadFatBinary(ModuleHandle* module, const void* image) { return cuModuleLoadData(module, image); }

Result cuModuleGetGlobal(DevicePtr* address, size_t* bytes, ModuleHandle module, const char* name) {
  if (Machine::Get().modules.count(module) == 0) return kInvalidHandle;
  return FindGlobal(module, name, address, bytes);
}
Result cuModuleGetLoadingMode(int* mode) {
  *mode = 1;  // CU_MODULE_EAGER_LOADING
  return kSuccess;
}

Result cuFuncGetName(const char** name, FunctionHandle function) {
  *name = function->program->name.c_str();
  return kSuccess;
}
Result cuFuncGetModule(ModuleHandle* module, FunctionHandle function) {
  *module = function->module;
  return kSuccess;
}

Result cuLibraryLoadData(Library* library, const void* image, JitOption* options, void** values, unsigned option_count,
                         void* /*library_options*/, void** /*library_values*/, unsigned /*library_option_count*/) {
  Machine& machine = Machine::Get();
  auto made = std::make_unique<LibraryOpaque>();
  std::string log;
  Result failed = kNoBinaryForGpu;
  for (int device = 0; device < machine.Setting("devices"); ++device) {
    const int arch = machine.Arch(device);
    std::string ptx;
    const Result result = ExtractPtx(image, arch, &ptx, &log);
    if (result == kSuccess) made->ptx[arch] = std::move(ptx);
    if (result != kSuccess) failed = result;
  }
  WriteLog(log, option_count, options, values);
  if (made->ptx.empty()) {
    AddRefusal(log);
    return failed;
  }
  *library = made.release();
  machine.libraries.insert(*library);
  return kSuccess;
}

Result cuLibraryLoadFromFile(Library* library, const char* path, JitOption* options, void** values,
                             unsigned option_count, void* library_options, void** library_values,
                             unsigned library_option_count) {
  std::string image;
  if (!ReadImage(path, &image)) return kFileNotFound;
  return cuLibraryLoadData(library, image.c_str(), options, values, option_count, library_options, library_values,
                           library_option_count);
}
Result cuLibraryUnload(Library library) {
  Machine& machine = Machine::Get();
  if (machine.libraries.erase(library) == 0) return kInvalidHandle;
  for (const auto& [context, module] : library->modules) {
    if (machine.modules.erase(module) == 0) continue;
    RunAll(context);
    FreeModule(module);
  }
  delete library;
  return kSuccess;
}

Result cuLibraryGetModule(ModuleHandle* module, Library library) { return LoadedHere(library, module); }

Result cuLibraryGetKernel(FunctionHandle* kernel, Library library, const char* name) {
  ModuleHandle module = nullptr;
  if (const Result result = LoadedHere(library, &module); result != kSuccess) return result;
  return cuModuleGetFunction(kernel, module, name);
}

Result cuLibraryGetGlobal(DevicePtr* address, size_t* bytes, Library library, const char* name) {
  ModuleHandle module = nullptr;
  if (const Result result = LoadedHere(library, &module); result != kSuccess) return result;
  return FindGlobal(module, name, address, bytes);
}

Result cuKernelGetFunction(FunctionHandle* function, FunctionHandle kernel) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  *function = kernel;
  return InContext(context, function);
}
Result cuKernelGetAttribute(int* value, FunctionAttribute attribute, FunctionHandle kernel, DeviceHandle /*device*/) {
  return cuFuncGetAttribute(value, attribute, kernel);
}
Result cuKernelSetAttribute(FunctionAttribute attribute, int value, FunctionHandle kernel, DeviceHandle /*device*/) {
  return cuFuncSetAttribute(kernel, attribute, value);
}

Result cuLinkCreate(unsigned /*count*/, JitOption* /*options*/, void** /*values*/, LinkState* state) {
  *state = new LinkStateOpaque();
  return kSuccess;
}
// A link has one input here: PTX, or a fatbin with PTX.
Result cuLinkAddData(LinkState state, int type, void* data, size_t size, const char* name, unsigned count,
                     JitOption* options, void** values) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  const std::string what = name != nullptr ? name : "an input";
  std::string log;
  if (!state->ptx.empty()) {
    log = "emulator: cuLinkAddData: " + what + " is the second input of a link; the emulated device takes one\n";
    WriteLog(log, count, options, values);
    AddRefusal(log);
    return kNotSupported;
  }
  const std::string text(type == kJitInputPtx ? static_cast<const char*>(data) : "", type == kJitInputPtx ? size : 0);
  const void* const image = type == kJitInputPtx ? text.c_str() : data;
  const Result result = ExtractPtx(image, Machine::Get().Arch(context->device), &state->ptx, &log);
  WriteLog(log, count, options, values);
  if (result != kSuccess) AddRefusal(log);
  return result;
}
Result cuLinkAddFile(LinkState state, int type, const char* path, unsigned count, JitOption* options, void** values) {
  std::string image;
  if (!ReadImage(path, &image)) return kFileNotFound;
  return cuLinkAddData(state, type, image.data(), image.size(), path, count, options, values);
}
Result cuLinkComplete(LinkState state, void** image, size_t* size) {
  if (state->ptx.empty()) return kInvalidValue;
  *image = state->ptx.data();
  if (size != nullptr) *size = state->ptx.size() + 1;
  return kSuccess;
}
Result cuLinkDestroy(LinkState state) {
  delete state;
  return kSuccess;
}

Result cuLaunchCooperativeKernel(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                 Stream stream, void** parameters) {
  LaunchAttribute cooperative{};
  cooperative.id = kLaunchCooperative;
  cooperative.value.cooperative = 1;
  const LaunchConfig config{grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, &cooperative, 1};
  return cuLaunchKernelEx(&config, function, parameters, nullptr);
}

Result cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* count, FunctionHandle function, int threads,
                                                            size_t dynamic_shared, unsigned /*flags*/) {
  if (threads <= 0) return kInvalidValue;
  const emulator::Program& program = *function->program;
  const Facts facts{function->module->context->device};
  const bool fits = threads <= static_cast<int>(program.max_threads);
  *count = fits ? BlocksPerMultiprocessor(facts, threads, program.shared_bytes, dynamic_shared) : 0;
  return kSuccess;
}
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* count, FunctionHandle function, int threads,
                                                   size_t dynamic_shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, function, threads, dynamic_shared, 0);
}

Result cuOccupancyMaxPotentialBlockSize(int* grid, int* threads, FunctionHandle function, BlockToShared shared_of,
                                        size_t dynamic_shared, int limit) {
  const Facts facts{function->module->context->device};
  const int most = static_cast<int>(function->program->max_threads);
  int best = 0;
  *threads = 0;
  for (int size = (limit > 0 ? std::min(limit, most) : most) / 32 * 32; size > 0; size -= 32) {
    int blocks = 0;
    const size_t shared = shared_of != nullptr ? shared_of(size) : dynamic_shared;
    cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, size, shared);
    if (blocks * size <= best) continue;
    best = blocks * size;
    *threads = size;
    *grid = blocks * facts(kMultiprocessorCount);
  }
  return best != 0 ? kSuccess : kInvalidValue;
}

Result cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, FunctionHandle function, int blocks, int threads) {
  if (blocks <= 0 || threads <= 0) return kInvalidValue;
  const Facts facts{function->module->context->device};
  const size_t own = function->program->shared_bytes;
  const size_t taken = own + static_cast<size_t>(facts(kReservedSharedMemoryPerBlock));
  const size_t share = static_cast<size_t>(facts(kMaxSharedMemoryPerMultiprocessor)) / static_cast<size_t>(blocks);
  const auto most = static_cast<size_t>(facts(kMaxSharedMemoryPerBlockOptin));
  *bytes = share > taken ? std::min(share - taken, most - std::min(most, own)) : 0;
  return kSuccess;
}

}  // namespace kernpack::cuda
