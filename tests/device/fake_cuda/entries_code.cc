// Modules and kernels. An image is PTX text or a cubin; of either only the names of its kernels matter, which the fake then
// runs in C++.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "machine.h"

namespace kernpack::cuda {
namespace {

// What stands behind every `marker` up to one of `ends`.
void NamesBehind(std::string_view text, std::string_view marker, std::string_view ends, std::vector<std::string>* out) {
  for (size_t at = text.find(marker); at != std::string_view::npos; at = text.find(marker, at + 1)) {
    const std::string_view rest = text.substr(at + marker.size());
    out->emplace_back(rest.substr(0, rest.find_first_of(ends)));
  }
}

Result ReadNames(const void* image, std::vector<std::string>* out, std::string* log) {
  const auto* bytes = static_cast<const char*>(image);
  if (std::memcmp(bytes,
                  "\x7f"
                  "ELF",
                  4) == 0) {
    uint64_t table = 0;
    uint16_t size = 0;
    uint16_t count = 0;
    std::memcpy(&table, bytes + 40, sizeof table);
    std::memcpy(&size, bytes + 58, sizeof size);
    std::memcpy(&count, bytes + 60, sizeof count);
    NamesBehind({bytes, table + uint64_t{size} * count}, ".text.", std::string_view("\0", 1), out);
    return kSuccess;
  }
  const std::string_view text = bytes;
  if (text.find("this is no PTX") != std::string_view::npos) {
    *log = "ptxas application ptx input, line 4; error   : Parsing error near 'this': syntax error\n";
    return kInvalidPtx;
  }
  NamesBehind(text, ".entry ", " (\n", out);
  return kSuccess;
}

void Report(const std::string& log, unsigned count, const JitOption* options, void** values) {
  char* buffer = nullptr;
  size_t size = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == kJitErrorLogBuffer) buffer = static_cast<char*>(values[i]);
    if (options[i] == kJitErrorLogBufferSizeBytes) size = reinterpret_cast<size_t>(values[i]);
  }
  if (buffer != nullptr && size != 0) std::snprintf(buffer, size, "%s", log.c_str());
}

const KernelDef* FindKernel(std::string_view name) {
  const auto& kernels = Kernels();
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const KernelDef& k) { return name == k.name; });
  return found == kernels.end() ? nullptr : &*found;
}

// The limits that the device itself enforces.
Result CheckLaunch(const KernelShape& shape, const FunctionOpaque& function, int device) {
  const uint64_t threads = uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  if (threads == 0 || threads > static_cast<uint64_t>(function.def->max_threads)) return kInvalidValue;
  if (shape.grid[0] == 0 || shape.grid[1] == 0 || shape.grid[2] == 0) return kInvalidValue;
  if (shape.grid[1] > 65535 || shape.grid[2] > 65535) return kInvalidValue;
  if (shape.shared > static_cast<uint32_t>(function.dynamic_limit)) return kInvalidValue;
  uint32_t blocks = 1;
  for (int i = 0; i < 3; ++i) {
    if (shape.grid[i] % shape.cluster[i] != 0) return kInvalidClusterSize;
    blocks *= shape.cluster[i];
  }
  if (blocks > 1 && device != 0) return kNotSupported;
  if (blocks > 8 && !function.large_clusters) return kInvalidClusterSize;
  return blocks == 1 && function.def->needs_cluster ? kInvalidValue : kSuccess;
}

}  // namespace

Result cuModuleLoadDataEx(ModuleHandle* module, const void* image, unsigned option_count, JitOption* options,
                          void** values) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  if (const Result result = UnsafeWhileCapturing(); result != kSuccess) return result;
  auto made = std::make_unique<ModuleOpaque>();
  std::string log;
  const Result result = ReadNames(image, &made->names, &log);
  Report(log, option_count, options, values);
  if (result != kSuccess) return result;
  made->context = context;
  *module = made.release();
  Machine::Get().modules.insert(*module);
  return kSuccess;
}

