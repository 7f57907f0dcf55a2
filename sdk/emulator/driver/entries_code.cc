// Modules, kernels, launches.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>

#include "driver/counting.h"
#include "driver/findings.h"
#include "driver/graph.h"
#include "driver/image.h"
#include "driver/interrupt.h"
#include "driver/machine.h"
#include "driver/memory_view.h"
#include "driver/occupancy.h"
#include "driver/module.h"
#include "exec/block.h"
#include "exec/fault.h"

namespace kernpack::cuda {
namespace {

void Report(const std::string& log, unsigned count, const JitOption* options, void** values) {
  char* buffer = nullptr;
  size_t size = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == kJitErrorLogBuffer) buffer = static_cast<char*>(values[i]);
    if (options[i] == kJitErrorLogBufferSizeBytes) size = reinterpret_cast<size_t>(values[i]);
  }
  if (buffer != nullptr && size != 0) std::snprintf(buffer, size, "%s", log.c_str());
}

// Reads the attributes of a launch. A kernel may have the size of its clusters itself, and then needs no attribute.
Result Attributes(const LaunchConfig& config, const emulator::Program& program, emulator::Launch* launch) {
  uint32_t* const cluster = launch->cluster;
  bool given = false;
  for (unsigned i = 0; i < config.attribute_count; ++i) {
    const LaunchAttributeValue& value = config.attributes[i].value;
    switch (config.attributes[i].id) {
      case kLaunchClusterDimension:
        given = true;
        cluster[0] = value.cluster.x, cluster[1] = value.cluster.y, cluster[2] = value.cluster.z;
        break;
      case kLaunchCooperative:
        launch->cooperative = value.cooperative != 0;
        break;
      case kLaunchIgnore:
      case kLaunchAccessPolicyWindow:
      case kLaunchSynchronizationPolicy:
      case kLaunchClusterSchedulingPolicy:
      case kLaunchProgrammaticStreamSerialization:  // lets the next kernel of the stream begin early, and doesn't promise it
      case kLaunchPriority:
      case kLaunchMemSyncDomainMap:
      case kLaunchMemSyncDomain:
      case kLaunchSharedMemoryCarveout:
        break;  // hints: about order that kernels of a stream already have here, and about caches
      default:
        return kInvalidValue;
    }
  }
  if (program.cluster[0] == 0) return program.needs_cluster && !given ? kInvalidValue : kSuccess;
  if (given && !std::equal(cluster, cluster + 3, program.cluster)) return kInvalidClusterSize;
  std::copy_n(program.cluster, 3, cluster);
  return kSuccess;
}

// The limits that the device itself enforces.
Result CheckLaunch(const emulator::Launch& launch, const FunctionOpaque& function, int device) {
  const emulator::Program& program = *function.program;
  const uint64_t threads = uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  if (threads == 0 || threads > program.max_threads || launch.block[2] > 64) return kInvalidValue;
  for (int i = 0; i < 3; ++i) {
    if (program.required_threads[0] != 0 && launch.block[i] != program.required_threads[i]) return kInvalidValue;
  }
  if (launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0) return kInvalidValue;
  if (launch.grid[0] > 2147483647 || launch.grid[1] > 65535 || launch.grid[2] > 65535) return kInvalidValue;
  if (launch.dynamic_shared > static_cast<uint32_t>(function.dynamic_limit)) return kInvalidValue;
  uint32_t blocks = 1;
  for (int i = 0; i < 3; ++i) {
    if (launch.cluster[i] == 0 || launch.grid[i] % launch.cluster[i] != 0) return kInvalidClusterSize;
    blocks *= launch.cluster[i];
  }
  if (blocks > 1 && Machine::Get().Arch(device) < 90) return kNotSupported;
  if (blocks > (function.large_clusters ? 16 : 8)) return kInvalidClusterSize;
  if (!launch.cooperative) return kSuccess;
  if (blocks > 1) return kNotSupported;
  const auto fact = [&](DeviceAttribute attribute) {
    int value = 0;
    cuDeviceGetAttribute(&value, attribute, device);
    return value;
  };
  const int each =
      BlocksPerMultiprocessor(fact, static_cast<int>(threads), program.shared_bytes, launch.dynamic_shared);
  const auto most = static_cast<uint64_t>(each) * static_cast<uint64_t>(fact(kMultiprocessorCount));
  return uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2] > most ? kCooperativeLaunchTooLarge : kSuccess;
}

