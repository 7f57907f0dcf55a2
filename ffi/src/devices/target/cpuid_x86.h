// The leaves of the CPUID instruction that tell an x86-64 processor's features, from glibc or from the processor.
#ifndef KERNPACK_SRC_DEVICES_TARGET_CPUID_X86_H_
#define KERNPACK_SRC_DEVICES_TARGET_CPUID_X86_H_

#if defined(__x86_64__)
#include <cpuid.h>

#include <algorithm>
#include <cstdint>

#include <kernpack/loaded.h>

namespace kernpack::host {

enum CpuidLeaf { kBasic, kExtended, kExtended1, kAmd, kAmd8, kSave, kLeafCount };
enum CpuidRegister { kEax, kEbx, kEcx, kEdx };

// Zero where the processor has no such leaf.
struct CpuidLeaves {
  uint32_t registers[kLeafCount][4] = {};
};

inline constexpr struct {
  uint32_t leaf;
  uint32_t subleaf;
  unsigned kept;  // glibc's number of it: CPUID_INDEX_1 and so on in <sys/platform/x86.h>
} kCpuidLeaves[kLeafCount] = {{1, 0, 0}, {7, 0, 1}, {7, 1, 6}, {0x80000001, 0, 2}, {0x80000008, 0, 5}, {0xd, 1, 3}};

// The answers that glibc got when the program started; since 2.33 it gives them to everybody. False where it has none. On a virtual
// machine each CPUID instruction ends in the hypervisor, which takes up to ten microseconds.
inline bool ReadKeptLeaves(CpuidLeaves* out) {
  using GetLeaf = const uint32_t* (*)(unsigned);  // of a struct that begins with the four registers
  const auto get = reinterpret_cast<GetLeaf>(detail::process_function("__x86_get_cpuid_feature_leaf"));
  if (get == nullptr) return false;
  for (int i = 0; i < kLeafCount; ++i) {
    if (i == kExtended1 && out->registers[kExtended][kEax] < 1) continue;
    std::copy_n(get(kCpuidLeaves[i].kept), 4, out->registers[i]);
  }
  return out->registers[kBasic][kEdx] != 0;
}

inline void AskProcessor(CpuidLeaves* out) {
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
  __cpuid(0, a, b, c, d);
  const uint32_t most = a;
  __cpuid(0x80000000, a, b, c, d);
  const uint32_t most_extended = a;
  for (int i = 0; i < kLeafCount; ++i) {
    const uint32_t leaf = kCpuidLeaves[i].leaf;
    if (leaf > (leaf >= 0x80000000 ? most_extended : most)) continue;
    if (i == kExtended1 && out->registers[kExtended][kEax] < 1) continue;
    __cpuid_count(leaf, kCpuidLeaves[i].subleaf, a, b, c, d);
    const uint32_t values[4] = {a, b, c, d};
    std::copy_n(values, 4, out->registers[i]);
  }
}

}  // namespace kernpack::host
#endif

#endif  // KERNPACK_SRC_DEVICES_TARGET_CPUID_X86_H_