Result cuModuleUnload(ModuleHandle module) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  if (const Result result = UnsafeWhileCapturing(); result != kSuccess) return result;
  if (Machine::Get().modules.count(module) == 0) return kInvalidHandle;
  RunAll(module->context);
  Machine::Get().modules.erase(module);
  delete module;
  return kSuccess;
}

Result cuModuleGetFunction(FunctionHandle* function, ModuleHandle module, const char* name) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  const KernelDef* def = FindKernel(name);
  const auto& names = module->names;
  if (def == nullptr || std::find(names.begin(), names.end(), name) == names.end()) return kNotFound;
  auto& made = module->functions[name];
  if (made == nullptr) {
    made = std::make_unique<FunctionOpaque>();
    made->def = def;
    made->module = module;
    made->dynamic_limit = std::max((48 << 10) - def->static_shared, 0);
  }
  *function = made.get();
  return kSuccess;
}

Result cuFuncGetAttribute(int* value, FunctionAttribute attribute, FunctionHandle function) {
  switch (attribute) {
    case kFuncMaxThreadsPerBlock:
      *value = function->def->max_threads;
      return kSuccess;
    case kFuncSharedSizeBytes:
      *value = function->def->static_shared;
      return kSuccess;
    case kFuncClusterSizeMustBeSet:
      *value = function->def->needs_cluster;
      return kSuccess;
    case kFuncMaxDynamicSharedSizeBytes:
      *value = function->dynamic_limit;
      return kSuccess;
    case kFuncNonPortableClusterSizeAllowed:
      *value = function->large_clusters;
      return kSuccess;
  }
  return kInvalidValue;
}

Result cuFuncSetAttribute(FunctionHandle function, FunctionAttribute attribute, int value) {
  if (attribute == kFuncNonPortableClusterSizeAllowed) {
    function->large_clusters = value != 0;
    return kSuccess;
  }
  const int most = (function->module->context->device == 0 ? 227 : 163) << 10;
  if (attribute != kFuncMaxDynamicSharedSizeBytes || value < 0 || value + function->def->static_shared > most) {
    return kInvalidValue;
  }
  function->dynamic_limit = value;
  return kSuccess;
}

Result cuFuncGetParamInfo(FunctionHandle function, size_t index, size_t* offset, size_t* bytes) {
  const auto& parameters = function->def->parameters;
  if (index >= parameters.size()) return kInvalidValue;
  *offset = 0;
  for (size_t i = 0; i < index; ++i) *offset += parameters[i];
  *bytes = parameters[index];
  return kSuccess;
}

Result cuLaunchKernelEx(const LaunchConfig* config, FunctionHandle function, void** parameters, void** extra) {
  StreamRef stream;
  if (const Result result = NeedStream(config->stream, &stream); result != kSuccess) return result;
  if (extra != nullptr || function->module->context != stream->context) return kInvalidHandle;
  KernelShape shape{{config->grid_x, config->grid_y, config->grid_z},
                    {config->block_x, config->block_y, config->block_z},
                    {1, 1, 1},
                    config->shared_bytes};
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    if (config->attributes[i].id != kLaunchClusterDimension) return kInvalidValue;
    const auto& cluster = config->attributes[i].value.cluster;
    shape.cluster[0] = cluster.x;
    shape.cluster[1] = cluster.y;
    shape.cluster[2] = cluster.z;
  }
  if (const Result result = CheckLaunch(shape, *function, stream->context->device); result != kSuccess) return result;
  std::vector<std::vector<uint8_t>> arguments;
  for (size_t i = 0; i < function->def->parameters.size(); ++i) {
    const auto* bytes = static_cast<const uint8_t*>(parameters[i]);
    arguments.emplace_back(bytes, bytes + function->def->parameters[i]);
  }
  const KernelDef* def = function->def;
  return Enqueue(stream, [=] { return def->run(shape, arguments); });
}

}  // namespace kernpack::cuda
