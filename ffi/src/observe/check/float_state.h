// How the thread computes: its rounding mode, and on x86 whether it takes denormals for zero and which exceptions trap.
#ifndef KERNPACK_SRC_OBSERVE_CHECK_FLOAT_STATE_H_
#define KERNPACK_SRC_OBSERVE_CHECK_FLOAT_STATE_H_

#include <cfenv>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace kernpack::host::check {

class FloatState {
 public:
  FloatState() : rounding_(std::fegetround()), control_(Control()) {}

  // Puts back what has changed, and names it; NULL: nothing has.
  const char* Restore() const {
    const char* changed = nullptr;
    if (Control() != control_) {
      changed = "treatment of denormals or floating-point traps";
      SetControl(control_);
    }
    if (std::fegetround() != rounding_) {
      changed = "rounding mode";
      std::fesetround(rounding_);
    }
    return changed;
  }

 private:
#if defined(__SSE__)
  static constexpr unsigned kFlags = 0x3f;  // exceptions that happened: no setting
  static constexpr unsigned kRounding = 3u << 13;  // told by fegetround
  static unsigned Control() { return _mm_getcsr() & ~(kFlags | kRounding); }
  static void SetControl(unsigned control) { _mm_setcsr((_mm_getcsr() & (kFlags | kRounding)) | control); }
#else
  static unsigned Control() { return 0; }
  static void SetControl(unsigned) {}
#endif

  int rounding_;
  unsigned control_;
};

}  // namespace kernpack::host::check

#endif  // KERNPACK_SRC_OBSERVE_CHECK_FLOAT_STATE_H_
