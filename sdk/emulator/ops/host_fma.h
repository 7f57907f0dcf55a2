// A fused multiply-add that rounds as the host's rounding mode says.
#ifndef KERNPACK_SDK_EMULATOR_OPS_HOST_FMA_H_
#define KERNPACK_SDK_EMULATOR_OPS_HOST_FMA_H_

#include <dlfcn.h>

namespace kernpack::emulator::KP_ISA {

#if defined(__FMA__) || defined(__aarch64__)
inline float HostFma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double HostFma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
// A call to fma() may be linked to the one in a compiler's own library (zig's is in its libcompiler_rt), which always rounds to
// nearest where a result is subnormal. That of the C library doesn't, so it is asked for by name.
template <class F>
F* OfTheCLibrary(const char* name, F* otherwise) {
  void* library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);  // stays open
  void* found = library != nullptr ? dlsym(library, name) : nullptr;
  return found != nullptr ? reinterpret_cast<F*>(found) : otherwise;
}
inline float HostFma(float a, float b, float c) {
  static float (*const function)(float, float, float) = OfTheCLibrary<float(float, float, float)>(
      "fmaf", [](float x, float y, float z) { return __builtin_fmaf(x, y, z); });
  return function(a, b, c);
}
inline double HostFma(double a, double b, double c) {
  static double (*const function)(double, double, double) = OfTheCLibrary<double(double, double, double)>(
      "fma", [](double x, double y, double z) { return __builtin_fma(x, y, z); });
  return function(a, b, c);
}
#endif

}  // namespace kernpack::emulator::KP_ISA

#endif  // KERNPACK_SDK_EMULATOR_OPS_HOST_FMA_H_
