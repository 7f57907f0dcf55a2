// Which x86-64 level this CPU and its operating system offer. Asked directly: the compiler's own test would bring a static
// constructor and 4 KB into every module.
#ifndef KERNPACK_FOREIGN_CPU_LEVEL_H_
#define KERNPACK_FOREIGN_CPU_LEVEL_H_

#include <kernpack/config.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

KP_NAMESPACE_BEGIN
namespace detail {

// 1 to 4; 0 on another architecture.
KP_COLD inline int cpu_level() {
#if defined(__x86_64__)
  constexpr unsigned kV2 = 1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23;  // SSE3 ... POPCNT
  constexpr unsigned kV3 = 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29;  // FMA MOVBE OSXSAVE AVX F16C
  constexpr unsigned kV3Leaf7 = 1u << 3 | 1u << 5 | 1u << 8;  // BMI1 AVX2 BMI2
  constexpr unsigned kV4Leaf7 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;  // AVX512 F DQ CD BW VL
  unsigned a = 0, b = 0, c = 0, d = 0, leaf7 = 0, extended = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & kV2) != kV2) return 1;
  const unsigned features = c;
  if (!__get_cpuid(0x80000001, &a, &b, &extended, &d) || !(extended & 1u)) return 1;  // LAHF
  if ((features & kV3) != kV3 || !(extended & 1u << 5)) return 2;  // LZCNT
  if (!__get_cpuid_count(7, 0, &a, &leaf7, &c, &d) || (leaf7 & kV3Leaf7) != kV3Leaf7) return 2;
  unsigned saved = 0;  // the registers that the operating system saves
  __asm__("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
  if ((saved & 0x6) != 0x6) return 2;
  return (leaf7 & kV4Leaf7) == kV4Leaf7 && (saved & 0xe6) == 0xe6 ? 4 : 3;
#else
  return 0;
#endif
}

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_FOREIGN_CPU_LEVEL_H_
