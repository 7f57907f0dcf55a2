// The attributes of the processor, as the system reports them. An attribute that the system doesn't report is None.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "base/guard.h"
#include "devices/cpu/cpu.h"
#include "devices/parallel/pool.h"

namespace kernpack::host::cpu {
namespace {

int Number(int64_t value, KpAny* out) {
  if (value <= 0) return 0;
  out->type_index = KP_TYPE_INT;
  out->v.v_int = value;
  return 0;
}

int64_t Pages(int name) {
  const long pages = sysconf(name);
  return pages > 0 ? int64_t{pages} * sysconf(_SC_PAGESIZE) : 0;
}

// The text after the colon in the first line that begins with `key`; empty if there is no such line.
std::string FirstValue(const char* path, const char* key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, std::strlen(key), key) != 0) continue;
    const size_t begin = line.find_first_not_of(" \t", line.find(':') + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

int64_t FirstNumber(const std::string& text) {
  long long value = 0;
  return std::sscanf(text.c_str(), "%lld", &value) == 1 ? value : 0;
}

int64_t AvailableMemory() { return FirstNumber(FirstValue("/proc/meminfo", "MemAvailable")) * 1024; }

int64_t MaxClockRate() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  std::string kilohertz;
  return std::getline(file, kilohertz) ? FirstNumber(kilohertz) : 0;
}

int Answer(int32_t kind, KpAny* out) {
  switch (kind) {
    case KP_ATTR_DEVICE_NAME: {
      const std::string name = FirstValue("/proc/cpuinfo", "model name");
      return name.empty() ? 0 : kp_string_new(Bytes(name), out);
    }
    case KP_ATTR_MAX_CLOCK_RATE:
      return Number(MaxClockRate(), out);
    case KP_ATTR_MULTI_PROCESSOR_COUNT:
      return Number(AvailableCpus(), out);
    case KP_ATTR_L2_CACHE_SIZE_BYTES:
      return Number(sysconf(_SC_LEVEL2_CACHE_SIZE), out);
    case KP_ATTR_TOTAL_GLOBAL_MEMORY:
      return Number(Pages(_SC_PHYS_PAGES), out);
    case KP_ATTR_AVAILABLE_GLOBAL_MEMORY:
      return Number(AvailableMemory(), out);
    default:
      return 0;
  }
}

}  // namespace

int GetAttr(const KpDeviceApi*, KpDLDevice, int32_t kind, KpAny* out) noexcept {
  return Guard("cpu: attribute", [&] { return Answer(kind, out); });
}

}  // namespace kernpack::host::cpu
