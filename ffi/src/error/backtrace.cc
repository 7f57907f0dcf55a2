#include "error/backtrace.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/read_once.h"

namespace kernpack::host {
namespace {

constexpr int kOwnFrames = 2;  // CaptureFrames and NewError say nothing to the reader

std::string Demangle(const char* symbol) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : symbol;
}

bool ReadWanted() noexcept {
  const char* value = std::getenv("KERNPACK_BACKTRACE");
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

}  // namespace

bool BacktraceWanted() noexcept { return ReadOnce<ReadWanted>(); }

int CaptureFrames(void** frames) noexcept {
  void* all[kMaxFrames + kOwnFrames];
  const int count = backtrace(all, kMaxFrames + kOwnFrames) - kOwnFrames;
  if (count <= 0) return 0;
  std::memcpy(frames, all + kOwnFrames, static_cast<size_t>(count) * sizeof(void*));
  return count;
}

std::string RenderFrames(void* const* frames, int count) {
  std::string text;
  char offset[32];
  for (int i = 0; i < count; ++i) {
    // The return address lies behind the call, possibly in the next function; the call itself does not.
    const char* address = static_cast<const char*>(frames[i]) - 1;
    Dl_info info{};
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) continue;
    const void* base = info.dli_sname ? info.dli_saddr : info.dli_fbase;
    std::snprintf(offset, sizeof offset, "+0x%zx", static_cast<size_t>(address - static_cast<const char*>(base)));
    text += "  File \"";
    text += info.dli_fname;
    text += "\", in ";
    text += info.dli_sname ? Demangle(info.dli_sname) : "<unknown>";
    text += offset;
    text += '\n';
  }
  return text;
}

}  // namespace kernpack::host
