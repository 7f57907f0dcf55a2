#include "target/cpu_level.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include <kernpack/host/host.h>

#include "base/read_once.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace kernpack::host {
namespace {

constexpr const char* kNames[] = {"generic", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};

#if defined(__x86_64__)
struct Features {
  uint32_t basic_c;     // leaf 1, ecx
  uint32_t extended_b;  // leaf 7, ebx
  uint32_t amd_c;       // leaf 0x80000001, ecx
  uint64_t saved;       // XCR0: register state that the operating system saves
};

// Not __builtin_cpu_supports: the tool chain of the released wheel links a version of it that always says no.
Features ReadFeatures() {
  Features f{};
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) f.basic_c = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) f.extended_b = b;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) f.amd_c = c;
  if ((f.basic_c & bit_OSXSAVE) != 0) {
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    f.saved = (uint64_t{d} << 32) | a;
  }
  return f;
}

bool Has(uint64_t bits, uint64_t wanted) { return (bits & wanted) == wanted; }

int ReadLevel() {
  const Features f = ReadFeatures();
  constexpr uint32_t kCmpxchg16b = 1U << 13;
  constexpr uint32_t kLahf = 1U << 0;
  constexpr uint32_t kLzcnt = 1U << 5;
  if (!Has(f.basic_c, bit_SSE3 | bit_SSSE3 | kCmpxchg16b | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT) ||
      !Has(f.amd_c, kLahf)) {
    return 1;
  }
  constexpr uint64_t kAvxState = 0x6;
  if (!Has(f.saved, kAvxState) || !Has(f.basic_c, bit_AVX | bit_FMA | bit_MOVBE | bit_F16C) ||
      !Has(f.extended_b, bit_AVX2 | bit_BMI | bit_BMI2) || !Has(f.amd_c, kLzcnt)) {
    return 2;
  }
  constexpr uint64_t kAvx512State = 0xe6;
  if (!Has(f.saved, kAvx512State) ||
      !Has(f.extended_b, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL)) {
    return 3;
  }
  return 4;
}
#else
int ReadLevel() { return 0; }
#endif

}  // namespace

int CpuLevel() { return ReadOnce<ReadLevel>(); }

int CpuLevelFromName(std::string_view name) {
  for (int level = 1; level < static_cast<int>(std::size(kNames)); ++level) {
    if (name == kNames[level]) return level;
  }
  return 0;
}

const char* CpuLevelName(int level) { return kNames[level]; }

int CappedCpuLevel(int* out) {
  *out = CpuLevel();
  const char* cap = std::getenv("KERNPACK_CPU");
  if (!cap || !*cap || *out == 0) return 0;
  const int level = CpuLevelFromName(cap);
  if (level == 0) {
    return kp_raise(
        "ValueError",
        "KERNPACK_CPU: expected x86-64, x86-64-v2, x86-64-v3 or x86-64-v4, got '%.100s'; correct or unset it", cap);
  }
  *out = std::min(*out, level);
  return 0;
}

}  // namespace kernpack::host
