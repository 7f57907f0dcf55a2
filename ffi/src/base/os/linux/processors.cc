#include "base/os/processors.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>

namespace kernpack::host::os {
namespace {

int64_t CountBytes(int pages) noexcept {
  const long count = sysconf(pages);
  return count > 0 ? int64_t{count} * sysconf(_SC_PAGESIZE) : 0;
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

}  // namespace

int32_t CountUsableProcessors() noexcept {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 1;
  const int count = CPU_COUNT(&cpus);
  return count > 0 ? count : 1;
}

int64_t CountPreemptions() noexcept {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : -1;
}

void Placement::KeepOffCaller(std::thread& thread) noexcept {
  static_assert(sizeof(cpu_set_t) <= sizeof before_ && alignof(cpu_set_t) <= 8);
  if (is_kept_off_) return;
  cpu_set_t cpus;
  const int here = sched_getcpu();
  if (here < 0 || pthread_getaffinity_np(thread.native_handle(), sizeof cpus, &cpus) != 0) return;
  cpu_set_t others = cpus;
  CPU_CLR(static_cast<unsigned>(here), &others);
  if (CPU_COUNT(&others) == 0 || CPU_EQUAL(&others, &cpus)) return;
  is_kept_off_ = pthread_setaffinity_np(thread.native_handle(), sizeof others, &others) == 0;
  if (is_kept_off_) new (before_) cpu_set_t(cpus);
}

void Placement::Restore() noexcept {
  if (is_kept_off_) pthread_setaffinity_np(pthread_self(), sizeof(cpu_set_t), reinterpret_cast<cpu_set_t*>(before_));
  is_kept_off_ = false;
}

bool AskForTiles() noexcept {
#if defined(__x86_64__)
  constexpr long kAskForState = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
#else
  return false;
#endif
}

std::string GetProcessorName() { return FirstValue("/proc/cpuinfo", "model name"); }

int64_t GetMaxClockRate() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  std::string kilohertz;
  return std::getline(file, kilohertz) ? FirstNumber(kilohertz) : 0;
}

int64_t GetL2CacheBytes() noexcept { return sysconf(_SC_LEVEL2_CACHE_SIZE); }

int64_t GetMemoryBytes() noexcept { return CountBytes(_SC_PHYS_PAGES); }

int64_t GetAvailableMemoryBytes() { return FirstNumber(FirstValue("/proc/meminfo", "MemAvailable")) * 1024; }

}  // namespace kernpack::host::os
