#include "values/error/backtrace.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/read_once.h"
#include "values/error/source_lines.h"

namespace kernpack::host {
namespace {

constexpr int kOwnFrames = 2;  // CaptureFrames and NewError say nothing to the reader
constexpr int kMostOwnFrames = 8;

std::string Demangle(const char* symbol) {
  if (symbol == nullptr) return "<unknown>";
  if (std::strncmp(symbol, "_Z", 2) != 0) return symbol;  // a C function named f isn't a float
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : symbol;
}

void AppendLine(void* data, const SourceLine& line) {
  auto* text = static_cast<std::string*>(data);
  *text += "  File \"";
  *text += line.file;
  *text += "\", line " + std::to_string(line.line) + ", in " + Demangle(line.function) + '\n';
}

// Without debug information: the object file, the function where a symbol table has it, and how far behind its begin.
void AppendFunction(const char* address, std::string* text) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return;
  Symbol symbol = FindSymbol(address);
  if (symbol.name == nullptr) symbol = {info.dli_sname, reinterpret_cast<uintptr_t>(info.dli_saddr)};
  if (symbol.name == nullptr) symbol.begin = reinterpret_cast<uintptr_t>(info.dli_fbase);
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%zx", reinterpret_cast<uintptr_t>(address) - symbol.begin);
  *text += "  File \"";
  *text += info.dli_fname;
  *text += "\", in " + Demangle(symbol.name) + offset + '\n';
}

bool ReadWanted() noexcept {
  const char* value = std::getenv("KERNPACK_BACKTRACE");
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

}  // namespace

bool BacktraceWanted() noexcept { return ReadOnce<ReadWanted>(); }

int CaptureFrames(void** frames, const void* caller) noexcept {
  void* all[kMaxFrames + kMostOwnFrames];
  const int count = backtrace(all, kMaxFrames + kMostOwnFrames);
  int first = kOwnFrames;
  for (int i = 0; caller != nullptr && i < count && i < kMostOwnFrames; ++i) {
    if (all[i] == caller) first = i;
  }
  const int kept = std::min(count - first, kMaxFrames);
  if (kept <= 0) return 0;
  std::memcpy(frames, all + first, static_cast<size_t>(kept) * sizeof(void*));
  return kept;
}

std::string RenderFrames(void* const* frames, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    // The return address lies behind the call, possibly in the next function; the call itself does not.
    const char* address = static_cast<const char*>(frames[i]) - 1;
    if (!VisitSourceLines(address, AppendLine, &text)) AppendFunction(address, &text);
  }
  return text;
}

}  // namespace kernpack::host
