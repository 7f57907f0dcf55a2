#include "backends/cuda/code.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "backends/cuda/capture.h"
#include "backends/cuda/image.h"
#include "backends/cuda/jit.h"
#include "backends/cuda/jit_jobs.h"
#include "backends/cuda/packs.h"
#include "backends/cuda/text.h"
#include "shared/bytes.h"

namespace kernpack::cuda {
namespace {

constexpr std::string_view kSourceFormat = "cu";
constexpr std::string_view kStandIn = "stand-in ";  // no unit is called so

// "a, b and 3 more"; names beyond the first dozen are counted.
template <class List, class Print>
std::string Listed(const List& list, Print print) {
  std::string text;
  size_t shown = 0;
  for (const auto& item : list) {
    if (shown == 12) return text + Format(" and %zu more", list.size() - shown);
    if (shown++ != 0) text += ", ";
    text += print(item);
  }
  return text;
}

int CheckArch(const Device& device, const Image& image, const std::vector<CodePack>& packs) {
  const Limits& limits = device.limits;
  const auto runs = [&](const Arch& arch) { return arch.RunsOn(limits.major * 10 + limits.minor); };
  if (std::any_of(image.archs.begin(), image.archs.end(), runs)) return 0;
  if (!packs.empty()) {
    return Raise(device.host(), "RuntimeError",
                 Format("%s: no code for the device, %s, is installed; %s", device.name().c_str(),
                        device.arch().c_str(), AdviceOnPacks(packs, limits.major * 10 + limits.minor).c_str()));
  }
  if (image.archs.empty()) return 0;
  return Raise(device.host(), "RuntimeError",
               Format("%s: the code is for %s, and the device is %s; build it with -arch=%s, or add PTX for an older "
                      "architecture, which the driver compiles",
                      device.name().c_str(), Listed(image.archs, [](const Arch& a) { return a.text(); }).c_str(),
                      device.arch().c_str(), device.arch().c_str()));
}

// The log of the driver's compiler and linker, without the blank end.
std::string Trimmed(const char* log) {
  std::string text = log;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

// The first CUDA whose drivers take PTX of that version: "12.8".
std::string CudaOfPtx(int version) {
  constexpr int kMinors[] = {0, 1, 2, 3, 4, 5, 7, 8, 9};  // of CUDA 12, by 8.0 to 8.8
  if (version >= 80 && version <= 88) return Format("12.%d", kMinors[version - 80]);
  return version >= 90 ? Format("%d.%d", version / 10 + 4, version % 10) : "11 or older";
}

int Load(const Device& device, const Image& read, const void* image, ModuleHandle* out) {
  std::array<char, 8192> errors{};
  std::array<char, 2048> info{};
  std::array<JitOption, 4> options{kJitErrorLogBuffer, kJitErrorLogBufferSizeBytes, kJitInfoLogBuffer,
                                   kJitInfoLogBufferSizeBytes};
  std::array<void*, 4> values{errors.data(), reinterpret_cast<void*>(errors.size() - 1), info.data(),
                              reinterpret_cast<void*>(info.size() - 1)};
  const RelaxedCapture relaxed(device.driver());
  const Result result = device.driver().cuModuleLoadDataEx(out, image, static_cast<unsigned>(options.size()),
                                                           options.data(), values.data());
  if (result == kSuccess) return 0;
  std::string doing = "loading code";
  if (result == kUnsupportedPtxVersion && read.ptx_version != 0) {
    const int driver = device.driver().version;
    doing = Format("loading PTX of version %d.%d, which drivers of CUDA %s and newer take; this one's is CUDA %d.%d",
                   read.ptx_version / 10, read.ptx_version % 10, CudaOfPtx(read.ptx_version).c_str(), driver / 1000,
                   driver % 1000 / 10);
  }
  if (const std::string log = Trimmed(errors.data()); !log.empty()) doing += "; its log:\n" + log + "\n";
  return Fail(device, result, "cuModuleLoadDataEx", doing);
}

int Attribute(const Kernel& kernel, FunctionAttribute attribute, int* out) {
  KP_CUDA_TRY(*kernel.device, cuFuncGetAttribute, (out, attribute, kernel.function),
              "asking about the kernel " + kernel.name);
  return 0;
}

// How many parameters the kernel has, and of what size: cuLaunchKernelEx reads what it expects, given or not.
void ReadParameters(const Driver& driver, Kernel* kernel) {
  if (driver.cuFuncGetParamInfo == nullptr) return;
  size_t offset = 0;
  size_t bytes = 0;
  while (driver.cuFuncGetParamInfo(kernel->function, kernel->parameters.size(), &offset, &bytes) == kSuccess) {
    kernel->parameters.push_back(bytes);
  }
  kernel->knows_parameters = true;
}

// Asking also makes the driver load a kernel that it loads lazily, which a capture would not allow later.
int Describe(Kernel* kernel) {
  int needs_cluster = 0;
  if (Attribute(*kernel, kFuncMaxThreadsPerBlock, &kernel->max_threads) != 0 ||
      Attribute(*kernel, kFuncSharedSizeBytes, &kernel->static_shared) != 0 ||
      Attribute(*kernel, kFuncClusterSizeMustBeSet, &needs_cluster) != 0) {
    return -1;
  }
  kernel->needs_cluster = needs_cluster != 0;
  kernel->dynamic_limit = std::max(kernel->device->limits.max_shared - kernel->static_shared, 0);
  ReadParameters(kernel->device->driver(), kernel);
  return 0;
}

int CheckCode(const Device& device, const Code* code) {
  if (code != nullptr && code->device == &device) return 0;
  if (code == nullptr) return Raise(device.host(), "ValueError", device.name() + ": expected loaded code, got NULL");
  return Raise(device.host(), "ValueError",
               Format("%s: the code was loaded on %s; load it on each device that runs it", device.name().c_str(),
                      code->device->name().c_str()));
}

int LoadImage(const Device& device, std::string_view image, std::string_view format, LoadedImage* out) {
  Image read;
  std::string why;
  if (!ReadImage(image, format, &read, &why)) {
    return Raise(device.host(), "ValueError", device.name() + ": unrecognised device code: " + why);
  }
  std::string joined;
  std::vector<CodePack> packs;
  if (read.kind == Image::Kind::kFatbin) packs = ReadPacks(image);
  if (!packs.empty()) {
    const int number = device.limits.major * 10 + device.limits.minor;
    if (!JoinPacks(device.host(), image, packs, number, &joined, &why))
      return Raise(device.host(), "RuntimeError", device.name() + ": " + why);
    image = joined;
    read = {};
    if (!ReadImage(image, "fatbin", &read, &why)) {
      return Raise(device.host(), "ValueError", device.name() + ": unrecognised device code: " + why);
    }
  }
  if (CheckArch(device, read, packs) != 0) return -1;
  const ActiveContext active(device);
  if (active.failed()) return -1;
  const std::string terminated = read.kind == Image::Kind::kPtx ? std::string(image) : std::string();
  const void* data = terminated.empty() ? static_cast<const void*>(image.data()) : terminated.c_str();
  if (Load(device, read, data, &out->module) != 0) return -1;
  out->names = std::move(read.kernels);
  return 0;
}

// Nothing is compiled yet: which kernels are wanted isn't known.
int LoadSource(const Device& device, std::string_view image, std::string_view options, Code** out) {
  auto source = std::make_shared<JitSource>();
  std::string why;
  if (!ReadJitSource(image, options, source.get(), &why)) {
    return Raise(device.host(), "ValueError", device.name() + ": unrecognised source of device code: " + why);
  }
  auto code = std::make_unique<Code>();
  code->device = &device;
  code->source = std::move(source);
  *out = code.release();
  return 0;
}

std::shared_ptr<JitJob> MakeJob(const Device& device, const Code& code, std::string_view unit) {
  auto job = std::make_shared<JitJob>();
  job->source = code.source;
  job->unit = unit;
  job->target.who = device.name();
  job->target.arch = device.limits.major * 10 + device.limits.minor;
  job->target.ptx = device.emulated;
  job->target.driver_cuda = device.driver().version / 1000;
  job->tools = FindTools(device.host(), *job->source, job->target);
  return job;
}

// Adds an image of the code, unless another thread was faster.
int AddImage(const Device& device, Code* code, std::string_view unit, std::string_view image, std::string kernel) {
  LoadedImage loaded;
  if (LoadImage(device, image, "", &loaded) != 0) return -1;
  loaded.kernel = std::move(kernel);
  const std::lock_guard lock(code->mutex);
  const auto [place, added] = code->images.try_emplace(std::string(unit), std::move(loaded));
  if (added) return 0;
  const ActiveContext active(device);
  if (active.failed()) return -1;
  const Result result = device.driver().cuModuleUnload(loaded.module);
  return result == kSuccess ? 0 : FailToFree(device, result, "cuModuleUnload", "unloading code");
}

bool HasImage(Code* code, std::string_view unit) {
  const std::lock_guard lock(code->mutex);
  return code->images.find(unit) != code->images.end();
}

int AddBuilt(const Device& device, Code* code, JitJob* job) {
  device.host()->log(device.host(), KP_LOG_INFO, host::Bytes(job->code.said));
  return AddImage(device, code, job->unit, job->code.image, job->code.kernel);
}

// Without a lock while it compiles, so that several threads compile several kernels.
int BuildUnit(const Device& device, Code* code, std::string_view unit) {
  if (HasImage(code, unit)) return 0;
  const std::shared_ptr<JitJob> job = MakeJob(device, *code, unit);
  if (!BuildJit(device.host(), *job->source, unit, job->target, job->tools, &job->code, &job->error))
    return RaiseJit(device.host(), job->error);
  return AddBuilt(device, code, job.get());
}

// The units of several kernels at once, with semicolons between these; *first is the first kernel.
int BuildUnits(const Device& device, Code* code, std::string_view names, std::string_view* first) {
  std::vector<std::shared_ptr<JitJob>> jobs;
  *first = {};
  while (!names.empty()) {
    const size_t end = std::min(names.find(';'), names.size());
    std::string_view name = names.substr(0, end);
    names.remove_prefix(std::min(end + 1, names.size()));
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (name.empty()) continue;
    if (first->empty()) *first = name;
    const std::string_view unit = JitUnit(name);
    const auto is_it = [unit](const auto& job) { return job->unit == unit; };
    if (HasImage(code, unit) || std::any_of(jobs.begin(), jobs.end(), is_it)) continue;
    jobs.push_back(MakeJob(device, *code, unit));
    StartJit(jobs.back());
  }
  for (const auto& job : jobs) {
    if (WaitForJit(device.host(), *job) != 0) return -1;
  }
  for (const auto& job : jobs) {
    if (!job->built) return RaiseJit(device.host(), job->error);
    if (AddBuilt(device, code, job.get()) != 0) return -1;
  }
  return 0;
}

// A kernel of an image that is loaded. `key`: among the code's kernels. Call with code->mutex held.
int MakeKernel(const Device& device, Code* code, const LoadedImage& image, std::string symbol, std::string_view name,
               std::string key, Kernel** out) {
  if (const auto found = code->kernels.find(key); found != code->kernels.end()) {
    *out = found->second.get();
    return 0;
  }
  if (symbol.empty()) symbol = name;
  const ActiveContext active(device);
  if (active.failed()) return -1;
  const RelaxedCapture relaxed(device.driver());
  auto kernel = std::make_unique<Kernel>();
  kernel->device = &device;
  kernel->name = name;
  const Result result = device.driver().cuModuleGetFunction(&kernel->function, image.module, symbol.c_str());
  if (result == kNotFound) {
    const std::string known = Listed(image.names, [](const std::string& n) { return n; });
    const char* advice = code->source ? "a template needs its arguments, as in 'scale<float>'"
                                      : "C++ kernels keep their name when declared extern \"C\"";
    return Raise(device.host(), "AttributeError",
                 Format("%s: the code has no kernel '%s'%s; %s", device.name().c_str(), kernel->name.c_str(),
                        known.empty() ? "" : (", only " + known).c_str(), advice));
  }
  if (result != kSuccess) return Fail(device, result, "cuModuleGetFunction", "looking for the kernel " + kernel->name);
  if (Describe(kernel.get()) != 0) return -1;
  *out = kernel.get();
  code->kernels.emplace(std::move(key), std::move(kernel));
  return 0;
}

int FindBuilt(const Device& device, Code* code, std::string_view name, Kernel** out) {
  const std::string_view unit = code->source ? JitUnit(name) : std::string_view();
  const std::lock_guard lock(code->mutex);
  const LoadedImage& image = code->images.find(unit)->second;
  const std::string symbol = !code->source           ? std::string(name)
                             : !image.kernel.empty() ? image.kernel
                                                     : FindJitName(image.names, name);
  return MakeKernel(device, code, image, symbol, name, std::string(name), out);
}

// The kernel of the PTX that the module carries, while its own code is compiled; *out is NULL where there is none that runs here. Code that
// is in the cache is taken from there.
int FindStandIn(const Device& device, Code* code, std::string_view name, Kernel** out) {
  *out = nullptr;
  const std::string_view unit = JitUnit(name);
  const std::string& ptx = code->source->stand_in;
  Image read;
  std::string why;
  if (ptx.empty() || HasImage(code, unit) || !ReadImage(ptx, "ptx", &read, &why)) return 0;
  const int number = device.limits.major * 10 + device.limits.minor;
  const std::string symbol = FindStandInName(read.kernels, name);
  if (symbol.empty() || !read.archs.front().RunsOn(number)) return 0;
  std::shared_ptr<JitJob> job = MakeJob(device, *code, unit);
  job->target.only_cached = true;
  if (BuildJit(device.host(), *job->source, unit, job->target, job->tools, &job->code, &job->error))
    return AddBuilt(device, code, job.get());
  OpenBeforeJobs(job->tools);  // without the lock: others need not wait for it
  if (!HasImage(code, kStandIn) && AddImage(device, code, kStandIn, ptx, "") != 0) return -1;
  const std::lock_guard lock(code->mutex);
  const LoadedImage& image = code->images.find(kStandIn)->second;
  if (MakeKernel(device, code, image, symbol, name, std::string(kStandIn) + std::string(name), out) != 0) return -1;
  std::shared_ptr<JitJob>& awaited = code->jobs[std::string(unit)];
  if (awaited == nullptr) {
    job->target.only_cached = false;
    awaited = std::move(job);
    StartJit(awaited);
  }
  if ((*out)->awaited == nullptr) {
    (*out)->code = code;
    (*out)->awaited = awaited;
  }
  return 0;
}

// One line on stderr for each compilation: the code runs all the same.
void SayNotCompiled(const JitJob& job) {
  const std::string line = Format("kernpack: the PTX that %s carries goes on running, because: %s\n",
                                  job.source->name.c_str(), job.error.message.c_str());
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

int LoadCode(const Device& device, std::string_view image, std::string_view format, std::string_view options,
             Code** out) {
  if (format == kSourceFormat) return LoadSource(device, image, options, out);
  if (!options.empty()) {
    return Raise(device.host(), "ValueError",
                 Format("%s: expected no options, got '%.*s'; options are for the compiler that makes the cubin or PTX",
                        device.name().c_str(), static_cast<int>(std::min<size_t>(options.size(), 80)), options.data()));
  }
  auto code = std::make_unique<Code>();
  code->device = &device;
  LoadedImage loaded;
  if (LoadImage(device, image, format, &loaded) != 0) return -1;
  code->images.emplace("", std::move(loaded));
  *out = code.release();
  return 0;
}

int UnloadCode(const Device& device, Code* code) {
  if (code == nullptr) return 0;
  if (CheckCode(device, code) != 0) return -1;
  const ActiveContext active(device);
  if (active.failed()) return -1;
  const RelaxedCapture relaxed(device.driver());
  for (auto& [unit, image] : code->images) {
    const ModuleHandle module = std::exchange(image.module, nullptr);
    if (module == nullptr) continue;
    const Result result = device.driver().cuModuleUnload(module);
    if (result != kSuccess && FailToFree(device, result, "cuModuleUnload", "unloading code") != 0) return -1;
  }
  delete code;
  return 0;
}

int GetKernel(const Device& device, Code* code, std::string_view name, Kernel** out) {
  if (CheckCode(device, code) != 0) return -1;
  if (code->source && name.find(';') != std::string_view::npos) {
    if (BuildUnits(device, code, name, &name) != 0) return -1;
  } else if (code->source) {
    if (FindStandIn(device, code, name, out) != 0) return -1;
    if (*out != nullptr) return 0;
    if (BuildUnit(device, code, JitUnit(name)) != 0) return -1;
  }
  return FindBuilt(device, code, name, out);
}

int FollowStandIn(const Device& device, Kernel** kernel) {
  Kernel* const stand_in = *kernel;
  JitJob* const job = stand_in->awaited.get();
  Kernel* successor = stand_in->successor.load(std::memory_order_acquire);
  if (successor == nullptr && job->done.load(std::memory_order_acquire)) {
    Code* const code = stand_in->code;
    if (!job->built) {
      if (!job->said.exchange(true)) SayNotCompiled(*job);
      return 0;
    }
    if (!HasImage(code, job->unit) && AddBuilt(device, code, job) != 0) return -1;
    if (FindBuilt(device, code, stand_in->name, &successor) != 0) return -1;
    stand_in->successor.store(successor, std::memory_order_release);
  }
  if (successor != nullptr) *kernel = successor;
  return 0;
}

}  // namespace kernpack::cuda
