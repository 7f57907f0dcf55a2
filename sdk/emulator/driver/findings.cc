#include "driver/findings.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

namespace kernpack::cuda {
namespace {

using Json = nlohmann::json;

const char* KindText(emulator::Fault::Kind kind) {
  switch (kind) {
    case emulator::Fault::Kind::kIllegalAddress:
      return "address";
    case emulator::Fault::Kind::kMisaligned:
      return "alignment";
    case emulator::Fault::Kind::kUninitialised:
      return "uninitialised";
    case emulator::Fault::Kind::kRace:
      return "race";
    case emulator::Fault::Kind::kDivergentBarrier:
      return "barrier";
    case emulator::Fault::Kind::kDeadlock:
      return "deadlock";
    case emulator::Fault::Kind::kAssert:
      return "assert";
    case emulator::Fault::Kind::kTrap:
      return "trap";
    case emulator::Fault::Kind::kTimeout:
      return "timeout";
    case emulator::Fault::Kind::kInterrupted:
      return "interrupted";
  }
  return "unknown";
}

std::string Dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

// A lock of its own: functions that aren't here say so without the driver's lock.
class Findings {
 public:
  static Findings& Get() {
    static auto* const findings = new Findings();  // until the process ends
    return *findings;
  }

  void Add(Json finding) {
    const std::lock_guard lock(mutex_);
    if (const char* test = std::getenv("PYTEST_CURRENT_TEST")) finding["test"] = test;
    finding["process"] = getpid();
    Append({{"finding", finding}});
    untaken_.push_back(std::move(finding));
  }

  void AddRefused(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (refused_.insert(why).second) Append({{"refused", why}});
  }

  void Launch(int arch, const std::string& kernel) {
    const std::lock_guard lock(mutex_);
    ++launches_[{arch, kernel}];
  }

  void Missing(const char* function, bool called) {
    const std::lock_guard lock(mutex_);
    const long calls = missing_[function] += called;
    if (!called || calls != 1) return;
    std::fprintf(stderr,
                 "kernpack_cuda_emulator: %s was called, and the emulated device doesn't have it; "
                 "the call returned %d, not supported\n",
                 function, std::string_view(function).substr(0, 4) == "nvml" ? 3 : 801);
  }

  std::string Take() {
    const std::lock_guard lock(mutex_);
    return Dump(std::exchange(untaken_, Json::array()));
  }

  void Write() {
    const std::lock_guard lock(mutex_);
    if (getpid() != owner_) return;  // a fork has the launches of its parent
    for (const auto& [key, launches] : std::exchange(launches_, {})) {
      Append(
          {{"kernel", {{"name", key.second}, {"device", "sm_" + std::to_string(key.first)}, {"launches", launches}}}});
    }
    for (const auto& [function, calls] : std::exchange(missing_, {})) {
      Append({{"missing", {{"function", function}, {"calls", calls}}}});
    }
  }

 private:
  std::mutex mutex_;
  const int owner_ = getpid();
  Json untaken_ = Json::array();
  std::map<std::pair<int, std::string>, long> launches_;
  std::map<std::string, long> missing_;
  std::set<std::string> refused_;
  bool complained_ = false;

  // One write of a line: several processes may append to the file.
  void Append(const Json& line) {
    const char* path = std::getenv("KERNPACK_EMULATOR_REPORT");
    if (path == nullptr || *path == '\0') return;
    const std::string text = Dump(line) + "\n";
    const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    const bool written = file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (!written && !std::exchange(complained_, true)) {
      std::fprintf(stderr, "kernpack's emulated CUDA device: KERNPACK_EMULATOR_REPORT: can't write to %s: %s\n", path,
                   std::strerror(errno));
    }
    if (file >= 0) close(file);
  }
};

__attribute__((constructor)) void RegisterReport() {
  Findings::Get();
  std::atexit(WriteReport);
}

}  // namespace

void AddFinding(int arch, const emulator::Fault& fault, long seed) {
  Json finding = {{"kind", KindText(fault.kind)}, {"message", fault.what()}, {"device", "sm_" + std::to_string(arch)}};
  if (seed != 0) finding["seed"] = seed;
  const emulator::Place& place = fault.place;
  if (!place.kernel.empty()) {
    finding["kernel"] = place.kernel;
    finding["block"] = place.block;
    finding["thread"] = place.thread;
    finding["ptx_line"] = place.line;
    finding["instruction"] = place.op;
    if (place.file_line != 0) finding["file"] = place.file, finding["line"] = place.file_line;
    for (const emulator::FileLine& at : place.inlined_at)
      finding["inlined_at"].push_back({{"file", at.file}, {"line", at.line}});
  }
  Findings::Get().Add(std::move(finding));
}

void AddFinding(const std::string& kind, const std::string& message) {
  Findings::Get().Add({{"kind", kind}, {"message", message}});
}

void AddRefusal(const std::string& why) { Findings::Get().AddRefused(why); }
void AddLaunch(int arch, const std::string& kernel) { Findings::Get().Launch(arch, kernel); }
void AddMissing(const char* function, bool called) { Findings::Get().Missing(function, called); }
std::string TakeFindings() { return Findings::Get().Take(); }
void WriteReport() { Findings::Get().Write(); }

}  // namespace kernpack::cuda
