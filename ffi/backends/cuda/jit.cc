#include "backends/cuda/jit.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "backends/cuda/error.h"
#include "backends/cuda/jit_jobs.h"
#include "backends/cuda/jit_progress.h"
#include "backends/cuda/jit_tools.h"
#include "backends/cuda/text.h"
#include "shared/bytes.h"
#include "shared/nvrtc.h"
#include "shared/sha256.h"

namespace kernpack::cuda {
namespace {

constexpr int kOldestOfCuda12 = 50;
constexpr size_t kLogLimit = 16000;  // bytes of the compiler's messages in an error

// "kernel scale<float> of rows.cu", "rows.cu"
std::string Subject(const JitSource& source, std::string_view unit) {
  return unit.empty() ? source.name : Format("kernel %s of %s", std::string(unit).c_str(), source.name.c_str());
}

std::string ArchText(const JitTarget& target) {
  return (target.ptx ? "compute_" : "sm_") + std::to_string(target.arch);
}

// Machine code for exactly the device; PTX for what runs only that, and of the newest architecture that an older compiler knows, which
// the driver compiles. "" where the compiler knows none that the device runs.
std::string ChooseArch(const nvrtc::Library& compiler, const JitTarget& target) {
  int best = 0;
  for (const int arch : compiler.archs) best = arch <= target.arch ? std::max(best, arch) : best;
  if (best == 0) return {};
  if (target.ptx || best != target.arch) return "compute_" + std::to_string(best);
  // Code for this architecture alone may use all of its instructions, and nothing else will run it.
  return "sm_" + std::to_string(best) + (best >= 90 ? "a" : "");
}

bool Fails(JitError* error, const JitTarget& target, const std::string& what) {
  *error = {"RuntimeError", target.who + ": " + what};
  return false;
}

bool CompileNow(const JitSource& source, std::string_view unit, const JitTarget& target, const JitTools& tools,
                bool in_a_job, bool kept, JitCode* out, JitError* error) {
  const auto fail = [&](const std::string& what) { return Fails(error, target, what); };
  std::string why;
  const nvrtc::Library* const library = OpenCompiler(tools.compiler, &why);
  if (library == nullptr) return fail("NVRTC can't be loaded: " + why);
  if (in_a_job) EndJobsAtExit();
  nvrtc::Compilation wanted;
  wanted.arch = ChooseArch(*library, target);
  if (wanted.arch.empty()) {
    const char* advice = target.arch >= kOldestOfCuda12
                             ? "install an older one: pip install \"nvidia-cuda-nvrtc-cu12>=12,<13\""
                             : "nor does that of CUDA 12, whose oldest architecture is sm_50";
    return fail(Format("NVRTC %s makes no code for sm_%d, only for %s; %s", library->version.c_str(), target.arch,
                       nvrtc::Listed(library->archs).c_str(), advice));
  }
  wanted.source = source.text;
  wanted.name = source.name;
  wanted.options = source.options;
  for (const std::string& folder : tools.headers.folders) wanted.options.push_back("--include-path=" + folder);
  wanted.headers = source.headers;
  wanted.instance = unit;
  const std::string doing = Format("compiling %s for %s with NVRTC %s", Subject(source, unit).c_str(),
                                   wanted.arch.c_str(), library->version.c_str());
  const JitProgress progress(doing, kept);
  nvrtc::Compiled compiled;
  if (!nvrtc::Compile(*library, wanted, &compiled, &why)) {
    if (compiled.log.empty()) return fail(doing + " failed: " + why);
    const std::string advice = AdviceOnHeaders(compiled.log, library->version);
    std::string text = doing + " failed; its messages:\n" + compiled.log.substr(0, kLogLimit);
    if (!advice.empty()) text += "\n" + advice;
    return fail(text);
  }
  out->kernel = compiled.lowered;
  out->image = std::move(compiled.image);
  out->said = Format("%s: %s took %.2f s", target.who.c_str(), doing.c_str(), progress.seconds());
  return true;
}

// "scale<float, 128u>" is an instance for "scale<float, 128>": the types of numbers are the template's.
std::string WithoutSuffixes(std::string_view name) {
  std::string text;
  bool in_number = false;
  for (const char c : name) {
    if (in_number && (c == 'u' || c == 'l')) continue;
    const bool is_digit = c >= '0' && c <= '9';
    in_number = is_digit && (in_number || text.ends_with('<') || text.ends_with(' ') || text.ends_with('-'));
    text += c;
  }
  return text;
}

}  // namespace

std::string_view JitUnit(std::string_view kernel) {
  return kernel.find('<') == std::string_view::npos ? std::string_view() : kernel;
}

JitTools FindTools(const KpHost* host, const JitSource& source, const JitTarget& target) {
  JitTools tools;
  tools.found = FindCompiler(host, target.driver_cuda, &tools.compiler, &tools.why);
  if (tools.found && source.NeedsHeaders()) tools.headers = FindHeaders(host, tools.compiler.version);
  return tools;
}

void OpenBeforeJobs(const JitTools& tools) {
  std::string why;
  if (tools.found && OpenCompiler(tools.compiler, &why) != nullptr) EndJobsAtExit();
}

int RaiseJit(const KpHost* host, const JitError& error) {
  return error.is_raised ? -1 : Raise(host, error.kind.c_str(), error.message);
}

bool BuildJit(const KpHost* host, const JitSource& source, std::string_view unit, const JitTarget& target,
              const JitTools& tools, JitCode* out, JitError* error, bool* compiled) {
  if (compiled != nullptr) *compiled = false;
  const std::string parts = source.digest + "\n" + ArchText(target) + "\n" + std::string(unit);
  const JitCache cache(Sha256Hex(parts.data(), parts.size()));
  const auto found = [&] {
    out->said = Format("%s: %s for %s is in the cache: %s", target.who.c_str(), Subject(source, unit).c_str(),
                       ArchText(target).c_str(), cache.folder().c_str());
    return true;
  };
  if (!tools.found) {
    if (cache.ReadAny(out)) return found();
    if (target.only_cached) return false;
    return Fails(error, target, Subject(source, unit) + " is compiled when it is first used, which needs " + tools.why);
  }
  const std::string identity = tools.compiler.identity + "\n" + tools.headers.identity;
  const std::string entry = tools.compiler.version + "-" + Sha256Hex(identity.data(), identity.size()).substr(0, 16);
  if (cache.Read(entry, out)) return found();
  if (target.only_cached) return false;
  JitLock lock(cache);
  if (lock.Take(host) != 0) {
    error->is_raised = true;
    return false;
  }
  if (cache.Read(entry, out)) return found();  // by the one that held the lock
  const bool kept = lock.is_open() && !IsNotKept();
  if (!CompileNow(source, unit, target, tools, host == nullptr, kept, out, error)) return false;
  if (compiled != nullptr) *compiled = true;
  const std::string not_kept = cache.Write(entry, *out);
  if (not_kept.empty()) return true;
  if (target.must_keep) return Fails(error, target, not_kept + "; " + kOtherCache);
  SayNotKept(not_kept);
  return true;
}

std::string FindJitName(const std::vector<std::string>& names, std::string_view kernel) {
  if (std::find(names.begin(), names.end(), kernel) != names.end()) return std::string(kernel);
  // As the C++ ABI of Linux mangles functions: _Z5scale..., _ZN4rows5scaleE... in a namespace.
  if (kernel.empty()) return {};
  std::string parts;
  int count = 0;
  for (std::string_view rest = kernel; !rest.empty(); ++count) {
    const size_t end = std::min(rest.find("::"), rest.size());
    parts += std::to_string(end) + std::string(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  const std::string prefix = count > 1 ? "_ZN" + parts + "E" : "_Z" + parts;
  for (const std::string& name : names) {
    if (name.starts_with(prefix)) return name;
  }
  return {};
}

std::string FindStandInName(const std::vector<std::string>& names, std::string_view kernel) {
  if (kernel.find('<') == std::string_view::npos) return FindJitName(names, kernel);
  const std::string wanted = "void " + std::string(kernel) + "(";
  for (const std::string& name : names) {
    const std::unique_ptr<char, decltype(&std::free)> shown(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr), &std::free);
    if (shown && WithoutSuffixes(shown.get()).starts_with(wanted)) return name;
  }
  return {};
}

}  // namespace kernpack::cuda
