// Log lines: silent unless KERNPACK_LOG names a level; then standard error.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "base/guard.h"
#include "base/read_once.h"
#include "base/services.h"
#include "base/log.h"

namespace kernpack::host {
namespace {

constexpr const char* kLevels[] = {"debug", "info", "warning", "error"};
constexpr int32_t kSilent = KP_LOG_ERROR + 1;

// KERNPACK_LOG: a level's name; any other text but "" and "0" means info. Read once.
int32_t ReadThreshold() noexcept {
  const char* value = std::getenv("KERNPACK_LOG");
  if (value == nullptr || *value == '\0' || std::strcmp(value, "0") == 0) return kSilent;
  for (int32_t level = KP_LOG_DEBUG; level <= KP_LOG_ERROR; ++level) {
    if (std::strcmp(value, kLevels[level]) == 0) return level;
  }
  return static_cast<int32_t>(KP_LOG_INFO);
}

int32_t Threshold() noexcept { return ReadOnce<ReadThreshold>(); }

}  // namespace

bool Logs(int32_t level) { return level >= Threshold(); }

void Log(int32_t level, std::string_view line) {
  if (!Logs(level)) return;
  if (level < KP_LOG_DEBUG || level > KP_LOG_ERROR) level = KP_LOG_ERROR;
  std::string text = "kernpack: ";
  text.append(kLevels[level]).append(": ").append(line).append("\n");
  std::fwrite(text.data(), 1, text.size(), stderr);  // one write: lines of several threads do not mix
}

}  // namespace kernpack::host

namespace kernpack::host::service {

int log(const KpHost*, int32_t level, KpBytes line) noexcept {
  return Guard("log", [&] {
    Log(level, View(line));
    return 0;
  });
}

}  // namespace kernpack::host::service