Result ToResult(emulator::Fault::Kind kind) {
  switch (kind) {
    case emulator::Fault::Kind::kIllegalAddress:
      return kIllegalAddress;
    case emulator::Fault::Kind::kMisaligned:
      return kMisalignedAddress;
    case emulator::Fault::Kind::kAssert:
      return kAssert;
    case emulator::Fault::Kind::kTimeout:
    case emulator::Fault::Kind::kInterrupted:
      return kLaunchTimeout;
    default:
      return kLaunchFailed;
  }
}

}  // namespace

Result KernelWork::operator()() const {
  Machine& machine = Machine::Get();
  const MemoryView memory(context, queued->launch.cooperative);
  emulator::Launch launch = queued->launch;
  launch.program = queued->program.get();
  launch.parameters = queued->parameters.data();
  launch.memory = &memory;
  launch.workspace = memory.workspace();
  const Interruptible interruptible;
  launch.interrupted = interruptible.flag();
  launch.seconds = static_cast<double>(machine.Setting("seconds"));
  const auto workers = static_cast<uint32_t>(machine.Setting("workers"));
  launch.workers = workers != 0 ? workers : std::max(std::thread::hardware_concurrency(), 1U);
  launch.seed = static_cast<uint64_t>(machine.Setting("seed"));
  launch.mma_order = static_cast<uint32_t>(machine.Setting("mma_order"));
  launch.checks = {machine.Setting("uninitialised") != 0, machine.Setting("races") != 0,
                   machine.Setting("global_races") != 0};
  if (launch.checks.global_races) OrderLaunch(queued->program, &launch);
  std::optional<emulator::Counts> counts;
  if (Counting()) launch.counts = &counts.emplace(*launch.program);
  const int arch = machine.Arch(context->device);
  AddLaunch(arch, launch.program->name);
  try {
    machine.thread_instructions += Run(launch).thread_instructions;
    if (counts) AddCounts(arch, launch, *counts);
    return kSuccess;
  } catch (const emulator::Fault& fault) {
    const Result result = ToResult(fault.kind);
    machine.reports[result] = fault.what();
    machine.told.erase(result);
    AddFinding(arch, fault, static_cast<long>(launch.seed));
    if (launch.seed != 0) {
      machine.reports[result] +=
          " (warps ran in shuffled order; KERNPACK_EMULATOR_SEED=" + std::to_string(launch.seed) + " reproduces it)";
    }
    return result;
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  }
}

Result cuModuleLoadDataEx(ModuleHandle* module, const void* image, unsigned option_count, JitOption* options,
                          void** values) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  if (const Result result = UnsafeWhileCapturing(); result != kSuccess) return result;
  std::string ptx, log;
  Result result = ExtractPtx(image, Machine::Get().Arch(context->device), &ptx, &log);
  if (result == kSuccess) result = LoadModule(context, ptx, module, &log);
  Report(log, option_count, options, values);
  if (result != kSuccess && !log.empty()) AddRefusal(log);
  if (result == kSuccess) Machine::Get().modules.insert(*module);
  return result;
}

Result cuModuleLoadData(ModuleHandle* module, const void* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

Result cuModuleUnload(ModuleHandle module) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  if (const Result result = UnsafeWhileCapturing(); result != kSuccess) return result;
  if (Machine::Get().modules.count(module) == 0) return kInvalidHandle;
  RunAll(module->context);
  Machine::Get().modules.erase(module);
  FreeModule(module);
  return kSuccess;
}

Result cuModuleGetFunction(FunctionHandle* function, ModuleHandle module, const char* name) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  if (Machine::Get().modules.count(module) == 0) return kInvalidHandle;
  const auto found = module->functions.find(name);
  if (found == module->functions.end()) return kNotFound;
  *function = found->second.get();
  return kSuccess;
}

