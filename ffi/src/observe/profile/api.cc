// The C API of profiles, and KERNPACK_PROFILE.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "base/guard.h"
#include "base/call_flags.h"
#include "base/os/thread.h"
#include "observe/profile/nvtx.h"
#include "observe/profile/recorder.h"

namespace kernpack::host::profile {

std::atomic<int32_t> g_profiling{0};

namespace {

std::string Write(const KpProfile& profile, uint32_t kind) {
  if (kind == KP_PROFILE_TABLE) return Table(profile);
  return kind == KP_PROFILE_JSON ? Json(profile) : Trace(profile);
}

// KERNPACK_PROFILE: "1" prints the table to standard error when the process ends, any other text names a file for the trace; %p in
// it is the process.
class WholeProcess {
 public:
  WholeProcess() noexcept {
    const char* value = std::getenv("KERNPACK_PROFILE");
    if (value == nullptr || *value == '\0' || std::strcmp(value, "0") == 0) return;
    try {
      file_ = std::strcmp(value, "1") == 0 ? "" : value;
      profile_.max_events = KP_PROFILE_EVENTS;
      FindNvtx();
      const std::lock_guard lock(Recorder::Get().mutex);
      Recorder::Get().Begin(&profile_);
      process_ = os::GetProcessNumber();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "kernpack: KERNPACK_PROFILE: %s\n", error.what());
    }
  }
  WholeProcess(const WholeProcess&) = delete;
  WholeProcess& operator=(const WholeProcess&) = delete;

  ~WholeProcess() {
    if (process_ == 0) return;
    try {
      {
        const std::lock_guard lock(Recorder::Get().mutex);
        Recorder::Get().End(&profile_);
      }
      const std::string table = Table(profile_);
      std::fwrite(table.data(), 1, table.size(), stderr);
      if (!file_.empty()) WriteFile(FileName());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "kernpack: KERNPACK_PROFILE: %s\n", error.what());
    }
  }

 private:
  // A forked child has a file of its own: that of its parent comes later.
  std::string FileName() const {
    const std::string process = std::to_string(os::GetProcessNumber());
    std::string name = file_;
    const size_t at = name.find("%p");
    if (at != std::string::npos) return name.replace(at, 2, process);
    return os::GetProcessNumber() == process_ ? name : name + "." + process;
  }

  void WriteFile(const std::string& name) const {
    const std::string trace = Trace(profile_);
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(name.c_str(), "w"),
                                                     [](FILE* f) { return f ? std::fclose(f) : 0; });
    if (file && std::fwrite(trace.data(), 1, trace.size(), file.get()) == trace.size() &&
        std::fflush(file.get()) == 0) {
      std::fprintf(stderr, "kernpack: wrote %s; open it in https://ui.perfetto.dev or chrome://tracing\n",
                   name.c_str());
      return;
    }
    std::fprintf(stderr,
                 "kernpack: KERNPACK_PROFILE: can't write %s: %s; name a file in a folder that exists, or 1 for the "
                 "table alone\n",
                 name.c_str(), std::strerror(errno));
  }

  std::string file_;
  KpProfile profile_;
  int64_t process_ = 0;
};

const WholeProcess whole_process;

}  // namespace
}  // namespace kernpack::host::profile

using namespace kernpack::host;
using profile::Recorder;

static_assert(sizeof profile::g_profiling == sizeof(int32_t), "kp_profiling hands it out as a plain word");
const int32_t* kp_profiling(void) { return reinterpret_cast<const int32_t*>(&profile::g_profiling); }

int kp_profile_begin(uint64_t max_events, KpProfile** out) {
  return Guard("kp_profile_begin", [&] {
    auto made = std::make_unique<KpProfile>();
    made->max_events = max_events;
    profile::FindNvtx();
    const std::lock_guard lock(Recorder::Get().mutex);
    Recorder::Get().Begin(made.get());
    *out = made.release();
    return 0;
  });
}

int kp_profile_end(KpProfile* profile) {
  return Guard("kp_profile_end", [&] {
    const std::lock_guard lock(Recorder::Get().mutex);
    Recorder::Get().End(profile);
    return 0;
  });
}

int kp_profile_text(KpProfile* profile, uint32_t kind, KpAny* out) {
  return Guard("kp_profile_text", [&] {
    if (kind > KP_PROFILE_TRACE) {
      return kp_raise("ValueError", "kp_profile_text: kind: expected one of KpProfileText, got %u", kind);
    }
    const std::lock_guard lock(Recorder::Get().mutex);
    Recorder::Get().CatchUp(profile);
    return kp_string_new(Bytes(profile::Write(*profile, kind)), out);
  });
}

void kp_profile_free(KpProfile* profile) {
  if (profile == nullptr) return;
  static_cast<void>(kp_profile_end(profile));
  delete profile;
}
