// The storage types below 32 bits, for test_small_floats.py.
#include <kernpack/float8.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

template <class T>
static void Widen(const void* bits, float* out, long n) {
  for (long i = 0; i < n; ++i) out[i] = static_cast<const T*>(bits)[i];
}
template <class T>
static void Narrow(const float* in, void* out, long n) {
  for (long i = 0; i < n; ++i) static_cast<T*>(out)[i] = T(in[i]);
}

#define TEST_EXPORT extern "C" __attribute__((visibility("default")))
#define TEST_TYPE(type)                                                                                        \
  TEST_EXPORT void widen_##type(const void* bits, float* out, long n) { Widen<kernpack::type>(bits, out, n); } \
  TEST_EXPORT void narrow_##type(const float* in, void* out, long n) { Narrow<kernpack::type>(in, out, n); }
TEST_TYPE(half)
TEST_TYPE(bfloat16)
TEST_TYPE(float8_e4m3fn)
TEST_TYPE(float8_e5m2)

// Whether this thread takes subnormal floats for zero from now on; 0 where the test doesn't know how to make it.
TEST_EXPORT int flush_subnormals(int on) {
#if defined(__SSE__)
  _mm_setcsr(on ? _mm_getcsr() | 0x8040U : _mm_getcsr() & ~0x8040U);
  return 1;
#else
  return on * 0;
#endif
}