Result cuFuncGetAttribute(int* value, FunctionAttribute attribute, FunctionHandle function) {
  switch (attribute) {
    case kFuncMaxThreadsPerBlock:
      *value = static_cast<int>(function->program->max_threads);
      return kSuccess;
    case kFuncSharedSizeBytes:
      *value = static_cast<int>(function->program->shared_bytes);
      return kSuccess;
    case kFuncLocalSizeBytes:
      *value = static_cast<int>(function->program->local_bytes);
      return kSuccess;
    case kFuncNumRegisters:  // PTX has as many as it likes; code divides by this
      *value = 32;
      return kSuccess;
    case kFuncPtxVersion:
      *value = function->module->ptx_arch;
      return kSuccess;
    case kFuncBinaryVersion:  // as if the driver had compiled the PTX for the device
      *value = Machine::Get().Arch(function->module->context->device);
      return kSuccess;
    case kFuncClusterSizeMustBeSet:
      *value = function->program->needs_cluster;
      return kSuccess;
    case kFuncMaxDynamicSharedSizeBytes:
      *value = function->dynamic_limit;
      return kSuccess;
    case kFuncNonPortableClusterSizeAllowed:
      *value = function->large_clusters;
      return kSuccess;
    case kFuncConstSizeBytes:
      *value = 0;
      for (const auto& [name, address] : function->module->variables) {
        const Block& block = Machine::Get().blocks.at(address);
        if (block.region.read_only) *value += static_cast<int>(block.size);
      }
      return kSuccess;
    case kFuncSharedMemoryCarveout:
      *value = function->carveout;
      return kSuccess;
    case kFuncRequiredClusterWidth:
    case kFuncRequiredClusterHeight:
    case kFuncRequiredClusterDepth:
      *value = static_cast<int>(function->program->cluster[attribute - kFuncRequiredClusterWidth]);
      return kSuccess;
    case kFuncCacheModeCa:
    case kFuncClusterSchedulingPolicy:
      *value = 0;
      return kSuccess;
  }
  return kInvalidValue;
}

Result cuFuncSetAttribute(FunctionHandle function, FunctionAttribute attribute, int value) {
  if (attribute == kFuncNonPortableClusterSizeAllowed) {
    function->large_clusters = value != 0;
    return kSuccess;
  }
  if (attribute == kFuncSharedMemoryCarveout) {  // a hint, in percent; -1 is the driver's choice
    if (value < -1 || value > 100) return kInvalidValue;
    function->carveout = value;
    return kSuccess;
  }
  int most = 0;
  cuDeviceGetAttribute(&most, kMaxSharedMemoryPerBlockOptin, function->module->context->device);
  if (attribute != kFuncMaxDynamicSharedSizeBytes || value < 0 ||
      value + static_cast<int>(function->program->shared_bytes) > most) {
    return kInvalidValue;
  }
  function->dynamic_limit = value;
  return kSuccess;
}

Result cuFuncGetParamInfo(FunctionHandle function, size_t index, size_t* offset, size_t* bytes) {
  const auto& parameters = function->program->parameters;
  if (index >= parameters.size()) return kInvalidValue;
  *offset = parameters[index].offset;
  *bytes = parameters[index].bytes;
  return kSuccess;
}

Result cuLaunchKernelEx(const LaunchConfig* config, FunctionHandle function, void** parameters, void** extra) {
  StreamRef stream;
  if (const Result result = NeedStream(config->stream, &stream); result != kSuccess) return result;
  if (const Result result = InContext(stream->context, &function); result != kSuccess) return result;
  if (extra != nullptr || function->module->context != stream->context) return kInvalidHandle;
  auto queued = std::make_shared<KernelWork::Queued>();
  queued->function = function;
  queued->program = function->program;
  queued->launch.dynamic_shared = config->shared_bytes;
  const uint32_t grid[] = {config->grid_x, config->grid_y, config->grid_z};
  const uint32_t block[] = {config->block_x, config->block_y, config->block_z};
  std::copy_n(grid, 3, queued->launch.grid);
  std::copy_n(block, 3, queued->launch.block);
  if (const Result result = Attributes(*config, *function->program, &queued->launch); result != kSuccess) return result;
  if (const Result result = CheckLaunch(queued->launch, *function, stream->context->device); result != kSuccess)
    return result;
  const emulator::Program& program = *function->program;
  queued->parameters.resize(std::max<size_t>(program.parameter_bytes, 1));
  for (size_t i = 0; i < program.parameters.size(); ++i) {
    const emulator::Program::Parameter& parameter = program.parameters[i];
    std::memcpy(queued->parameters.data() + parameter.offset, parameters[i], parameter.bytes);
  }
  return Enqueue(stream, KernelWork{queued, stream->context});
}

}  // namespace kernpack::cuda
