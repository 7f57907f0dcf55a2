// The 8-bit storage types, for test_float8.py.
#include <kernpack/float8.h>

template <class T>
static void Widen(const unsigned char* bits, float* out, long n) {
  for (long i = 0; i < n; ++i) {
    T value;
    value.bits = bits[i];
    out[i] = value;
  }
}
template <class T>
static void Narrow(const float* in, unsigned char* out, long n) {
  for (long i = 0; i < n; ++i) out[i] = T(in[i]).bits;
}

#define TEST_TYPE(type)                                                                                                \
  extern "C" __attribute__((visibility("default"))) void widen_##type(const unsigned char* bits, float* out, long n) { \
    Widen<kernpack::type>(bits, out, n);                                                                               \
  }                                                                                                                    \
  extern "C" __attribute__((visibility("default"))) void narrow_##type(const float* in, unsigned char* out, long n) {  \
    Narrow<kernpack::type>(in, out, n);                                                                                \
  }
TEST_TYPE(float8_e4m3fn)
TEST_TYPE(float8_e5m2)
