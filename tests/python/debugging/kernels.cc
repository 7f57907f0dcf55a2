// Errors in kernels, in lines that the tests find by their comments.
#include <kernpack/kernel.h>

#include <vector>

namespace kp = kernpack;

#define SPLIT __attribute__((noinline)) /* what a debugger sees as a function of its own */

SPLIT void Helper(int n) {
  KP_CHECK(n < 3, ValueError) << "expected less than 3, got " << n;  // throws
  asm volatile("");
}

inline __attribute__((always_inline)) void Inlined(int n) {
  Helper(n);  // calls the helper
  asm volatile("");
}

SPLIT void Fail(int n) {
  Inlined(n);  // calls the inlined function
  asm volatile("");
}

void FailInParallel(int n) {
  kp::parallel_for(64, 1, [n](int64_t, int64_t) { Fail(n); });
}

SPLIT int ReadAt(const int* values, int index) {
  return values[index];  // reads
}

int ReadPast(int n) {
  const std::vector<int> values(static_cast<size_t>(n), 1);
  return ReadAt(values.data(), n);  // calls what reads
}

SPLIT double Spin(int n) {
  double sum = 0;
  for (int64_t i = 0; i < int64_t{n} * 1000000; ++i) sum += static_cast<double>(i % 7);  // spins
  return sum;
}

KP_MODULE("debugged", "1.0.0");
KP_EXPORT(fail, Fail);
KP_EXPORT(fail_in_parallel, FailInParallel);
KP_EXPORT(read_past, ReadPast);
KP_EXPORT(spin, Spin);
