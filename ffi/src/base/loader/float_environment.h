// Keeps the floating-point environment (rounding, traps, flush-to-zero) across code that may change it: start-up code of
// objects linked with -ffast-math switches denormals off for the whole thread.
#ifndef KERNPACK_SRC_BASE_LOADER_FLOAT_ENVIRONMENT_H_
#define KERNPACK_SRC_BASE_LOADER_FLOAT_ENVIRONMENT_H_

#include <cfenv>
#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace kernpack::host {

class KeepFloatEnvironment {
 public:
  KeepFloatEnvironment() { std::fegetenv(&saved_); }
  KeepFloatEnvironment(const KeepFloatEnvironment&) = delete;
  KeepFloatEnvironment& operator=(const KeepFloatEnvironment&) = delete;
  ~KeepFloatEnvironment() { std::fesetenv(&saved_); }

 private:
  std::fenv_t saved_;
};

// Subnormal floats are numbers while this lives, whatever the thread takes them for: a kernel gives the same bits in a framework
// whose threads flush them to zero (XLA's do) as everywhere else.
class SubnormalsAreNumbers {
 public:
  SubnormalsAreNumbers() : saved_(Control()) {
    if (saved_ & kFlushes) SetControl(saved_ & ~kFlushes);
  }
  SubnormalsAreNumbers(const SubnormalsAreNumbers&) = delete;
  SubnormalsAreNumbers& operator=(const SubnormalsAreNumbers&) = delete;
  ~SubnormalsAreNumbers() {
    if (saved_ & kFlushes) SetControl(saved_);
  }

 private:
#if defined(__SSE__)
  using Word = unsigned;
  static constexpr Word kFlushes = 0x8040;  // MXCSR: results to zero, operands taken for zero
  static Word Control() { return _mm_getcsr(); }
  static void SetControl(Word control) { _mm_setcsr(control); }
#elif defined(__aarch64__)
  using Word = uint64_t;
  static constexpr Word kFlushes = 1 << 24 | 1 << 19 | 1;  // FPCR: FZ, FZ16, FIZ
  static Word Control() {
    Word control = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
  }
  static void SetControl(Word control) { __asm__ volatile("msr fpcr, %0" : : "r"(control)); }
#else
  using Word = unsigned;
  static constexpr Word kFlushes = 0;
  static Word Control() { return 0; }
  static void SetControl(Word) {}
#endif

  Word saved_;
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_LOADER_FLOAT_ENVIRONMENT_H_
